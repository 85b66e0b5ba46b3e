"""Starting everything with one command: parts that stand together, stop in order, and leave nothing behind."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from aclweb.operations.program import Program
from aclweb.operations.supervisor import Layer, PartError, Stopping, Supervisor
from aclweb.runtime import datadir
from aclweb.runtime import stale_process as leftover
from aclweb.runtime.datadir import Claim, DataDirectoryError
from devstack.parts import StartError, choose_port

ROOT = Path(__file__).resolve().parents[1]
SLEEPER = "import time; time.sleep(600)"


class FakePart:
    """A part that notes what is done to it."""

    def __init__(self, name, layer, notes, *, ready=True):
        self.name = name
        self.layer = layer
        self.notes = notes
        self.ready = ready
        self.end = None
        self.silent = None

    def start(self):
        self.notes.append(f"start {self.name}")

    def is_ready(self):
        return self.ready

    def ended(self):
        return self.end

    def listen(self):
        return self.silent

    def ask_to_end(self):
        pass

    def stop(self, timeout_seconds):
        self.notes.append(f"stop {self.name}")


@pytest.fixture
def notes():
    return []


@pytest.fixture
def supervisor():
    supervisor = Supervisor(lambda line: None, stop_timeout_seconds=5)
    yield supervisor
    supervisor.stop()


def python(tmp_path, name, code, *, layer=Layer.WORKER):
    marker = f"marker={tmp_path.name}-{name}"
    return Program(name, layer, [sys.executable, "-c", code, marker], directory=tmp_path, marker=marker)


def exists(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(claim):
    deadline = time.monotonic() + 300
    while not claim():
        assert time.monotonic() < deadline, "it did not happen within five minutes"
        time.sleep(0.02)


# --- Stopping together ---


def test_parts_stop_from_the_top_layer_down_whatever_order_they_started_in(supervisor, notes):
    for name, layer in (
        ("store", Layer.STORE),
        ("site", Layer.SITE),
        ("worker", Layer.WORKER),
        ("broker", Layer.CLUSTER),
        ("second broker", Layer.CLUSTER),
    ):
        supervisor.start(FakePart(name, layer, notes))
    notes.clear()

    supervisor.stop()

    assert notes == ["stop site", "stop worker", "stop second broker", "stop broker", "stop store"]


def test_a_part_that_cannot_be_stopped_does_not_keep_the_others_running(notes):
    said = []
    supervisor = Supervisor(said.append)
    stubborn = FakePart("stubborn", Layer.SITE, notes)
    stubborn.stop = lambda timeout_seconds: 1 / 0
    supervisor.start(FakePart("store", Layer.STORE, notes))
    supervisor.start(stubborn)

    supervisor.stop()

    assert "stop store" in notes
    assert any("stubborn could not be stopped" in line for line in said)


def test_a_terminal_that_is_gone_keeps_nothing_running(notes):
    def say(line):
        raise BrokenPipeError

    supervisor = Supervisor(say)
    supervisor.start(FakePart("store", Layer.STORE, notes))
    supervisor.start(FakePart("site", Layer.SITE, notes))

    supervisor.stop()

    assert notes[2:] == ["stop site", "stop store"]


def test_a_part_that_ends_by_itself_ends_the_watch_with_a_sentence(supervisor, tmp_path):
    supervisor.start(python(tmp_path, "sleeper", SLEEPER))
    supervisor.start(python(tmp_path, "dying", "import sys; print('out of luck'); sys.exit(3)"))

    with pytest.raises(PartError) as ended:
        supervisor.watch()

    assert str(ended.value).startswith("The dying ended with exit status 3; see ")
    assert "Its last output: out of luck" in str(ended.value)


def test_a_part_that_dies_while_others_get_ready_ends_the_waiting(supervisor, notes, tmp_path):
    supervisor.start(FakePart("slow", Layer.SITE, notes, ready=False))
    supervisor.start(python(tmp_path, "dying", "raise SystemExit(1)"))

    with pytest.raises(PartError, match="The dying ended with exit status 1"):
        supervisor.wait_ready(timeout_seconds=60)


def test_parts_that_never_get_ready_are_named(supervisor, notes):
    supervisor.start(FakePart("site", Layer.SITE, notes, ready=False))
    supervisor.start(FakePart("worker", Layer.WORKER, notes, ready=False))

    with pytest.raises(PartError, match="The site and the worker did not get ready within 0 seconds"):
        supervisor.wait_ready(timeout_seconds=0)


def test_nothing_starts_once_the_end_is_asked_for(supervisor, notes):
    supervisor.ask_to_stop()

    with pytest.raises(Stopping):
        supervisor.start(FakePart("late", Layer.SITE, notes))
    with pytest.raises(Stopping):
        supervisor.wait_ready()

    assert notes == []


def test_a_command_that_is_not_there_is_a_sentence(supervisor, tmp_path):
    missing = Program("oddity", Layer.SITE, ["/nowhere/oddity"], directory=tmp_path, marker="oddity")

    with pytest.raises(PartError, match="The oddity cannot be started"):
        supervisor.start(missing)


def test_work_in_the_background_that_fails_is_reported_and_stops_nothing(supervisor, notes):
    told = []
    done = threading.Event()

    def fail():
        raise StartError("the jars are not to be had.")

    supervisor.start(FakePart("site", Layer.SITE, notes))
    supervisor.in_background(fail, failed=lambda sentence: (told.append(sentence), done.set()))

    assert done.wait(60)
    assert told == ["the jars are not to be had."]
    assert notes == ["start site"]


# --- Replacing ---


@pytest.fixture
def watched(supervisor):
    """Return a function that watches the supervisor's parts in a thread, and what it said and raised."""
    said, raised, threads = [], [], []
    supervisor._say = said.append
    supervisor._backoff_seconds = (0.05, 0.05, 0.05, 0.05, 0.05)

    def watch():
        def run():
            try:
                supervisor.watch()
            except PartError as error:
                raised.append(str(error))

        threads.append(threading.Thread(target=run))
        threads[0].start()
        return said, raised

    yield watch
    supervisor.ask_to_stop()
    for thread in threads:
        thread.join(60)


