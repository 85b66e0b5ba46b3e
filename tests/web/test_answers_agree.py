"""One question has one answer: home, explain, the matrix, the principal page, the API and the core's command agree."""

from __future__ import annotations

import json
import random
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from aclweb.acl.authorizer.any_host import decide_for_any_host
from aclweb.acl.cli.main import main
from aclweb.acl.model.vocabulary import Operation, ResourceType
from aclweb.api.serializers import DecisionSerializer
from aclweb.clusters import TopicInfo
from aclweb.inventory.access import principal_access, topic_access
from aclweb.inventory.current.view import in_force
from aclweb.inventory.sync.run import sync
from tests.builders import acl, allow, ask, deny
from tests.inventory.answering_cluster import Answers

NAMES = ("orders.eu", "orders.us", "stock")
WHO = ("User:bob", "User:eve")
HOSTS = (
    "*", "*", "10.0.0.7", "10.0.0.8", "10.0.0.0/24", "10.0.0.0/8", "0.0.0.0/0", "::/0", "search-01.example",
    "0:0:0:0:0:0:0:1", "::1/128",
)  # fmt: skip
# What a matrix, a page and the API call the same answer.
WORDS = {
    "allowed": "ALLOWED", "refused": "DENIED", "none": "DENIED", "some-hosts": "DEPENDS", "default": "ALLOWED",
    "depends": "DEPENDS", "unknown": "UNDECIDED",
}  # fmt: skip


def some_acls(chance: random.Random) -> list:
    names = [chance.choice((*NAMES, "orders.", "*")) for _ in range(chance.randint(1, 9))]
    return [
        acl(
            chance.choice(("ALLOW", "ALLOW", "DENY")),
            chance.choice((*WHO, "User:*")),
            chance.choice(("READ", "WRITE", "ALL", "DESCRIBE")),
            name,
            pattern="PREFIXED" if name == "orders." else "LITERAL",
            host=chance.choice(HOSTS),
        )
        for name in names
    ]


@pytest.mark.half
@pytest.mark.parametrize("seed", range(12))
def test_every_place_gives_the_same_answer(seed, cluster, ada, signed_in, tmp_path, capsys):
    chance = random.Random(seed)
    acls = some_acls(chance)
    sync(cluster, client=Answers(acls, topics=[TopicInfo(name) for name in NAMES]))
    browser = signed_in(ada)
    view = in_force(cluster)

    for operation in ("READ", "WRITE", "DESCRIBE"):
        who, name = chance.choice(WHO), chance.choice(NAMES)
        for host in ("", "10.0.0.7", "10.9.0.1"):
            question = {"principal": who, "operation": operation, "type": "TOPIC", "name": name, "host": host}
            asked = ask(who, operation, name, host=host or "*")
            api = decided(browser, cluster, asked)
            told = {
                "home": verdict(browser, "/", question),
                "explain": verdict(browser, f"/c/{cluster.slug}/explain/", question),
                "api": (api["any_host"] or api)["result"],
                "command": commanded(asked, acls, tmp_path, capsys),
                "core": decide_for_any_host(asked, view.index, view.settings).result.name
                if not host
                else api["result"],
                "matrix": celled(cluster, who, operation, name, host),
            }

            same = {WORDS.get(answer, answer) for answer in told.values()}
            assert len(same) == 1, f"{question} on {[rule.as_dict() for rule in acls]}: {told}"
        # The principal's page lists what it may do from one host at least.
        may = operation in listed(cluster, who, name)
        anywhere = celled(cluster, who, operation, name, "")
        assert may == (WORDS[anywhere] in ("ALLOWED", "DEPENDS"))


@pytest.mark.parametrize("seed", range(6))
def test_page_api_and_command_give_the_same_reasons(seed, cluster, ada, signed_in, tmp_path, capsys):
    chance = random.Random(seed)
    acls = some_acls(chance)
    sync(cluster, client=Answers(acls, topics=[TopicInfo(name) for name in NAMES]))
    browser = signed_in(ada)

    for operation in ("READ", "WRITE", "DESCRIBE"):
        asked = ask(chance.choice(WHO), operation, chance.choice(NAMES), host="10.0.0.7")
        question = {"principal": asked.principal, "operation": operation, "type": "TOPIC"}
        question |= {"name": asked.resource_name, "host": asked.host}
        page = browser.get(f"/c/{cluster.slug}/explain/?{urlencode(question)}").context["answer"]
        api = decided(browser, cluster, asked)
        command = commanded_json(asked, acls, tmp_path, capsys)

        assert page.explanation.as_dict() == {key: api[key] for key in page.explanation.as_dict()}
        assert command == {key: api[key] for key in command}


