"""What is wrong or wasted in the ACLs is listed, worst first; what can go becomes a draft; no request works long."""

from __future__ import annotations

import html

import pytest

from aclweb.clusters import TopicInfo
from aclweb.inventory import tasks
from aclweb.inventory.findings import lint_run
from aclweb.inventory.findings import pages as findings
from aclweb.inventory.models import Cluster, LintRun, StoredFinding
from aclweb.inventory.sync.run import sync
from tests.builders import allow, deny
from tests.inventory.answering_cluster import Answers

IMPLIED = allow("User:bob", "READ", "orders.eu")
SHADOWED = allow("User:dan", "WRITE", "orders.eu")
RULES = [
    allow("User:bob", "READ", "orders.", pattern="PREFIXED"),
    IMPLIED,
    deny("User:dan", "ALL", "orders.", pattern="PREFIXED"),
    SHADOWED,
    allow("User:eli", "READ", "order", pattern="PREFIXED"),
    deny("User:fay", "READ", "stock", host="fays-laptop"),
    *(allow("User:gus", "READ", f"parts.{name}") for name in ("eu", "us", "asia")),
    *(allow("User:hal", "WRITE", "stock", host=f"10.0.0.{last}") for last in (6, 7)),
]


@pytest.fixture
def address(cluster) -> str:
    sync(cluster, client=Answers(RULES, topics=[TopicInfo("orders.eu"), TopicInfo("stock")]))
    return f"/c/{cluster.slug}/findings/"


@pytest.fixture
def browser(ada, signed_in):
    return signed_in(ada)


def settings_of(page) -> list[tuple[str, str]]:
    return [(row.rule, row.acl.principal) for row in page.context["page"].object_list]


def test_findings_are_listed_worst_first_each_with_its_acl_and_sentence(address, browser):
    page = browser.get(address)

    severities = [row.severity for row in page.context["page"].object_list]
    assert severities == sorted(severities, key=findings.SEVERITIES.index)
    assert ("host-never-matches", "User:fay") in settings_of(page)
    assert ("implied", "User:bob") in settings_of(page)
    assert ("prefix-without-delimiter", "User:eli") in settings_of(page)
    assert settings_of(page).count(("shadowed", "User:dan")) == 1


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"rule": "implied"}, {("implied", "User:bob")}),
        ({"severity": "info", "text": "BOB"}, {("implied", "User:bob")}),
        ({"rule": "nothing"}, set()),
        ({"rule": "implied", "page": "9" * 30}, {("implied", "User:bob")}),
    ],
)
def test_filters_are_in_the_address(address, browser, query, expected):
    page = browser.get(address, query)

    assert page.status_code == 200
    assert {found for found in settings_of(page) if found[0] != "group-right-missing"} == expected


def test_what_can_go_becomes_a_draft_that_changes_nothing(address, browser, cluster):
    page = browser.get(address, {"show": "can-go"})
    assert f'action="/c/{cluster.slug}/findings/draft/"' in page.text

    draft = browser.post(f"/c/{cluster.slug}/findings/draft/", {"show": "can-go"}, follow=True)

    assert page.context["counts"].can_go == len(draft.context["draft"].lines)
    assert "that change nothing" in draft.text
    assert {IMPLIED, SHADOWED} <= {line.binding for line in draft.context["draft"].lines}
    impact = draft.context["preview"].impact
    assert not any(impact.counts[kind] for kind in ("gains", "loses", "depends"))


def test_what_two_finders_tell_of_one_acl_is_listed_once(address, browser):
    page = browser.get(address, {"text": "fay"})
    going = browser.get(address, {"show": "can-go"})

    assert [rule for rule, _ in settings_of(page) if rule in ("dead", "host-never-matches")] == [
        "host-never-matches"
    ]
    assert ("host-never-matches", "User:fay") in settings_of(going)


def test_a_proposal_tells_what_it_would_change_and_becomes_exactly_that_draft(address, browser, cluster):
    page = browser.get(address, {"show": "fewer"})

    wider, exact = sorted(page.context["page"].object_list, key=lambda row: row.extra == 0)
    assert wider.acl == allow("User:gus", "READ", "parts.", pattern="PREFIXED")
    assert "User:gus could then" in wider.counterexample
    assert "starts with 'parts.'" in wider.counterexample
    assert wider.counterexample in html.unescape(page.content.decode())
    assert exact.acl == allow("User:hal", "WRITE", "stock", host="10.0.0.6/31")
    assert "It gives nobody more access" in page.content.decode()
    for row, differs in ((wider, True), (exact, False)):
        assert f"?proposal={row.number}" in page.content.decode()
        draft = browser.get(f"/c/{cluster.slug}/what-if/", {"proposal": row.number}).context
        assert set(draft["draft"].delta.add) == {row.acl}
        assert set(draft["draft"].delta.remove) == set(row.by)
        # The text of a range is no client's address.
        gains = [gain for gain in draft["preview"].impact.gains if "/" not in gain.host]
        assert bool(gains) == differs