def test_a_killed_part_is_started_again_and_the_others_go_on(supervisor, watched, tmp_path):
    worker, site = python(tmp_path, "worker", SLEEPER), python(tmp_path, "site", SLEEPER)
    supervisor.start(worker, replaced=True)
    supervisor.start(site, replaced=True)
    said, raised = watched()
    killed, other = worker.pid, site.pid

    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: worker.pid not in (None, killed) and worker.ended() is None)

    assert site.pid == other
    assert exists(other)
    assert said == [
        f"The worker ended by signal SIGKILL; see {worker.log}. It is started again in 0.05 s.",
    ]
    assert raised == []


def test_a_part_stopped_by_a_signal_is_killed_and_started_again(supervisor, watched, tmp_path, monkeypatch):
    monkeypatch.setattr("aclweb.operations.program.FROZEN_SECONDS", 0.2)
    monkeypatch.setattr("aclweb.operations.supervisor.LISTEN_EVERY_SECONDS", 0.1)
    worker = python(tmp_path, "worker", SLEEPER)
    supervisor.start(worker, replaced=True)
    said, _ = watched()
    frozen = worker.pid

    os.kill(frozen, signal.SIGSTOP)
    wait_until(lambda: worker.pid not in (None, frozen))

    assert not exists(frozen)
    assert said[0].startswith("The worker was stopped by a signal")


def test_a_part_that_gives_no_heartbeat_is_killed_and_started_again(
    supervisor, watched, tmp_path, monkeypatch
):
    monkeypatch.setattr("aclweb.operations.supervisor.LISTEN_EVERY_SECONDS", 0.1)
    worker = python(tmp_path, "worker", SLEEPER)
    worker._alive, worker._silent_seconds = (lambda: False), 0.3
    supervisor.start(worker, replaced=True)
    silent = worker.pid
    said, _ = watched()

    wait_until(lambda: worker.pid not in (None, silent))

    assert said[0].startswith("The worker gave no heartbeat for ")


