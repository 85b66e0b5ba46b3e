"""Do the executors get all that they need, and nothing of the site?"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from aclweb.pipeline.shipping import code_digest, make_zip, write_package

ROOT = Path(__file__).resolve().parents[2]

# Runs with nothing of the project on the path, in a folder of its own.
FROM_THE_ZIP = """
import importlib, pkgutil, sys
sys.path[:] = [sys.argv[1], *[path for path in sys.path if path]]
import aclweb.acl, aclweb.pipeline, aclweb.pipeline.decisions
for room in (aclweb.acl, aclweb.pipeline):
    for module in pkgutil.walk_packages(room.__path__, room.__name__ + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
loaded = {name: module for name, module in sys.modules.items() if name.startswith("aclweb")}
assert all(module.__file__.startswith(sys.argv[1]) for module in loaded.values()), loaded
assert not [name for name in sys.modules if name.partition(".")[0] == "django"]
from aclweb.pipeline.shipping import code_digest, make_zip
from pathlib import Path
make_zip(Path.cwd())
print(len(loaded), code_digest())
"""


def test_every_module_for_executors_imports_from_the_zip_alone(tmp_path):
    shipped, empty = make_zip(tmp_path), tmp_path / "empty"
    empty.mkdir()

    answer = subprocess.run(
        [sys.executable, "-I", "-c", FROM_THE_ZIP, str(shipped)], capture_output=True, text=True, cwd=empty
    )

    assert answer.returncode == 0, answer.stderr
    loaded, digest = answer.stdout.split()
    assert int(loaded) > 60
    assert digest == code_digest()
    assert (empty / "aclweb.zip").read_bytes() == shipped.read_bytes()


def test_the_zip_holds_every_module_of_the_two_rooms_and_nothing_else(tmp_path):
    names = set(zipfile.ZipFile(make_zip(tmp_path)).namelist())

    rooms = [ROOT / "aclweb" / "acl", ROOT / "aclweb" / "pipeline"]
    wanted = {str(file.relative_to(ROOT)) for room in rooms for file in room.rglob("*.py")}
    assert names == wanted | {"aclweb/__init__.py"}
    assert "aclweb/acl/cli/commands/options.py" in names


def test_the_same_code_makes_the_same_zip(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()

    assert make_zip(tmp_path / "a").read_bytes() == make_zip(tmp_path / "b").read_bytes()


def test_what_spark_submit_takes_is_written_into_a_new_folder(tmp_path):
    packed, entry = write_package(tmp_path / "new" / "folder")

    assert zipfile.is_zipfile(packed)
    compile(entry.read_text(), str(entry), "exec")
