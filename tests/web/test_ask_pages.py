"""The question on the home page and on the explain page: answers, reasons, ways out, and bad input."""

from __future__ import annotations

import json
import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from aclweb.accounts.models import Grant, Role
from aclweb.acl.model import ResourceType
from aclweb.clusters import TopicInfo
from aclweb.inventory.current import in_force
from aclweb.inventory.sync.run import sync
from aclweb.web.ask.examples import examples
from aclweb.web.shell import links
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers
from tests.layouts.framing import FRAMED, framed

OWN_HOST = allow("User:bob", "WRITE", "orders.", pattern="PREFIXED", host="10.0.0.7")
QUESTION = {
    "principal": "User:bob",
    "operation": "WRITE",
    "type": "TOPIC",
    "name": "orders.eu",
    "host": "10.0.0.8",
}


@pytest.fixture
def browser(cluster, ada, signed_in):
    sync(
        cluster,
        client=Answers(
            [
                OWN_HOST,
                allow("User:cat", "READ", "*"),
                deny("User:dan", "READ", "orders.", pattern="PREFIXED"),
                allow("User:dan", "ALL", "orders.eu"),
                allow("User:six", "READ", "orders.eu", host="0:0:0:0:0:0:0:1"),
            ],
            topics=[TopicInfo("orders.eu")],
            groups=["billing"],
        ),
    )
    return signed_in(ada)


def text(page) -> str:
    return unescape(page.content.decode())