def test_a_child_that_is_stopped_by_a_signal_is_left_to_its_parent_to_replace(tmp_path, monkeypatch):
    monkeypatch.setattr("aclweb.operations.program.FROZEN_SECONDS", 0.0)
    code = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', {SLEEPER!r}])\n"
        "print(child.pid, flush=True); child.wait(); print('gone', flush=True); time.sleep(600)"
    )
    parent = python(tmp_path, "parent", code)
    parent.start()
    try:
        wait_until(parent.last_words)
        os.kill(int(parent.last_words()), signal.SIGSTOP)

        wait_until(lambda: parent.listen() is None and parent.last_words() == "gone")

        assert parent.ended() is None
    finally:
        parent.stop(5)


def test_a_part_that_stayed_for_a_while_each_time_is_never_given_up(
    supervisor, watched, tmp_path, monkeypatch
):
    monkeypatch.setattr("aclweb.operations.supervisor.SETTLED_SECONDS", 0.0)
    worker = python(tmp_path, "worker", SLEEPER)
    supervisor.start(worker, replaced=True)
    said, raised = watched()

    for _ in range(8):
        wait_until(lambda: worker.pid is not None and worker.ended() is None)
        killed = worker.pid
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda killed=killed: worker.pid not in (None, killed))

    assert (len(said), raised) == (8, [])


@pytest.mark.parametrize("needed", [True, False])
def test_a_part_that_does_not_stay_is_given_up_after_five_more_tries_and_reported(
    supervisor, watched, notes, tmp_path, needed
):
    given_up = []
    dying = python(tmp_path, "dying", "import sys; print('out of luck'); sys.exit(3)")
    supervisor.start(FakePart("site", Layer.SITE, notes), replaced=True)
    supervisor.start(dying, replaced=True, needed=needed, given_up=given_up.append)
    said, raised = watched()

    wait_until(lambda: given_up)

    assert "It was started 6 times and did not stay; it is given up." in given_up[0]
    assert "Its last output: out of luck" in given_up[0]
    wait_until(lambda: raised if needed else given_up[0] in said)
    assert bool(raised) == needed
    assert notes == ["start site"]


# --- Programs ---


@pytest.mark.parametrize("group", ["", ", process_group=0"], ids=["in its group", "in a group of its own"])
def test_stopping_a_program_ends_its_children_too(supervisor, tmp_path, group):
    code = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([sys.executable, '-c', {SLEEPER!r}]{group})\n"
        "print(child.pid, flush=True); time.sleep(600)"
    )
    program = python(tmp_path, "parent", code)
    supervisor.start(program)
    wait_until(program.last_words)
    child = int(program.last_words())
    parent = program.pid

    supervisor.stop()

    assert not exists(parent)
    wait_until(lambda: not exists(child) or "time.sleep" not in leftover.command_line(child))


def test_a_program_that_ignores_the_request_to_end_is_killed(tmp_path):
    code = (
        f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); {SLEEPER}"
    )
    program = python(tmp_path, "deaf", code)
    program.start()
    wait_until(program.last_words)
    pid = program.pid

    program.stop(0.1)

    assert not exists(pid)


def test_a_program_left_by_a_killed_supervisor_is_ended_before_the_next_starts(tmp_path):
    abandoned = python(tmp_path, "worker", SLEEPER)
    abandoned.start()
    left = abandoned.pid
    # For a moment after its start the system knows no command line of a process.
    wait_until(lambda: leftover.command_line(left))

    following = python(tmp_path, "worker", SLEEPER)
    following.start()
    try:
        wait_until(abandoned.ended)
        assert following.pid != left
    finally:
        following.stop(5)


def test_a_process_that_only_got_the_old_number_is_left_alone(tmp_path):
    stranger = subprocess.Popen([sys.executable, "-c", SLEEPER])
    try:
        (tmp_path / "worker.pid").write_text(f"{stranger.pid}\n")

        assert leftover.end(tmp_path / "worker.pid", marker="marker=of-another-program") is False
        assert stranger.poll() is None
        assert not (tmp_path / "worker.pid").exists()
    finally:
        stranger.kill()
        stranger.wait()


