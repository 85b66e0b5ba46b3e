"""Which server does a test ask, and so beside which tests does it run?

However many processes share a run (`pytest -n 4 --dist loadgroup`), all tests of one server run in
one of them, so the server starts once; it ends when the last of them has run. Every other file is
a group of its own, so what a file prepares is prepared once. What lasts longest begins first: groups
with a server, then files with long tests; the others fill what they leave.

A test asks a server by its fixture, by the name of that fixture as a parameter, or by a mark. Whoever
asks one bears its mark and the mark `server`: `-m "not kafka"` starts no broker, `-m "not server"`
nothing at all. A test that starts a server for itself alone bears the mark `own_server` too: it stays
with its file, since it has nothing in common with the tests of the shared one.

xdist's own groups do nothing with pytest 9.2: they are written into a field that no longer makes the
id of a test. So the processes write down which test is of which group, and the scheduler reads it.
"""

from __future__ import annotations

import gc
import json
import os
import tempfile
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.dear import dear_tests
from tests.turns import is_due, part_of


@dataclass(frozen=True)
class Server:
    """One kind of server: the fixture that starts it, the mark of who asks it, the group it belongs to."""

    fixture: str
    mark: str
    group: str


# Servers that one test may ask together are of one group: a broker of Kafka 3.9 needs ZooKeeper. The
# group that lasts longest comes first.
SERVERS = (
    Server("redis_server", "redis", "queues"),
    Server("rabbitmq_server", "rabbitmq", "queues"),
    Server("zookeeper_server", "zookeeper", "zookeeper"),
    Server("kafka39", "kafka", "zookeeper"),
    Server("spark", "spark", "spark"),
    Server("kafka44", "kafka", "kafka"),
    Server("chromium", "browser", "browser"),
    Server("postgres_server", "postgres", "postgres"),
    Server("java_program", "jvm", "jvm"),
)
GROUPS = tuple(dict.fromkeys(server.group for server in SERVERS))
MARKS = tuple(dict.fromkeys(server.mark for server in SERVERS))
OWN = "own_server"
EVERY_RUN = "every_run"
# The mark of a test that is dear, the days after which each of them was asked, and whether a file is asked as a whole:
# what its tests share takes longest then.
TURNS = (("half", 2, False), ("browser", 3, False), ("spark", 3, True), ("long", 2, True))
BROKERS = ("kafka39", "kafka44")
LEFT_OUT_BY = ("thorough", "turns")
# The group of a test that bears a mark and asks for no fixture.
_GROUP_OF_MARK = {server.mark: server.group for server in reversed(SERVERS)} | {"kafka": "kafka"}

_GROUP = pytest.StashKey[str]()
_STARTS = pytest.StashKey[Counter[str]]()
_FILE = pytest.StashKey[Path]()
_INPUT = "aclweb_groups"
_LEFT_OUT = pytest.StashKey[int]()
_TOLD_LEFT_OUT = "aclweb_thorough_tests_left_out"


def servers_of(item: pytest.Item) -> set[Server]:
    """Return the servers that a test asks by a fixture or by a parameter."""
    asked = set(getattr(item, "fixturenames", ()))
    callspec = getattr(item, "callspec", None)
    if callspec is not None:
        asked |= {value for value in callspec.params.values() if isinstance(value, str)}
    return {server for server in SERVERS if server.fixture in asked}


def group_of(item: pytest.Item) -> str:
    """Return the first group whose server a test asks, else its file."""
    marks = {mark.name for mark in item.iter_markers()}
    groups = {server.group for server in servers_of(item)}
    if not groups and OWN not in marks:
        groups = {_GROUP_OF_MARK[mark] for mark in marks if mark in MARKS}
    return min(groups, key=GROUPS.index) if groups else item.nodeid.partition("::")[0]


def has_its_turn(item: pytest.Item, asked_instead: Container[str]) -> bool:
    """Return whether a test is asked today.

    Most are each day, and so are those with the mark `every_run` and those that others name as what is asked instead of
    them. Of the others that ask what is dear, a day asks a part, by their names or those of their files: see TURNS. Of
    what both brokers are asked, it asks one broker, and of the ways to ask Kafka's classes the same, half.
    """
    if turns := item.get_closest_marker("turns"):
        return is_due(*turns.args)
    if item.nodeid.partition("[")[0] in asked_instead or item.get_closest_marker(EVERY_RUN):
        return True
    for mark, parts, is_by_file in TURNS:
        if item.get_closest_marker(mark):
            name = item.nodeid.partition("::")[0] if is_by_file else item.nodeid
            return is_due(parts, part_of(name, parts))
    callspec = getattr(item, "callspec", None)
    values = callspec.params.values() if callspec else ()
    if values and item.get_closest_marker("jvm"):
        return is_due(2, part_of(item.nodeid, 2))
    brokers = [value for value in values if isinstance(value, str) and value in BROKERS]
    return not brokers or is_due(len(BROKERS), BROKERS.index(brokers[0]))