@pytest.mark.parametrize("number", ["0", "9" * 18, "x", ""])
def test_a_proposal_that_is_gone_is_reported(address, browser, cluster, number):
    page = browser.get(f"/c/{cluster.slug}/what-if/", {"proposal": number})

    assert page.status_code == 200
    assert b"This proposal is gone" in page.content


def test_a_proposal_for_another_cluster_is_nobodys_here(address, browser, cluster, other_cluster):
    browser.get(address)
    LintRun.objects.update(cluster=other_cluster)

    page = browser.get(
        f"/c/{cluster.slug}/what-if/", {"proposal": StoredFinding.objects.get(acl__contains="/31").pk}
    )

    assert b"This proposal is gone" in page.content


def test_somebody_who_only_looks_is_offered_no_draft(address, cho, signed_in):
    pages = [signed_in(cho).get(address, {"show": show}) for show in ("can-go", "fewer")]

    assert [page.status_code for page in pages] == [200, 200]
    assert all(page.context["page"].object_list for page in pages)
    assert not any(b"findings/draft/" in page.content or b"?proposal=" in page.content for page in pages)


def test_many_acls_are_never_looked_through_in_a_request(
    address, browser, cluster, monkeypatch, django_capture_on_commit_callbacks
):
    rung = []
    monkeypatch.setattr(findings, "AT_ONCE", 1)
    monkeypatch.setattr(tasks.lint_cluster, "delay", rung.append)

    with django_capture_on_commit_callbacks(execute=True):
        waiting = [browser.get(address) for _ in range(2)]
    tasks.lint_cluster(cluster.pk)
    done = browser.get(address)

    assert rung == [cluster.pk]
    for page in waiting:
        assert b"In progress since" in page.content
        assert b'hx-trigger="every 2s"' in page.content
        assert b'http-equiv="refresh"' in page.content
    assert done.context["page"].paginator.count
    assert b"every 2s" not in done.content


def test_what_was_found_before_is_shown_while_a_newer_revision_is_looked_through(
    address, browser, cluster, monkeypatch
):
    browser.get(address)
    monkeypatch.setattr(findings, "AT_ONCE", 0)
    sync(cluster, client=Answers(RULES[:2]))

    meanwhile = browser.get(address, {"rule": "shadowed"})
    tasks.lint_cluster(cluster.pk)
    after = browser.get(address, {"rule": "shadowed"})

    assert settings_of(meanwhile) == [("shadowed", "User:dan")]
    assert b"Found earlier, in revision 1." in meanwhile.content
    assert (
        b"The findings of revision 2, under what is declared now, are being worked out since"
        in meanwhile.content
    )
    assert b"every 2s" not in meanwhile.content  # which would take away what is being typed
    assert settings_of(after) == []
    assert b"are being worked out" not in after.content


def test_findings_that_failed_are_reported_and_tried_again_only_when_asked(address, browser, monkeypatch):
    tried, find_all = [], lint_run.find_all

    def broken(view, **_):
        tried.append(view)
        raise RuntimeError("no")

    monkeypatch.setattr(lint_run, "find_all", broken)
    pages = [browser.get(address) for _ in range(2)]
    monkeypatch.setattr(lint_run, "find_all", find_all)
    after = browser.post(f"{address}again/", follow=True)

    assert all(b"could not be worked out: RuntimeError" in page.content for page in pages)
    assert all(b"Try again" in page.content for page in pages)
    assert len(tried) == 1
    assert after.context["page"].paginator.count


def test_a_new_declaration_is_counted_with_at_once(address, browser, cluster):
    before = browser.get(address, {"rule": "super-user-unaffected"})
    Cluster.objects.filter(pk=cluster.pk).update(super_users="User:admin;User:bob")

    after = browser.get(address, {"rule": "super-user-unaffected"})

    assert settings_of(before) == []
    assert {who for _, who in settings_of(after)} == {"User:bob"}


def test_a_cluster_that_was_never_read_says_so(cluster, browser):
    page = browser.get(f"/c/{cluster.slug}/findings/")

    assert page.status_code == 200
    assert b"Cannot tell yet" in page.content


