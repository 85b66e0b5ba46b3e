"""What holds of the tests themselves, so that a failing run can be read and a run stays short."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from xdist.remote import Producer

from tests import groups
from tests.dear import dear_tests

TESTS = Path(__file__).parent
LONGEST_NAME = 80


def test_the_name_of_a_test_can_be_read_at_a_glance():
    names = {
        name
        for file in TESTS.rglob("test_*.py")
        for name in re.findall(
            r"^\s*(?:async )?def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE
        )
    }

    assert len(names) > 1_500
    assert sorted(name for name in names if len(name) > LONGEST_NAME) == []


def test_the_tests_that_planted_mistakes_are_asked_of_are_there():
    settings = tomllib.loads((TESTS.parent / "pyproject.toml").read_text())["tool"]["mutmut"]
    asked = settings["pytest_add_cli_args_test_selection"]
    files = [word for word in asked if word.startswith("tests/")]
    left_out = [word.removeprefix("--deselect=").split("::") for word in asked if "--deselect=" in word]

    assert len(files) > 20
    assert [file for file in files if not (TESTS.parent / file).is_file()] == []
    assert [name for file, name in left_out if f"def {name}(" not in (TESTS.parent / file).read_text()] == []


def test_the_tests_that_a_quick_run_leaves_out_are_there_and_few():
    names = dear_tests()
    there = {
        f"{file.relative_to(TESTS.parent)}::{name}"
        for file in TESTS.rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
    }

    assert sorted(names - there) == []
    assert len(names) < len(there) / 10


LEFT_OUT_BY = ("pytest.mark.thorough", "pytest.mark.turns")


def marks_of_a_file(module):
    """Yield the marks that a file gives all its tests, as `pytestmark`."""
    for statement in module.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark":
            value = statement.value
            yield from value.elts if isinstance(value, ast.List | ast.Tuple) else [value]


def left_out_tests():
    """Yield each test that some runs leave out, and the test that is named in its mark."""
    for file in TESTS.rglob("test_*.py"):
        text = file.read_text(encoding="utf-8")
        if not any(mark in text for mark in LEFT_OUT_BY):
            continue
        module = ast.parse(text)
        of_the_file = list(marks_of_a_file(module))
        for node in ast.walk(module):
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
                continue
            for mark in (*node.decorator_list, *of_the_file):
                for call in ast.walk(mark):
                    if isinstance(call, ast.Call) and ast.unparse(call.func) in LEFT_OUT_BY:
                        (named,) = call.keywords
                        assert (named.arg, type(named.value)) == ("instead", ast.Constant), node.name
                        whole = call is mark
                        yield f"{file.relative_to(TESTS.parent)}::{node.name}", named.value.value, whole


def test_each_test_that_is_left_out_names_one_that_every_run_asks_instead():
    found = list(left_out_tests())
    left_out = {name for name, _, whole in found if whole}

    assert len(left_out) > 20
    assert any(name.startswith("tests/web/test_topic_as_source.py::") for name in left_out), "of a whole file"
    for name, instead, _ in found:
        file, _, test = instead.partition("::")
        assert f"\ndef {test}(" in (TESTS.parent / file).read_text(encoding="utf-8"), f"{name}: {instead}"
        assert instead not in left_out, name


def test_a_run_says_how_many_thorough_tests_it_left_out():
    def config():
        stash = {groups._STARTS: Counter(), groups._LEFT_OUT: 0}
        return SimpleNamespace(stash=stash, option=SimpleNamespace(markexpr="not thorough"))

    def test(process, *marks):
        return SimpleNamespace(config=process, get_closest_marker=lambda mark: mark in marks)

    def said_by(whole):
        said = []
        written = SimpleNamespace(write_line=lambda line, **_: said.append(line))
        groups.pytest_terminal_summary(written, whole)
        return said

    whole = config()
    for _ in range(4):  # processes that share the run, and choose the same tests each
        process = config()
        groups.pytest_deselected(
            [test(process, "thorough"), test(process), test(process, "thorough", "long")]
        )
        session = SimpleNamespace(config=process)
        process.workeroutput = {}
        groups.pytest_sessionfinish(session)
        groups.pytest_testnodedown(SimpleNamespace(config=whole, workeroutput=process.workeroutput))

    (line,) = said_by(whole)
    assert line.startswith("LEFT OUT: 2 tests that repeat")
    assert line.endswith(" ./test --thorough")
    assert said_by(config()) == []


def item(*fixtures, marks=(), **parameters):
    """A test in tests/test_x.py that asks for these fixtures."""
    return SimpleNamespace(
        nodeid="tests/test_x.py::test_it",
        fixturenames=fixtures,
        callspec=SimpleNamespace(params=parameters),
        iter_markers=lambda: [SimpleNamespace(name=mark) for mark in marks],
    )


@pytest.mark.parametrize(
    ("asking", "group"),
    [
        (item("tmp_path"), "tests/test_x.py"),
        (item("kafka44"), "kafka"),
        (item("subject", subject="kafka44"), "kafka"),
        (item("subject", subject="kafka39", marks=["kafka"]), "zookeeper"),
        (item("chromium", "zookeeper_server"), "zookeeper"),
        (item("tmp_path", marks=["django_db", "kafka"]), "kafka"),
        (item("tmp_path", marks=["redis"]), "queues"),
        (item("tmp_path", marks=["zookeeper", "own_server"]), "tests/test_x.py"),
        (item("redis_server", marks=["own_server"]), "queues"),
        (item("java_program", marks=["parametrize"]), "jvm"),
    ],
    ids=[
        *("a file", "a fixture", "a parameter", "a parameter and a mark", "two", "a mark", "a queue"),
        *("one of its own", "one of its own and a shared one", "a JVM"),
    ],
)
def test_a_test_runs_beside_those_that_ask_its_server(asking, group):
    assert groups.group_of(asking) == group


def test_what_lasts_longest_begins_first():
    def placed(group, *marks):
        return SimpleNamespace(stash={groups._GROUP: group}, get_closest_marker=lambda mark: mark in marks)

    items = [
        *(placed("a.py"), placed("b.py", "django_db"), placed("c.py", "long"), placed("d.py", "own_server")),
        *(placed("c.py"), placed("jvm"), placed("queues")),
    ]
    groups._Order().pytest_collection_modifyitems(items)

    begun = [item.stash[groups._GROUP] for item in items]
    assert begun == ["queues", "jvm", "d.py", "c.py", "c.py", "b.py", "a.py"]


class Process:
    """One process of a shared run, as the scheduler sees it."""

    shutting_down = False

    def __init__(self, name):
        self.gateway = SimpleNamespace(id=name)
        self.given = []

    def send_runtest_some(self, places):
        self.given += places

    def shutdown(self):
        self.shutting_down = True


def test_all_tests_of_a_group_go_to_one_process(tmp_path):
    tests = {f"{group}-{number}": group for group in ("kafka", "spark", "files") for number in range(5)}
    (tmp_path / "groups").write_text(json.dumps(tests))
    config = SimpleNamespace(
        stash={groups._FILE: tmp_path / "groups"},
        option=SimpleNamespace(loadscopereorder=True),
        getvalue=lambda _: ["2*popen"],
    )
    scheduler = groups.GroupScheduling(config, Producer("test", enabled=False))
    first, second = Process("1"), Process("2")
    for process in (first, second):
        scheduler.add_node(process)
        scheduler.add_node_collection(process, list(tests))

    scheduler.schedule()
    assert (first.given, second.given) == ([*range(5)], [*range(5, 10)])
    for place in range(5, 10):
        scheduler.mark_test_complete(second, place)

    assert first.given == [*range(5)]
    assert second.given == [*range(5, 15)]
