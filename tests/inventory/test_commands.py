import json
import re
import time

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class

from aclweb.acl.notation.files import read_acls, write_acls
from aclweb.audit import trail
from aclweb.clusters import ClusterState
from aclweb.inventory.current import view as current
from aclweb.inventory.management.commands import cluster as cluster_command
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync import run as syncing
from aclweb.inventory.sync.run import sync
from aclweb.pipeline.history import read_history
from tests.builders import allow, deny
from tests.clusters.odd_servers import listening, silent
from tests.inventory.answering_cluster import Answers, topics, trouble

pytestmark = pytest.mark.django_db

BOB = allow("User:bob", "READ", "orders")
EVE = deny("User:CN=eve,O=x", "ALL", "pay", pattern="PREFIXED")


@pytest.fixture
def answers(monkeypatch):
    answers = Answers([BOB, EVE], topics("orders"), ["readers"])
    monkeypatch.setattr(syncing, "connect", lambda connection: answers)
    monkeypatch.setattr(cluster_command, "connect", lambda connection: answers)
    return answers


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "acls.jsonl"
    path.write_text(write_acls([BOB, EVE], format="jsonl"))
    return path


def run(capsys, *words):
    call_command(*map(str, words))
    return capsys.readouterr().out


def status_of(*words):
    """Run a command that does not end well and return its exit status."""
    with pytest.raises((SystemExit, CommandError)) as ended:
        call_command(*map(str, words))
    return ended.value.code if ended.type is SystemExit else ended.value.returncode


def test_sync_reads_stores_and_tells(cluster, answers, capsys):
    told = json.loads(run(capsys, "sync", "test-eu", "--json"))

    assert (told["state"], told["revision"], told["added"], told["changed"]) == ("ok", 1, 2, True)
    assert run(capsys, "sync", "test-eu") == (
        "test-eu: Read 2 ACLs, 1 topic, 1 group. Nothing differs from revision 1.\n"
    )


def test_sync_of_a_cluster_that_does_not_answer_is_status_1_with_the_reason(cluster, answers, capsys):
    answers.fails["describe"] = trouble(ClusterState.UNREACHABLE, "Nobody answers at b1:9092.")

    assert status_of("sync", "test-eu") == 1
    assert capsys.readouterr().err == "test-eu: Nobody answers at b1:9092.\n"


def test_sync_accepts_a_quarantined_snapshot_when_told_to(cluster, answers, capsys):
    answers.bindings = [allow("User:bob", "READ", f"t{n}") for n in range(300)]
    run(capsys, "sync", "test-eu")
    answers.bindings = [BOB]

    assert status_of("sync", "test-eu") == 1
    assert "--accept" in capsys.readouterr().err
    assert json.loads(run(capsys, "sync", "test-eu", "--accept", "--json"))["removed"] == 300


@pytest.mark.parametrize("words", [("sync",), ("export",), ("import_acls", "x.csv"), ("cluster", "check")])
def test_an_unknown_cluster_is_status_2(words, cluster):
    command, *rest = words
    arguments = ("check", "nowhere") if command == "cluster" else ("nowhere", *rest)

    assert status_of(command, *arguments) == 2


def test_a_file_is_imported_as_a_new_revision(file, capsys):
    call_command("cluster", "add", "dump", "--kind", "snapshot", "--address", str(file))
    run(capsys, "sync", "dump")
    newer = file.with_name("newer.csv")
    newer.write_text(write_acls([BOB], format="csv"))

    told = json.loads(run(capsys, "import_acls", "dump", newer, "--json"))

    cluster = Cluster.objects.get(slug="dump")
    assert (told["revision"], told["removed"]) == (2, 1)
    assert cluster.address == str(newer)
    assert list(current.in_force(cluster).index) == [BOB]


def test_a_bad_file_is_status_2_names_every_bad_line_and_leaves_no_trace(file, capsys):
    call_command("cluster", "add", "dump", "--kind", "snapshot", "--address", str(file))
    run(capsys, "sync", "dump")
    bad = file.with_name("bad.jsonl")
    bad.write_text(file.read_text() + '{"resource_type": "TOPIC"}\n{"operation": 7}\n')

    with pytest.raises(CommandError) as refused:
        call_command("import_acls", "dump", str(bad))

    assert refused.value.returncode == 2
    assert [line.split(": ")[0] for line in str(refused.value).splitlines()] == [f"{bad}:3", f"{bad}:4"]
    cluster = Cluster.objects.get(slug="dump")
    assert (cluster.state, cluster.address, len(current.in_force(cluster).index)) == ("ok", str(file), 2)


def test_a_file_is_not_imported_into_a_live_cluster(cluster, file):
    assert status_of("import_acls", "test-eu", file) == 2


@pytest.mark.parametrize("format", ["jsonl", "csv", "yaml", "listing"])
def test_an_export_reads_back_as_the_same_acls(cluster, format, capsys):
    sync(cluster, client=Answers([BOB, EVE]))

    text = run(capsys, "export", "test-eu", "--format", format)

    assert set(read_acls(text, source="-")) == {BOB, EVE}