def test_the_api_answers_with_the_documented_keys(cluster, ada, signed_in):
    sync(cluster, client=Answers([allow("User:bob", "READ", "stock")], topics=[TopicInfo("stock")]))

    api = decided(signed_in(ada), cluster, ask("User:bob", "WRITE", "stock", host="10.0.0.7"))

    assert set(api) == set(DecisionSerializer().fields)
    for key in ("request", "smallest_fix"):
        assert set(api[key]) == set(DecisionSerializer().fields[key].fields)
    for key in ("affecting", "near_misses"):
        assert set(api[key][0]) == set(DecisionSerializer().fields[key].child.fields)


def test_where_it_depends_on_the_host_the_api_proposes_no_edit(cluster, ada, signed_in):
    acls = [
        allow("User:bob", "READ", "stock", host="10.0.0.7"),
        deny("User:bob", "READ", "stock", host="10.0.0.8"),
    ]
    sync(cluster, client=Answers(acls, topics=[TopicInfo("stock")]))
    browser = signed_in(ada)

    anywhere = decided(browser, cluster, ask("User:bob", "READ", "stock", host="*"))
    there = decided(browser, cluster, ask("User:bob", "READ", "stock", host="10.0.0.8"))

    assert anywhere["any_host"]["result"] == "DEPENDS"
    assert (anywhere["smallest_fix"], anywhere["smallest_removals"]) == (None, [])
    assert there["smallest_removals"] == [acls[1].as_dict()]
    assert there["fix_after_removals"]["host"] == "10.0.0.8"


def test_ranges_of_every_address_are_one_answer_in_all_of_the_api(cluster, ada, signed_in):
    everywhere = [allow("User:bob", "READ", "stock", host=host) for host in ("0.0.0.0/0", "::/0")]
    sync(cluster, client=Answers(everywhere, topics=[TopicInfo("stock")]))
    asked = ask("User:bob", "READ", "stock", host="*")

    told = decided(signed_in(ada), cluster, asked)

    assert (told["result"], told["any_host"]["result"], told["smallest_fix"]) == ("ALLOWED", "ALLOWED", None)
    assert told["request"] == asked.as_dict()
    assert told["sentences"][0].startswith("User:bob may Read topic stock from *: ")


def test_the_cell_of_a_range_leads_to_the_explanation_for_one_of_its_addresses(cluster, ada, signed_in):
    acls = [
        allow("User:bob", "READ", "stock", host="10.0.0.0/8"),
        deny("User:bob", "READ", "stock", host="10.0.0.0/16"),
    ]
    sync(cluster, client=Answers(acls, topics=[TopicInfo("stock")]))
    browser = signed_in(ada)
    cell = {
        "who": "principal",
        "principal": "User:bob",
        "operation": "READ",
        "type": "TOPIC",
        "name": "stock",
    }

    explained = browser.get(reverse("cell", args=[cluster.slug]), cell, follow=True)

    assert explained.status_code == 200
    assert explained.context["answer"].verdict == "allowed"


def verdict(browser, address, question) -> str:
    """Return the answer of a page: of the whole one about any host, else of the part that htmx swaps in."""
    headers = {"HX-Request": "true"} if question["host"] else {}
    return browser.get(address, question, headers=headers).context["answer"].verdict


def decided(browser, cluster, asked) -> dict:
    url = f"/api/v1/clusters/{cluster.slug}/decide/"
    return browser.post(url, json.dumps(asked.as_dict()), content_type="application/json").json()


def celled(cluster, who, operation, name, host) -> str:
    access = topic_access(cluster, ResourceType.TOPIC, name, host=host or None)
    rows = {row.principal: row for row in access.rows if row.kind != "super-users"}
    # Who has no row is anybody.
    verdict = rows.get(who, rows["User:*"]).verdict(Operation[operation])
    assert verdict is not None
    return verdict.state


def listed(cluster, who, name) -> set[str]:
    found = principal_access(cluster, who).resources
    return {
        operation.name for reach in found if reach.resource.name == name for operation in reach.operations
    }


def commanded(asked, bindings, folder, capsys) -> str:
    answer = commanded_json(asked, bindings, folder, capsys)
    return (answer["any_host"] or answer)["result"]


def commanded_json(asked, bindings, folder, capsys) -> dict:
    acls, request = folder / "acls", folder / "request"
    acls.write_text("".join(f"{json.dumps(acl.as_dict())}\n" for acl in bindings))
    request.write_text(json.dumps(asked.as_dict()))
    main(["decide", "--json", "--explain", "--acls", str(acls), "--requests", str(request)])
    return json.loads(capsys.readouterr().out)