def plain(page) -> str:
    """The words of a page without its tags."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", page.content.decode())).split())


def test_the_empty_question_suggests_one_that_the_acls_answer(cluster, ada, signed_in):
    acls = [allow("User:bob", "WRITE", "orders.", pattern="PREFIXED"), deny("User:dan", "READ", "stock")]
    sync(cluster, client=Answers(acls, topics=[TopicInfo("orders.eu"), TopicInfo("stock")]))

    page = signed_in(ada).get("/?raw=1")

    suggested = [
        (request.principal, request.operation.name, request.resource_name)
        for request in page.context["examples"]
    ]
    assert suggested == [("User:dan", "READ", "stock"), ("User:bob", "WRITE", "orders.eu")]
    assert "No, refused" in text(signed_in(ada).get(f"/?{links.question(page.context['examples'][0])}"))


def test_the_topic_of_an_example_is_looked_up_and_not_searched_for(cluster):
    # Denials and prefixes of topics that do not exist come before the one that does.
    acls = [deny("User:dan", "READ", f"none{n}", pattern="PREFIXED") for n in range(40)]
    acls += [deny("User:dan", "READ", f"other{n}") for n in range(40)] + [
        allow("User:bob", "READ", "orders.9", pattern="PREFIXED")
    ]
    topics = [TopicInfo(f"orders.{n}") for n in range(400)]
    sync(cluster, client=Answers(acls, topics=topics))
    view = in_force(cluster)
    compared = []

    class Counted(str):
        """A name that tells when it is compared."""

        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other):
            compared.append(str(self))
            return str.__eq__(self, other)

        def __lt__(self, other):
            compared.append(str(self))
            return str.__lt__(self, other)

        def startswith(self, *given):
            compared.append(str(self))
            return str.startswith(self, *given)

    names = {ResourceType.TOPIC: tuple(Counted(name) for name in view.loaded.names[ResourceType.TOPIC])}
    view.loaded.__dict__["names"] = names

    [suggested] = examples(view)

    assert (suggested.principal, suggested.resource_name) == ("User:bob", "orders.9")
    assert 0 < len(compared) < 81 * 2 * 12, len(compared)
    compared.clear()
    assert examples(view) == [suggested]
    assert compared == []


def test_home_asks_about_a_client_first_and_each_verb_has_its_names(browser):
    fields = {
        address: [field.name for field in browser.get(address).context["form"].role_fields]
        for address in ("/", "/?action=produce", "/?action=produce-transactional")
    }

    assert fields == {
        "/": ["topic", "group"],
        "/?action=produce": ["topic"],
        "/?action=produce-transactional": ["topic", "group", "transactional-id", "input-topic"],
    }


def test_choosing_a_verb_keeps_what_was_typed_and_answers_nothing(browser):
    page = browser.get("/", {"action": "produce", "principal": "User:bob", "topic": "orders.eu", "host": ""})

    assert "answer" not in page.context
    assert [page.context["form"][name].value() for name in ("principal", "topic")] == [
        "User:bob",
        "orders.eu",
    ]


@pytest.mark.parametrize("action", ["admin-list-acls", "fly", "\0", ""])
def test_an_action_without_a_tab_of_its_own_is_shown_or_replaced(browser, action):
    page = browser.get("/", {"action": action})

    assert page.status_code == 200
    assert page.context["form"].client_action.name in dict(page.context["verbs"])


def test_a_raw_operation_is_a_link_away_and_leads_back(browser):
    assert "/?cluster=test-eu&amp;raw=1" in browser.get("/").content.decode()
    assert "Ask about a client action" in plain(browser.get("/?raw=1"))


def test_a_refusal_shows_the_sentence_the_gate_that_decides_and_the_nearest_miss(browser):
    page = browser.get("/", QUESTION)

    assert page.status_code == 200
    assert "No, refused" in text(page)
    assert page.context["answer"].explanation.near_misses[0].binding == OWN_HOST
    assert text(page).count("data-decides") == 1
    assert "and this one comes from 10.0.0.8" in text(page)


def test_the_smallest_fix_opens_as_a_what_if(browser):
    page = browser.get("/", QUESTION)

    link = next(part for part in text(page).split('"') if "/what-if/?add=" in part)
    (line,) = parse_qs(urlsplit(link).query)["add"]
    assert '"principal": "User:bob"' in line
    assert '"host": "10.0.0.8"' in line
    assert browser.get(link).status_code == 200


def test_an_allowed_question_names_the_acl_that_allows_it(browser):
    page = browser.get("/", QUESTION | {"host": "10.0.0.7"})

    assert "Yes, allowed" in text(page)
    assert "What allows it" in text(page)
    assert [row.binding for row in page.context["answer"].determining] == [OWN_HOST]


def test_a_deny_is_reported_as_what_refuses_however_exact_the_allow_is(browser):
    page = browser.get("/", QUESTION | {"principal": "User:dan", "operation": "READ"})

    assert "What denies it" in text(page)
    assert page.context["answer"].ways_out[0].lines[0][0] == "remove"


@pytest.mark.parametrize("page", ["/", "/c/test-eu/explain/"])
def test_without_a_host_it_depends_where_acls_name_hosts(browser, page):
    found = browser.get(page, QUESTION | {"host": ""})

    assert found.context["answer"].verdict == "depends"
    assert "It depends on the host" in text(found)
    assert "User:bob may Write to topic orders.eu only from 10.0.0.7." in plain(found)
    assert "No, refused" not in text(found)
    rows = [(part.words, part.result_word) for part, *_ in found.context["parts"]]
    assert rows == [("10.0.0.7", "allowed"), ("every other host", "refused")]


def test_where_it_depends_no_acl_for_every_host_is_offered(browser):
    found = browser.get("/", QUESTION | {"host": ""})

    assert "what-if/?add=" not in text(found)
    assert "to see the smallest ACL for it" in text(found)


def test_a_deny_of_one_host_is_what_can_be_removed_there(cluster, ada, signed_in):
    kept_out = deny("User:bob", "READ", "orders.eu", host="10.0.0.8")
    acls = [allow("User:bob", "READ", "orders.eu"), kept_out]
    sync(cluster, client=Answers(acls, topics=[TopicInfo("orders.eu")]))

    found = signed_in(ada).get("/", QUESTION | {"operation": "READ", "host": ""})

    assert "User:bob may Read topic orders.eu from every host except 10.0.0.8." in plain(found)
    offered = [way.lines for part, *_ in found.context["parts"] for way in part.ways_out]
    assert offered == [(("remove", kept_out),)]


@pytest.mark.parametrize(
    ("host", "verdict"),
    [("0.0.0.0/0", "depends"), ("10.0.0.8/32", "depends"), ("search-01.example", "refused")],
)
def test_a_host_that_no_client_has_changes_nothing_without_a_host(cluster, ada, signed_in, host, verdict):
    acls = [allow("User:bob", "READ", "orders.eu", host=host)]
    sync(cluster, client=Answers(acls, topics=[TopicInfo("orders.eu")]))

    found = signed_in(ada).get("/", QUESTION | {"operation": "READ", "host": ""})

    assert found.context["answer"].verdict == verdict


def test_ranges_that_hold_every_address_allow_every_host(cluster, ada, signed_in):
    acls = [allow("User:bob", "READ", "orders.eu", host=host) for host in ("0.0.0.0/0", "::/0")]
    sync(cluster, client=Answers(acls, topics=[TopicInfo("orders.eu")]))

    found = signed_in(ada).get("/", QUESTION | {"operation": "READ", "host": ""})

    assert found.context["answer"].verdict == "allowed"
    assert "may Read topic orders.eu from any host" in plain(found)


def test_a_bare_name_is_read_as_a_user_and_the_page_says_so(browser):
    page = browser.get("/", QUESTION | {"principal": "bob", "host": "10.0.0.7"})

    assert page.status_code == 200
    assert page.context["answer"].request.principal == "User:bob"
    assert "'bob' has no type, so it is read as 'User:bob'." in text(page)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ({"name": "order.eu"}, "There is no topic order.eu on test-eu."),
        (
            {"principal": "User:bib"},
            "No ACL, no declared super user and no log line on test-eu names User:bib.",
        ),
    ],
)
@pytest.mark.parametrize("page", ["/", "/c/test-eu/explain/"])
def test_a_name_that_nothing_knows_is_reported_and_gets_no_fix(browser, page, question, sentence):
    found = browser.get(page, QUESTION | question)

    assert found.status_code == 200
    assert sentence in plain(found)
    assert "what-if/?add=" not in text(found)
    assert "No fix for a name that is not known" in text(found)


def test_a_group_that_does_not_exist_yet_gets_its_fix_since_consumers_make_it(browser):
    found = browser.get("/", QUESTION | {"type": "GROUP", "operation": "READ", "name": "new-group"})

    assert "what-if/?add=" in text(found)


def test_an_address_is_asked_as_brokers_write_it_and_the_page_says_so(browser):
    page = browser.get("/", QUESTION | {"principal": "User:six", "operation": "READ", "host": "::1"})

    assert "Yes, allowed" in text(page)
    assert "Brokers write the address ::1 as 0:0:0:0:0:0:0:1" in text(page)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (
            {"principal": "User:a,User:b"},
            "This names 2 principals ('User:a', 'User:b'), and only one fits here",
        ),
        (
            {"name": "t" * 300},
            "No broker would make a topic of this name: no topic has a name of more than 249",
        ),
        ({"name": "a/b"}, "No broker would make a topic of this name: no topic can be called 'a/b'"),
        ({"name": ""}, "Name the topic that you ask about"),
        ({"host": "search-01.internal"}, "'search-01.internal' is not an address"),
        ({"operation": "CLUSTER_ACTION"}, "No broker of this cluster asks for Cluster action on a topic"),
    ],
)
def test_a_field_that_will_not_do_says_so_and_keeps_what_was_typed(browser, typed, sentence):
    page = browser.get("/", QUESTION | typed)

    assert page.status_code == 422
    assert sentence in text(page)
    assert "answer" not in page.context or not page.context.get("answer")
    for value in {**QUESTION, **typed}.values():
        assert value in text(page)


def test_what_is_undeclared_and_could_turn_the_answer_is_said_beside_it(browser, cluster):
    type(cluster).objects.update(super_users=None, allow_everyone=None)

    page = browser.get("/", QUESTION)

    assert "Nobody has declared this cluster's super users" in text(page)


def test_htmx_gets_only_the_part_that_it_swaps_in(browser):
    page = browser.get("/", QUESTION, headers={"HX-Request": "true"})

    assert "No, refused" in text(page)
    assert "<html" not in text(page)
    assert "HX-Request" in page["Vary"]


def test_going_back_in_the_browser_gets_the_whole_page(browser):
    headers = {"HX-Request": "true", "HX-History-Restore-Request": "true"}

    assert "<html" in text(browser.get("/", QUESTION, headers=headers))


def test_the_explain_page_lists_every_acl_that_matches_it_nearest_first(browser, cluster):
    page = browser.get(f"/c/{cluster.slug}/explain/", QUESTION)

    assert len(page.context["matching"].object_list) == 5
    assert page.context["matching"].object_list[0].binding == OWN_HOST
    assert [tick.part for tick in page.context["matching"].object_list[0].ticks if not tick.matches] == [
        "host"
    ]
    assert "NO_ALLOW_ACL" in text(page)


def test_the_explain_page_without_a_question_says_what_to_ask(browser, cluster):
    assert "Ask about one client and one resource" in text(browser.get(f"/c/{cluster.slug}/explain/"))


def test_a_name_can_neither_become_markup_nor_turn_the_text_around(browser):
    hostile = "User:<script>alert(1)</script>\u202egpj.exe\n"

    page = browser.get("/", QUESTION | {"principal": hostile})

    shown = page.content.decode()
    assert "<script>alert" not in shown
    assert "\u202e" not in unescape(shown).replace(
        hostile, ""
    )  # the form's own field keeps it as it was typed
    assert "\\u202e" in shown


def test_somebody_without_any_cluster_is_told_who_can_help(eve, signed_in):
    page = signed_in(eve).get("/")

    assert page.status_code == 200
    assert "There is no cluster that you may look at" in text(page)


@pytest.mark.parametrize("door", ["/", "/c/test-eu/explain/"])
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_cluster_that_was_never_read_gives_no_decision(cluster, cho, signed_in, door, headers):
    asked = {"principal": "User:bob", "operation": "READ", "type": "TOPIC", "name": "orders.eu", "host": ""}

    page = signed_in(cho).get(door, asked, headers=headers).content.decode()

    assert "Cannot tell yet" in page
    assert "as of" not in page
    assert "has not been synced" in page
    assert "data-verdict" not in page


LOGGED = (
    "[2026-11-20 17:23:05,114] INFO Principal = User:bob is Denied operation = WRITE from host = 10.0.0.8 on "
    "resource = Topic:LITERAL:orders.eu for request = Produce with resourceRefCount = 1 based on rule DefaultDeny "
    "(kafka.authorizer.logger)"
)


def pasted(browser, line):
    return browser.post("/c/test-eu/explain/line/", {"line": line}, follow=True)


def test_a_pasted_log_line_fills_the_question_in_and_is_compared_with_the_answer(browser):
    page = pasted(browser, f"noise\n{LOGGED}\n{LOGGED.replace('bob', 'eve')}\n")

    assert page.status_code == 200
    assert page.context["form"].cleaned_data["principal"] == "User:bob"
    assert page.context["answer"].request.host == "10.0.0.8"
    assert page.context["pasted_answer"].kind == "agrees"
    assert "The broker said Denied at 2026-11-20 17:23:05,114, based on rule DefaultDeny." in text(page)
    assert "The first of the 2 decisions that were pasted was taken." in text(page)


def test_a_pasted_line_is_understood_in_the_layout_of_a_container(browser):
    for frame in FRAMED:
        page = pasted(browser, "\n".join(framed(frame, [LOGGED])))

        assert page.context["answer"].request.host == "10.0.0.8"
        assert "The broker said Denied at 2026-11-20 17:23:05,114, based on rule DefaultDeny." in text(page)

    record = {"log.level": "INFO", "message": LOGGED[31:-26], "log.logger": "kafka.authorizer.logger"}
    page = pasted(browser, json.dumps({"@timestamp": "2026-11-20T17:23:05.114Z"} | record))
    assert "The broker said Denied at 2026-11-20 17:23:05,114Z, based on rule DefaultDeny." in text(page)


def test_a_pasted_line_that_says_otherwise_is_reported_as_that(browser):
    page = pasted(browser, LOGGED.replace("Denied", "Allowed"))

    assert page.context["pasted_answer"].kind == "contradicts"
    assert "The pasted line says otherwise" in text(page)


def test_a_pasted_line_contradicts_no_answer_that_nobody_can_give(browser, cluster):
    sync(cluster, client=Answers([allow("User:bob", "UNKNOWN", "orders.eu")]))

    page = pasted(browser, LOGGED)

    assert page.context["answer"].verdict == "unknown"
    assert page.context["pasted_answer"].kind == "reported"
    assert "An ACL that aclweb cannot read in full may have decided it." in text(page)


def test_a_link_cannot_put_words_of_its_own_into_the_broker_s_mouth(browser):
    forged = {"logged": "DENIED", "at": "noon; call 555", "rule": "none, call 555"}

    page = browser.get("/c/test-eu/explain/", QUESTION | forged)

    assert page.context["pasted_answer"].sentence == "The broker said Denied."


def test_names_too_long_for_an_address_are_reported_before_a_server_refuses_them(browser):
    page = browser.post("/c/test-eu/explain/line/", {"line": LOGGED.replace("orders.eu", "o" * 4_000)})

    assert page.status_code == 422
    assert "too long to ask about on a page" in text(page)


def test_the_part_of_a_line_that_somebody_cut_out_is_understood_too(browser):
    cut = LOGGED.partition("INFO ")[2].partition(" (kafka")[0]

    assert pasted(browser, cut).context["answer"].request.principal == "User:bob"


def test_a_line_that_can_be_read_in_two_ways_is_flagged(browser):
    name = "x is Denied operation = READ from host = 1.2.3.4 on resource = Topic:LITERAL:y"

    page = pasted(browser, LOGGED.replace("User:bob", f"User:{name}"))

    assert "can be read in more than one way" in text(page)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "Paste a line of kafka-authorizer.log or a client's exception, such as: ["),
        ("java.lang.NullPointerException", "No decision and no authorization error can be read from this."),
        (LOGGED.replace("kafka.authorizer.logger", "kafka.server.KafkaApis"), "written by another logger"),
        (LOGGED.replace("Topic:", "Galaxy:"), "does not know"),
        (
            "[2026-11-20 17:23:05,114] DEBUG principal = User:admin is a super user, allowing operation without "
            "checking acls. (kafka.authorizer.logger)",
            "the client is a super user",
        ),
    ],
)
def test_a_line_without_a_decision_is_refused_with_the_reason_and_stays_in_its_box(browser, line, sentence):
    page = browser.post("/c/test-eu/explain/line/", {"line": line})

    assert page.status_code == 422
    assert sentence in text(page)
    assert line in text(page)


def test_a_question_about_any_topic_is_asked_and_answered_as_brokers_do(browser):
    page = browser.get(
        "/c/test-eu/explain/", QUESTION | {"type": "ANY_TOPIC", "name": "", "host": "10.0.0.7"}
    )

    assert page.context["answer"].request.resource_name is None
    assert "may Write to any topic at all" in text(page)
    assert "authorizeByResourceType" in text(page)
    assert [call.name for call in page.context["calls"]] == ["INIT_PRODUCER_ID"]
    again = browser.get(f"/c/test-eu/explain/?{links.question(page.context['answer'].request)}")
    assert again.context["answer"].request == page.context["answer"].request


def test_every_part_of_every_acl_is_ticked_or_crossed(browser, cluster):
    page = browser.get(f"/c/{cluster.slug}/explain/", QUESTION)

    parts = ["type", "pattern", "principal", "host", "operation", "permission"]
    assert all([tick.part for tick in row.ticks] == parts for row in page.context["matching"].object_list)
    assert "It is for requests from 10.0.0.7, and this one comes from 10.0.0.8." in text(page)


def test_the_logged_acl_is_distinguished_from_those_that_would_also_decide(cluster, ada, signed_in):
    acls = [
        allow("User:bob", "READ", "orders.eu"),
        allow("User:bob", "ALL", "*"),
        allow("User:*", "READ", "orders.", pattern="PREFIXED"),
    ]
    sync(cluster, client=Answers(acls))

    page = signed_in(ada).get(f"/c/{cluster.slug}/explain/", QUESTION | {"operation": "READ"})

    named = [row.binding for row in page.context["answer"].determining if row.is_named]
    assert named == [page.context["answer"].named_by_log]
    assert text(page).count("would also allow") == 2
    assert text(page).count("would also decide") == 2
    assert "the broker's log names it" in text(page)


def test_an_acl_for_a_name_like_the_one_asked_for_is_a_near_miss(browser):
    page = browser.get("/", QUESTION | {"name": "Orders.eu", "host": "10.0.0.7"})

    assert page.context["answer"].explanation.near_misses[0].binding == OWN_HOST
    assert "upper and lower case count" in text(page)


@pytest.mark.parametrize("person", ["ada", "cho"])
def test_the_smallest_fix_is_requested_with_a_title_and_a_reason_by_whoever_may(
    browser, cho, ada, signed_in, person
):
    page = signed_in({"ada": ada, "cho": cho}[person]).get("/", QUESTION)

    links_to_request = [part for part in text(page).split('"') if part.endswith("#request")]
    assert "Try this as a what-if" in text(page)
    assert len(links_to_request) == (1 if person == "ada" else 0)
    for link in links_to_request:
        draft = text(browser.get(link))
        assert 'value="Let User:bob Write topic orders.eu"' in draft
        assert "User:bob may not Write to topic orders.eu from 10.0.0.8" in draft


def test_how_kafka_decided_names_acls(browser):
    told = plain(browser.get("/c/test-eu/explain/", QUESTION)).partition("How Kafka decided")[2]

    assert (
        told.index("Super user") < told.index("DENY ACLs") < told.index("ALLOW ACLs") < told.index("Default")
    )


def test_a_request_for_any_host_gives_its_reason_in_words(ada, signed_in, browser):
    page = signed_in(ada).get("/", QUESTION | {"principal": "User:cat", "host": ""})

    (link,) = (part for part in text(page).split('"') if part.endswith("#request"))
    assert "User:cat may not Write to topic orders.eu from any host" in text(browser.get(link))


@pytest.mark.parametrize("address", ["/", "/c/test-eu/explain/", "/c/test-eu/mapping/?kind=ssl&names=CN%3Da"])
def test_the_pages_that_answer_need_few_queries(browser, django_assert_max_num_queries, address):
    with django_assert_max_num_queries(12):
        page = browser.get(address, QUESTION if "mapping" not in address else None)

    assert page.status_code == 200


def test_very_many_acls_that_match_a_resource_are_paged_and_narrowed_by_the_address(cluster, ada, signed_in):
    acls = [OWN_HOST, *(allow(f"User:other-{number}", "READ", "orders.eu") for number in range(70))]
    sync(cluster, client=Answers(acls))
    address = f"/c/{cluster.slug}/explain/"
    browser = signed_in(ada)

    pages = [browser.get(address, {**QUESTION, "page": number, "all": 1}) for number in range(1, 10)]
    narrowed = browser.get(address, {**QUESTION, "holding": "OTHER-6"})

    shown = [row.binding for page in pages for row in page.context["matching"].object_list]
    assert [len(page.context["matching"].object_list) for page in pages] == [8] * 8 + [7]
    assert shown[0] == OWN_HOST
    assert len(set(shown)) == len(acls)
    assert "page=2&all=1#touching" in text(pages[0])
    rest = browser.get(address, {**QUESTION, "holding": "OTHER-6", "page": 2}).context["matching"]
    assert {
        row.binding.principal for row in [*narrowed.context["matching"].object_list, *rest.object_list]
    } == {f"User:other-{end}" for end in (6, *range(60, 70))}
    assert narrowed.context["answer"].matching_count == len(acls)
    assert all(f'name="{name}" value="{value}"' in text(narrowed) for name, value in QUESTION.items())

    # Narrowed to nothing, which is no statement about the ACLs that match.
    none = text(browser.get(address, {**QUESTION, "holding": "nobody-has-this"}))
    assert "No ACL that matches it contains this" in none
    assert "No ACL matches it" not in none


FOREIGN = (
    "[2026-11-21 09:15:02,114] INFO Principal = User:shop is Denied operation = READ from host = 10.0.0.7 on "
    "resource = Topic:LITERAL:carts for request = Fetch with resourceRefCount = 1 based on rule DefaultDeny "
    "(kafka.authorizer.logger)"
)


def test_a_line_of_another_cluster_says_whose_it_looks_like_and_never_agrees(browser, ada, other_cluster):
    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)
    shop = [allow("User:shop", "WRITE", "carts")]
    sync(other_cluster, client=Answers(shop, topics=[TopicInfo("carts")]))

    page = browser.post("/c/test-eu/explain/line/", {"line": FOREIGN}, follow=True)

    assert "This line looks like test-us" in plain(page)
    assert "The pasted line agrees" not in plain(page)
    (name, address), *_ = page.context["pasted_answer"].links
    there = browser.get(address)
    assert name == "test-us"
    assert there.context["answer"].request == page.context["answer"].request
    assert there.context["pasted_answer"].kind == "agrees"


def test_a_cluster_that_one_may_not_see_is_never_named(browser, other_cluster):
    shop = [allow("User:shop", "WRITE", "carts")]
    sync(other_cluster, client=Answers(shop, topics=[TopicInfo("carts")]))

    page = browser.post("/c/test-eu/explain/line/", {"line": FOREIGN}, follow=True)

    assert "test-us" not in plain(page)
    assert "This line is of no cluster that you see" in plain(page)
    assert "The pasted line agrees" not in plain(page)