def test_an_exported_snapshot_reads_back_as_the_same_cluster(cluster, tmp_path, capsys):
    sync(cluster, client=Answers([BOB, EVE], topics("orders"), ["readers"]))
    file = tmp_path / "copy.jsonl"
    file.write_text(run(capsys, "export", "test-eu", "--format", "snapshot"))
    header = json.loads(file.read_text().splitlines()[0])

    call_command("cluster", "add", "copy", "--kind", "snapshot", "--address", str(file))
    copy = Cluster.objects.get(slug="copy")
    sync(copy)

    view = current.in_force(copy)
    assert set(view.index) == {BOB, EVE}
    assert ([topic.name for topic in view.topics], view.groups) == (["orders"], ("readers",))
    assert header["config"] == {"super.users": "User:admin", "allow.everyone.if.no.acl.found": False}
    assert header["revision"] == 1


def test_an_exported_history_says_from_when_to_when_each_acl_was_in_force(cluster, tmp_path, capsys):
    sync(cluster, client=Answers([BOB]))
    sync(cluster, client=Answers([EVE]))
    file = tmp_path / "history.jsonl"
    file.write_text(run(capsys, "export", "test-eu", "--format", "history"))

    periods = {period.binding: period for period in read_history(file).periods}

    assert set(periods) == {BOB, EVE}
    assert (periods[BOB].first, periods[BOB].last) == (1, 2)
    assert (periods[EVE].first, periods[EVE].last, periods[EVE].until) == (2, None, None)
    assert periods[BOB].until == periods[EVE].since == cluster.revisions.get(number=2).read_at
    assert status_of("export", "test-eu", "--format", "history", "--as-of", "1") == 2


def test_an_export_as_of_an_earlier_revision_is_what_was_in_force_then(cluster, capsys):
    sync(cluster, client=Answers([BOB]))
    sync(cluster, client=Answers([EVE]))

    assert set(read_acls(run(capsys, "export", "test-eu", "--as-of", "1"), source="-")) == {BOB}
    assert status_of("export", "test-eu", "--as-of", "9") == 2


@pytest.mark.parametrize(
    ("name", "option", "word"),
    [
        ("owners", "--dry-run", "owners.csv"),
        ("principal_names", "--dry-run", "names.csv"),
        ("details", "--json", "quotas"),
    ],
)
def test_an_option_may_stand_before_a_word_that_may_be_left_out(name, option, word):
    parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)

    assert vars(parser.parse_args(["prod", option, word])) == vars(parser.parse_args(["prod", word, option]))
    assert vars(parser.parse_args([option, "prod", word])) == vars(parser.parse_args(["prod", word, option]))
    assert word not in vars(parser.parse_args(["prod", option])).values()


def test_an_export_of_a_cluster_that_was_never_read_is_status_1(cluster):
    assert status_of("export", "test-eu") == 1


def test_a_cluster_that_shows_its_authorizer_has_none_declared(cluster):
    assert status_of("cluster", "declare", "test-eu", "--authorizer-is", "off") == 2
    cluster.refresh_from_db()
    assert cluster.authorizer_declared == ""

    added = ("cluster", "add", "prod-eu", "--kind", "admin", "--address", "broker-1.example:9092")
    assert status_of(*added, "--authorizer-is", "on") == 2
    assert not Cluster.objects.filter(slug="prod-eu").exists()


def test_a_cluster_is_added_with_what_is_declared_of_it(capsys):
    told = json.loads(
        run(
            capsys,
            *("cluster", "add", "prod-eu", "--kind", "zookeeper", "--address", "zk1:2181,zk2:2181/kafka"),
            *("--super-users", "User:admin", "--allow-everyone", "false", "--authorizer-is", "on", "--json"),
        )
    )

    cluster = Cluster.objects.get(slug="prod-eu")
    assert (told["authorizer"], cluster.authorizer) == ("acl", "acl")
    assert (cluster.super_users, cluster.allow_everyone, cluster.authorizer_declared) == (
        "User:admin",
        False,
        "on",
    )
    assert not cluster.changes_enabled
    assert [event.verb for event in trail.trail("cluster:prod-eu")] == ["cluster.added", "cluster.declared"]


def test_client_settings_come_from_a_file_and_stay_out_of_sight(tmp_path, capsys):
    file = tmp_path / "client.properties"
    file.write_text(
        "# the account of aclweb\nsasl.mechanism=PLAIN\nsasl.username=aclweb\nsasl.password=canary=1\n"
    )

    out = run(
        capsys,
        "cluster",
        "add",
        "edge",
        "--kind",
        "admin",
        "--address",
        "b1:9092",
        "--options",
        file,
        "--json",
    ) + run(capsys, "cluster", "list", "--json")

    assert Cluster.objects.get(slug="edge").options["sasl.password"] == "canary=1"
    assert "canary" not in out
    assert "canary" not in str([event.facts for event in trail.trail("cluster:edge")])