# --- every process: marks and order ---


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test the marks of its servers, before marks select; what has its turn another day is thorough."""
    dear = dear_tests()
    asked_instead = {
        str(mark.kwargs["instead"])
        for item in items
        for mark in item.iter_markers()
        if mark.name in LEFT_OUT_BY
    }
    for item in items:
        group = item.stash[_GROUP] = group_of(item)
        for mark in {server.mark for server in servers_of(item)}:
            item.add_marker(mark)
        if not has_its_turn(item, asked_instead):
            item.add_marker("thorough")
        if item.nodeid.partition("[")[0] in dear:
            item.add_marker("dear")
        if group in GROUPS or item.get_closest_marker(OWN):
            item.add_marker("server")


class _Order:
    """Puts what lasts long first, after every other plugin has put tests in its own order."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        with_own_server, with_long, with_database = (
            {item.stash[_GROUP] for item in items if item.get_closest_marker(mark)}
            for mark in (OWN, "long", "django_db")
        )

        def place(item: pytest.Item) -> tuple[int, str]:
            group = item.stash[_GROUP]
            if group in GROUPS:
                return GROUPS.index(group), ""
            for later, groups in enumerate((with_own_server, with_long, with_database)):
                if group in groups:
                    return len(GROUPS) + later, group
            return len(GROUPS) + 3, group

        items.sort(key=place)


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count the tests that are left out for being thorough or for having another turn, which a run says at its end."""
    for item in items:
        if item.get_closest_marker("thorough") and "thorough" in item.config.option.markexpr:
            item.config.stash[_LEFT_OUT] += 1


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_STARTS], config.stash[_LEFT_OUT] = Counter(), 0
    config.pluginmanager.register(_Order(), "order-of-groups")
    if not hasattr(config, "workerinput"):
        config.stash[_FILE] = Path(tempfile.gettempdir()) / f"aclweb-groups-{os.getpid()}.json"


# --- servers: once, and not longer than needed ---


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> None:
    if any(server.fixture == fixturedef.argname for server in SERVERS):
        request.config.stash[_STARTS][fixturedef.argname] += 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """End the servers of a group after its last test: one that idles still takes its share of the machine."""
    yield
    if nextitem is not None and nextitem.stash[_GROUP] == item.stash[_GROUP]:
        return
    for server in SERVERS:
        for definition in item.session._fixturemanager.getfixturedefs(server.fixture, item) or ():
            if definition.cached_result is not None:
                definition.finish(item._request)  # type: ignore[attr-defined]


# --- a process that shares a run: tells the groups and what it started ---


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for no garbage among tests: ten thousand of them live until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        # Most garbage frees itself; the rest is looked for less often than Python does.
        gc.set_threshold(20_000)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Write down the groups before xdist tells that the tests are known."""
    if file := getattr(session.config, "workerinput", {}).get(_INPUT):
        groups = {item.nodeid: item.stash[_GROUP] for item in session.items}
        whole = Path(f"{file}.{os.getpid()}")
        whole.write_text(json.dumps(groups))
        whole.replace(file)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if (told := getattr(session.config, "workeroutput", None)) is not None:
        starts = session.config.stash[_STARTS]
        told[_INPUT] = {name: starts[name] for name in starts}
        told[_TOLD_LEFT_OUT] = session.config.stash[_LEFT_OUT]


# --- the process that shares a run out ---


class GroupScheduling(LoadScopeScheduling):
    """Gives whole groups to the processes, in the order of the tests."""

    def schedule(self) -> None:
        self._groups: dict[str, str] = json.loads(self.config.stash[_FILE].read_text())
        # The groups are in order already.
        self.config.option.loadscopereorder = False
        super().schedule()

    def _split_scope(self, nodeid: str) -> str:
        return self._groups[nodeid]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling | None:
    return GroupScheduling(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput[_INPUT] = str(node.config.stash[_FILE])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    told, stash = getattr(node, "workeroutput", {}), node.config.stash
    stash[_STARTS].update(told.get(_INPUT, {}))
    # Each process leaves out the same ones.
    stash[_LEFT_OUT] = max(stash[_LEFT_OUT], told.get(_TOLD_LEFT_OUT, 0))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Tell which servers were started for all tests, and how often, and that not all tests were run."""
    if starts := config.stash[_STARTS]:
        told = ", ".join(f"{name} {count}" for name, count in sorted(starts.items()))
        terminalreporter.write_line(f"Started for all tests: {told}.")
    if left_out := config.stash[_LEFT_OUT]:
        terminalreporter.write_line(
            f"LEFT OUT: {left_out} tests that repeat with more servers and processes what others hold, or whose turn "
            "is another day. To run them too: ./test --thorough",
            yellow=True,
        )


def pytest_unconfigure(config: pytest.Config) -> None:
    if _FILE in config.stash:
        config.stash[_FILE].unlink(missing_ok=True)