def test_ctrl_c_stops_everything_in_order_and_exits_with_0(tmp_path):
    script = f"""
import sys
from pathlib import Path
from aclweb.operations.program import Program
from aclweb.operations.supervisor import Layer, Supervisor

supervisor = Supervisor(lambda line: print(line, flush=True))
supervisor.listen_to_signals()
for name, layer in (("store", Layer.STORE), ("worker", Layer.WORKER), ("site", Layer.SITE)):
    supervisor.start(Program(name, layer, [sys.executable, "-c", {SLEEPER!r}], directory=Path({str(tmp_path)!r}),
                             marker="m"))
print("running", flush=True)
try:
    supervisor.watch()
finally:
    supervisor.stop()
"""
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "running\n"

    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)

    assert out.splitlines() == ["Stopping the site.", "Stopping the worker.", "Stopping the store."]
    assert process.returncode == 0
    assert list(tmp_path.glob("*.pid")) == []


def test_signals_that_come_while_one_is_handled_or_awaited_end_it_all_the_same():
    script = """
import signal
from aclweb.operations.supervisor import Supervisor

supervisor = Supervisor(print)
supervisor.listen_to_signals()
# The lock that a wait has when it begins and when it ends, and that an answer to a signal has.
with supervisor._asked._cond:
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGTERM)
print(supervisor.pause(300))
"""

    answer = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=300
    )

    assert (answer.stdout, answer.returncode) == ("True\n", 0), answer.stderr


# --- The port ---


def test_the_site_takes_the_next_port_that_is_free():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()

        with pytest.raises(StartError, match=rf"Port {taken.getsockname()[1]} is taken"):
            choose_port(taken.getsockname()[1])

    assert choose_port(None) >= 8765
    assert choose_port(0) > 0


def test_the_site_comes_back_at_the_port_of_the_last_start():
    free = choose_port(0)

    assert choose_port(None, last=free) == free
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", free))
        taken.listen()
        assert choose_port(None, last=free) != free


@pytest.mark.parametrize("port", [-1, 65536, 10**9])
def test_a_port_that_does_not_exist_is_refused(port):
    with pytest.raises(StartError, match="name another with --port"):
        choose_port(port)


# --- The data directory ---


def test_a_second_start_on_one_directory_is_refused_and_says_where_the_first_is(tmp_path):
    first = Claim(tmp_path)
    first.say("process 17 at http://127.0.0.1:8765/")

    with pytest.raises(DataDirectoryError, match=r"already runs on .*: process 17 at http://127.0.0.1:8765/"):
        Claim(tmp_path)

    first.release()
    Claim(tmp_path).release()


def test_a_killed_start_leaves_the_directory_free(tmp_path):
    script = (
        "import time; from pathlib import Path; from aclweb.runtime.datadir import Claim\n"
        f"claim = Claim(Path({str(tmp_path)!r})); print('claimed', flush=True); time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "claimed\n"
    with pytest.raises(DataDirectoryError):
        Claim(tmp_path)

    process.kill()
    process.wait()

    Claim(tmp_path).release()


def test_a_reset_keeps_what_was_there_one_step_back(tmp_path):
    data = tmp_path / "var"
    for content in ("first", "second"):
        Claim(data).release()
        (data / "note").write_text(content)
        assert datadir.set_aside(data) == tmp_path / "var.old"

    assert not data.exists()
    assert (tmp_path / "var.old" / "note").read_text() == "second"
    assert datadir.set_aside(data) is None


@pytest.mark.parametrize("left", ["logs/site.pid", "demo/zookeeper/pid"])
def test_a_reset_ends_what_a_killed_start_left_running(tmp_path, left):
    data = tmp_path / "var"
    Claim(data).release()
    pid_file = data / left
    pid_file.parent.mkdir(parents=True)
    marker = leftover.identity(pid_file.parent) if left.endswith(".pid") else str(pid_file.parent)
    ours, another = (subprocess.Popen([sys.executable, "-c", SLEEPER, word]) for word in (marker, "another"))
    try:
        pid_file.write_text(f"{ours.pid}\n")
        (data / "other.pid").write_text(f"{another.pid}\n")

        datadir.set_aside(data)

        assert ours.wait(300) < 0
        assert another.poll() is None
    finally:
        for process in (ours, another):
            process.kill()
            process.wait()


def test_a_reset_leaves_a_running_installation_and_foreign_directories_alone(tmp_path):
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "thesis").write_text("long")
    with pytest.raises(DataDirectoryError, match="was not made by"):
        datadir.set_aside(tmp_path / "papers")

    claim = Claim(tmp_path / "var")
    with pytest.raises(DataDirectoryError, match="already runs"):
        datadir.set_aside(tmp_path / "var")
    claim.release()

    assert (tmp_path / "papers" / "thesis").exists()
    assert (tmp_path / "var").exists()