@pytest.mark.parametrize(
    "words",
    [
        ("add", "No Slug!", "--kind", "admin", "--address", "b1:9092"),
        ("add", "test-eu", "--kind", "admin", "--address", "b1:9092"),
        ("add", "new", "--kind", "admin", "--address", ""),
        ("add", "new", "--kind", "admin", "--address", "b1:9092", "--kafka-version", "0.9"),
        ("add", "new", "--kind", "snapshot", "--address", "x", "--changes", "on"),
        ("set", "test-eu", "--approvals", "0"),
        ("declare", "test-eu", "--super-users", "admin"),
    ],
)
def test_a_cluster_that_cannot_be_as_asked_is_status_2_and_nothing_is_stored(words, cluster):
    before = list(Cluster.objects.values())

    assert status_of("cluster", *words) == 2
    assert list(Cluster.objects.values()) == before


def test_dangerous_client_settings_are_refused_by_name(tmp_path):
    file = tmp_path / "client.properties"
    file.write_text("sasl.kerberos.kinit.cmd=rm -rf\n")

    with pytest.raises(CommandError, match=r"sasl\.kerberos\.kinit\.cmd"):
        call_command(
            "cluster", "add", "new", "--kind", "admin", "--address", "b1:9092", "--options", str(file)
        )
    assert not Cluster.objects.exists()


def test_changes_are_switched_on_by_an_operator_and_recorded(other_cluster, capsys):
    run(capsys, "cluster", "set", "test-us", "--changes", "on", "--approvals", "2")

    other_cluster.refresh_from_db()
    assert (other_cluster.changes_enabled, other_cluster.approvals_needed) == (True, 2)
    assert "changes enabled on" in trail.sentence(trail.trail("cluster:test-us").get())


def test_a_declaration_can_be_taken_back_from_the_shell(cluster, capsys):
    run(capsys, "cluster", "declare", "test-eu", "--super-users", "unknown", "--allow-everyone", "unknown")

    cluster.refresh_from_db()
    assert (cluster.super_users, cluster.allow_everyone) == (None, None)


def test_check_tells_what_answers_and_stores_nothing(cluster, answers, capsys):
    told = json.loads(run(capsys, "cluster", "check", "test-eu", "--json"))

    assert (told["ok"], told["acls"], told["topics"], told["groups"]) == (True, 2, 1, 1)
    cluster.refresh_from_db()
    assert cluster.revision is None


@pytest.mark.parametrize("kind", ["admin", "zookeeper"])
def test_check_of_a_port_that_stays_silent_says_so_at_once(kind, capsys, settings):
    settings.ACLWEB_CLUSTER_TIMEOUT_SECONDS = 120
    with listening(silent) as address:
        run(capsys, "cluster", "add", "quiet", "--kind", kind, "--address", address)
        began = time.monotonic()
        assert status_of("cluster", "check", "quiet") == 1
        took = time.monotonic() - began

    assert took < 60  # the promise is 3 s; who waits to the end waits 120 s
    told = capsys.readouterr().out
    assert f"Something at {address} takes connections and answers nothing for 2.5 s" in told
    assert "A sync waits 120 s" in told


def test_a_sync_waits_for_a_slow_cluster_as_long_as_its_timeout_says(cluster):
    assert current.connection_of(cluster).probe_timeout == 15


def test_check_of_a_cluster_that_refuses_is_status_1(cluster, answers, capsys):
    answers.fails["read_acls"] = trouble(
        ClusterState.NOT_PERMITTED, "The account may not describe the cluster."
    )

    assert status_of("cluster", "check", "test-eu") == 1
    told = capsys.readouterr().out
    assert told.startswith("test-eu cannot be read. The account may not describe the cluster.\n")
    assert re.search(r"\n  no +Describe +The account may not describe the cluster.\n", told)
    assert "--operation Describe --cluster\n" in told


def test_list_tells_how_each_cluster_stands(cluster, other_cluster, capsys):
    sync(cluster, client=Answers([BOB]))

    first, second = run(capsys, "cluster", "list").splitlines()

    assert first.startswith("test-eu  read  default deny (declared), 1 super user (declared), read ")
    assert first.endswith("Read 1 ACL, 0 topics, 0 groups.")
    assert second.startswith(
        "test-us  not synced yet  default not declared, super users not declared, never read."
    )


def test_a_cluster_is_paused_and_resumed_at_the_shell(cluster, capsys):
    told = json.loads(run(capsys, "cluster", "pause", "test-eu", "--json"))

    assert told["paused_at"]
    assert "it is not synced, and approved changes wait" in told["sentence"]
    assert run(capsys, "cluster", "pause", "test-eu") == "It was paused already.\n"
    with pytest.raises(CommandError, match=r"Paused by .* Resume it first: manage.py cluster resume test-eu"):
        call_command("sync", "test-eu")
    assert run(capsys, "cluster", "resume", "test-eu") == "Resumed. A worker syncs it soon.\n"
    assert not Cluster.objects.get().is_paused