def test_hostile_names_are_shown_and_never_run(cluster, browser):
    sync(cluster, client=Answers([allow("User:<script>alert(1)</script>", "READ", "x", host="a<b>")]))

    page = browser.get(f"/c/{cluster.slug}/findings/")

    assert b"<script>alert" not in page.content


def test_the_page_needs_few_queries(address, browser, django_assert_max_num_queries):
    browser.get(address)

    with django_assert_max_num_queries(11):
        browser.get(address)


def test_a_page_of_many_findings_reads_only_its_own(address, browser, monkeypatch):
    browser.get(address)
    read = []
    row = findings._row
    monkeypatch.setattr("aclweb.web.browse.findings.ROWS_A_PAGE", 2)
    monkeypatch.setattr(findings, "_row", lambda found: read.append(found) or row(found))

    page = browser.get(address, {"page": 2})

    assert page.context["page"].paginator.count > 4
    assert len(read) == 2


# What can go is read a second time, for the draft that removes it.
@pytest.mark.parametrize(("show", "most"), [("", 11), ("can-go", 12), ("fewer", 11)])
def test_every_part_needs_few_queries_and_works_nothing_out(
    address, browser, monkeypatch, django_assert_max_num_queries, show, most
):
    browser.get(address)
    monkeypatch.setattr(lint_run, "find_all", lambda *_, **__: pytest.fail("A page looked for findings."))

    with django_assert_max_num_queries(most):
        page = browser.get(address, {"show": show})

    assert page.context["page"].paginator.count


def test_whoever_waits_needs_few_queries(address, browser, monkeypatch, django_assert_max_num_queries):
    monkeypatch.setattr(findings, "AT_ONCE", 1)
    browser.get(address)

    with django_assert_max_num_queries(12):
        page = browser.get(address)

    assert b"In progress since" in page.content


DRAFT = "/c/test-eu/findings/draft/"


def test_a_lint_rule_s_findings_that_can_go_become_one_draft(address, browser, django_assert_max_num_queries):
    browser.get(address)
    with django_assert_max_num_queries(12):
        page = browser.get(address, {"rule": "implied"})
    listed = {row.acl for row in page.context["page"].object_list if row.can_go}

    drafted = browser.post(DRAFT, {"rule": "implied"}, follow=True)

    assert f"Draft {len(listed)} removal" in page.content.decode()
    assert {line.binding for line in drafted.context["draft"].lines} == listed
    assert {line.op for line in drafted.context["draft"].lines} == {"remove"}
    assert drafted.context["title"] == "Remove 1 ACL that changes nothing"
    impact = drafted.context["preview"].impact
    assert not any(impact.counts[kind] for kind in ("gains", "loses", "depends"))


@pytest.mark.parametrize("rule", ["prefix-without-delimiter", "", "nothing"])
def test_what_has_no_known_fix_is_offered_no_draft(address, browser, rule):
    page = browser.get(address, {"rule": rule})
    answer = browser.post(DRAFT, {"rule": rule}, follow=True)

    assert "removal" not in page.content.decode()
    assert "No draft was made:" in html.unescape(answer.content.decode())


def test_a_draft_of_a_lint_rule_has_the_filters_of_its_page_and_the_limit_of_a_draft(
    address, browser, cluster, monkeypatch
):
    narrow = [allow("User:ida", "READ", f"ida.{number}") for number in range(3)]
    sync(cluster, client=Answers([*RULES, *narrow, allow("User:ida", "READ", "ida.", pattern="PREFIXED")]))
    monkeypatch.setattr("aclweb.web.browse.findings.MOST_LINES", 2)

    page = browser.get(address, {"rule": "implied", "text": "ida"})
    drafted = browser.post(DRAFT, {"rule": "implied", "text": "ida"}, follow=True)

    assert "Draft the first 2 of 3 removals" in page.content.decode()
    assert {line.binding for line in drafted.context["draft"].lines} < set(narrow)
    assert len(drafted.context["draft"].lines) == 2


def test_nobody_drafts_while_the_findings_are_of_an_older_revision(address, browser, cluster, monkeypatch):
    browser.get(address)
    monkeypatch.setattr(findings, "AT_ONCE", 0)
    sync(cluster, client=Answers(RULES[:4]))

    page = browser.get(address, {"rule": "implied"})
    answer = browser.post(DRAFT, {"rule": "implied"}, follow=True)

    assert "removal" not in page.content.decode()
    assert "are not known yet" in answer.content.decode()