# --- The scripts ---


@pytest.mark.parametrize("script", ["run", "test"])
def test_the_two_commands_tell_how_they_are_used_without_installing_anything(script, tmp_path):
    answer = subprocess.run(
        [ROOT / script, "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )

    assert answer.returncode == 0
    assert answer.stdout.startswith(f"Usage: ./{script}")


@pytest.mark.parametrize("script", ["requirements/setup.sh", "Dockerfile"])
def test_what_is_installed_is_the_lock_alone_whatever_was_released_since(script):
    text = (ROOT / script).read_text(encoding="utf-8").replace("\\\n", " ")
    installs = [line for line in text.splitlines() if "pip install" in line for line in line.split("&&")]

    assert len(installs) >= 2
    assert all("--no-deps --require-hashes" in line for line in installs)


def test_the_worker_that_reads_logs_finds_the_connector_where_it_is():
    image, compose = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("Dockerfile", "docker-compose.yml")
    )
    (folder,) = re.findall(r"^ENV ACLWEB_KAFKA_CONNECTOR=(\S+)$", image, re.MULTILINE)

    assert f"FROM spark AS spark-kafka\nCOPY connector/*.jar {folder}/\n" in image
    assert f"}}:{folder}:ro\n" in compose


@pytest.mark.parametrize("script", ["run", "test", ".ci/run", "requirements/setup.sh"])
def test_every_script_is_posix_shell_that_parses(script):
    answer = subprocess.run(["sh", "-n", ROOT / script], capture_output=True, text=True, timeout=300)

    assert answer.returncode == 0, answer.stderr


def test_the_locked_sets_agree_on_every_version():
    pins = {}
    for file in ("requirements/web.txt", "requirements.txt", "requirements/dev.txt"):
        names = {}
        for line in (ROOT / file).read_text().splitlines():
            if "==" in line and not line.startswith(("#", " ")):
                name, _, rest = line.partition("==")
                names.setdefault(name, set()).add(rest.rstrip(" \\"))
        pins[file] = names

    for smaller, larger in (
        ("requirements/web.txt", "requirements.txt"),
        ("requirements.txt", "requirements/dev.txt"),
    ):
        assert pins[smaller].items() <= pins[larger].items(), f"{larger} is to hold all of {smaller}"


def test_no_lock_names_a_registry():
    for file in [ROOT / "requirements.txt", *(ROOT / "requirements").glob("*.txt")]:
        assert "://" not in file.read_text(), file


# --- The whole ---


# The story without its second start, which test_kills.py asks of what was killed.
STARTS_ONCE = """
import sys
from devstack import check
steps = check.Story.steps
check.Story.steps = lambda story: steps(story)[:-2]
sys.exit(check.main(["--lite"]))
"""


@pytest.mark.long
def test_the_story_holds_without_java_until_everything_has_stopped(tmp_path):
    assert_the_story_holds(tmp_path, "-c", STARTS_ONCE, steps=12)


@pytest.mark.thorough(
    instead="tests/test_run.py::test_the_story_holds_without_java_until_everything_has_stopped"
)
@pytest.mark.long
def test_the_whole_story_holds_without_java(tmp_path):
    assert_the_story_holds(tmp_path, "-m", "devstack.check", "--lite", steps=14)


def assert_the_story_holds(tmp_path, *words, steps):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ACLWEB_", "PYTEST_"))}

    answer = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=kept | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
    )

    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert f"\n{answer.stdout}".count("\nok ") == steps
    assert list(tmp_path.iterdir()) == [], "a story that held leaves nothing behind"
