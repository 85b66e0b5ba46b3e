"""What the README tells people to type does what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import call_command, get_commands, load_command_class

from aclweb.accounts.models import Role, User
from aclweb.acl.cli import main as cli
from aclweb.acl.notation import write_acls
from aclweb.clusters import ClusterFacts, Detail, DetailKind, DetailList, Details, Known
from aclweb.inventory.sync import run as syncing
from aclweb.inventory.sync import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

PROJECT = Path(__file__).resolve().parents[1]
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def typed(beginning: str) -> list[list[str]]:
    """Return the words after `beginning` of each command in the README, comments left out."""
    text = README.replace("\\\n", " ")
    found = re.findall(rf"^(?:\.venv/bin/)?python {re.escape(beginning)} (.*)$", text, re.MULTILINE)
    found += re.findall(rf"`{re.escape(beginning)} ([^`]*)`", text)
    return [shlex.split(line, comments=True) for line in found]


@pytest.mark.parametrize("words", typed("manage.py"), ids=" ".join)
def test_a_management_command_of_the_readme_is_understood(words):
    name, *arguments = words
    command = load_command_class(get_commands()[name], name)

    assert command.create_parser("manage.py", name).parse_args(arguments)


@pytest.mark.parametrize("words", typed("-m aclweb.acl"), ids=" ".join)
def test_a_command_of_the_core_in_the_readme_does_what_it_says_as_it_is_typed(
    words, tmp_path, monkeypatch, capsys
):
    # The second one is redundant.
    before = [allow("User:bob", "ALL", "payments.orders"), allow("User:bob", "READ", "payments.orders")]
    more = allow("User:eve", "READ", "payments.orders")
    for name in ("acls.txt", "monday.txt"):
        (tmp_path / name).write_text(write_acls(before, format="listing"))
    (tmp_path / "today.txt").write_text(write_acls([*before, more], format="listing"))
    (tmp_path / "proposal.jsonl").write_text(write_acls([more], format="jsonl"))
    monkeypatch.chdir(tmp_path)

    status = cli.main(words) if words != ["--help"] else ended(words)

    assert status == 0
    assert capsys.readouterr().out


def ended(words: list[str]) -> object:
    with pytest.raises(SystemExit) as found:
        cli.main(words)
    return found.value.code


def test_what_the_readme_has_typed_of_a_cluster_that_was_added_is_done(cluster, monkeypatch, capsys):
    """Adding, checking and syncing one is typed in tests/clusters/test_tls.py, against brokers."""
    cluster.slug, cluster.name, cluster.super_users = "prod", "prod", None
    cluster.save()
    User.objects.create_user("ada")
    brokers = Answers(facts=ClusterFacts("the-id"))
    erin = Detail("erin", user="erin", facts={"mechanisms": {}})
    brokers.details = Details({DetailKind.SCRAM_USERS: DetailList(Known.ALL, (erin,))}, ())
    monkeypatch.setattr(syncing, "connect", lambda _connection: brokers)
    assert sync(cluster).read
    asked = [words for words in typed("manage.py") if words[0] in ("grant", "details") or "declare" in words]
    assert len(asked) == 4

    for words in asked:
        call_command(*words)

    cluster.refresh_from_db()
    assert (cluster.allow_everyone, cluster.super_users) == (False, "User:admin;User:CN=ops,O=Example")
    assert [(grant.user.username, grant.role) for grant in cluster.grants.all()] == [("ada", Role.REQUESTER)]
    assert "erin" in capsys.readouterr().out


@pytest.mark.parametrize("target", re.findall(r"\]\(((?!http)[^)#]+)\)", README))
def test_what_the_readme_links_to_is_there(target):
    assert (PROJECT / target).exists()


def test_the_readme_shows_the_two_commands_that_newcomers_need():
    assert "\n./run\n" in README
    assert "\n./test\n" in README
    for command in ("run", "test"):
        assert (PROJECT / command).stat().st_mode & 0o111
