"""What pages show of changes: to whom, in which words, and what each person may do next."""

from __future__ import annotations

import pytest

from aclweb.accounts.models import Grant, Role, User
from aclweb.changes import policy, queries, review
from aclweb.changes.models import Change
from aclweb.changes.rollout import run as rollout
from tests.builders import allow, deny
from tests.changes.conftest import WISH, reread

pytestmark = pytest.mark.django_db


def test_the_inbox_shows_each_person_what_waits_for_them(ask, ada, ben, cho):
    change = review.submit(change=ask(WISH), actor=ada)

    assert [row.change for row in queries.inbox(ben).rows] == [change]
    assert queries.inbox(ben).rows[0].waits_for_me
    assert list(queries.inbox(ada).rows) == []
    assert [row.change for row in queries.inbox(ada, tab="mine").rows] == [change]
    assert list(queries.inbox(cho).rows) == []
    assert [row.change for row in queries.inbox(cho, tab="all").rows] == [change]
    assert queries.inbox(ben).counts["waiting"] == 1
    assert queries.inbox(ada).counts["waiting"] == 0


@pytest.mark.parametrize(
    "prefixes",
    [[], [""], ["payments."], ["pay", "orders"], ["PAYMENTS."], ["kafka"], ["pay%"], ["a\\"], ["a\\b", "o"]],
)
def test_one_query_finds_what_the_rights_of_a_person_let_wait(
    cluster, ask, ada, eve, prefixes, django_assert_num_queries
):
    wishes = [
        [allow("User:x", "READ", "payments.eu")],
        [allow("User:x", "READ", "payments.eu"), allow("User:x", "READ", "orders")],
        [allow("User:x", "READ", "pay%ments")],
        [allow("User:x", "READ", "a\\b")],
        [allow("User:x", "ALTER", "kafka-cluster", resource_type="CLUSTER")],
        [allow("User:x", "READ", "*")],
    ]
    for wish in wishes:
        review.submit(change=ask(*wish), actor=ada)
    for prefix in prefixes:
        Grant.objects.create(user=eve, cluster=cluster, role=Role.APPROVER, name_prefix=prefix)
    one_by_one = {change.pk for change in Change.objects.all() if policy.may_approve(change, eve)[0]}

    with django_assert_num_queries(1):
        at_once = {change.pk for change in queries.waiting_for(eve)}

    assert at_once == one_by_one
    listed, found = queries.inbox(eve), queries.inbox(eve, tab="all")
    assert {row.change.pk for row in listed.rows} == one_by_one
    assert {row.change.pk for row in found.rows if row.waits_for_me} == one_by_one
    assert listed.counts["waiting"] == found.counts["waiting"] == len(one_by_one)


def test_nothing_waits_for_the_author_a_viewer_or_who_has_approved(cluster, ask, ada, ben, cho, dot):
    cluster.approvals_needed = 2
    cluster.save()
    change = review.submit(change=ask(WISH), actor=ada)
    review.approve(change=change, reviewer=ben)
    root = User.objects.create_superuser("root")

    waiting = {person.username for person in (ada, ben, cho, dot, root) if queries.waiting_for(person)}

    assert waiting == {"dot", "root"}


def test_what_i_have_approved_waits_for_me_no_longer(cluster, ask, ada, ben):
    cluster.approvals_needed = 2
    cluster.save()
    change = review.submit(change=ask(WISH), actor=ada)
    review.approve(change=change, reviewer=ben)

    assert list(queries.inbox(ben).rows) == []
    row = queries.inbox(ben, tab="all").rows[0]
    assert (row.approvals_given, row.approvals_needed) == (1, 2)


def test_a_draft_is_its_authors_alone(ask, ada, ben, dot):
    draft = ask(WISH)

    assert [row.change for row in queries.inbox(ada, tab="all").rows] == [draft]
    assert list(queries.inbox(ben, tab="all").rows) == []
    assert queries.change_of(dot, draft.pk) is None


def test_changes_of_other_clusters_are_not_there(ask, ada, eve, other_cluster):
    change = review.submit(change=ask(WISH), actor=ada)
    Grant.objects.create(user=eve, cluster=other_cluster, role=Role.ADMINISTRATOR)

    assert queries.change_of(eve, change.pk) is None
    assert queries.inbox(eve, tab="all").counts == {"waiting": 0, "mine": 0, "all": 0}


def test_a_part_of_the_inbox_is_the_same_as_that_part_of_the_whole(ask, ada):
    for number in range(5):
        ask(allow("User:x", "READ", f"topic{number}"))

    rows = queries.inbox(ada, tab="mine").rows

    whole = list(rows)
    assert len(whole) == len(rows) == 5
    assert [*rows[0:2], *rows[2:4], *rows[4:6]] == whole


def test_the_list_asks_the_same_number_of_questions_whatever_its_length(
    ask, ada, django_assert_max_num_queries
):
    for number in range(20):
        review.submit(change=ask(allow("User:x", "READ", f"topic{number}")), actor=ada)

    with django_assert_max_num_queries(5):
        assert len(list(queries.inbox(ada, tab="all").rows)) == 20


def test_the_list_reads_no_acls_of_changes(ask, ada, ben, django_assert_max_num_queries):
    for number in range(3):
        review.submit(
            change=ask(*(allow("User:x", "READ", f"t{number}.{other}") for other in range(5))), actor=ada
        )

    with django_assert_max_num_queries(5) as asked:
        assert len(list(queries.inbox(ben).rows)) == 3

    assert not any('"changes_changeitem"."principal"' in each["sql"] for each in asked.captured_queries)


def test_a_page_shows_effect_steps_approvals_and_what_each_may_do(ask, ada, ben, cho):
    change = review.submit(change=ask(WISH, deny("User:x", "READ", "orders")), actor=ada)

    page = queries.change_page(change, ben)

    assert page.headline == "Waiting for review: 0 of 1 approval."
    assert page.effect is not None
    assert page.effect.gains == 2
    assert [(step.title, len(step.items)) for step in page.steps] == [
        ("Add DENY ACLs", 1),
        ("Add ALLOW ACLs", 1),
    ]
    assert page.reviewers == (ben,)
    assert page.acts["approve"].allowed
    assert page.as_of_now is not None
    assert page.as_of_now.same_effect
    assert len(page.commands) == 2
    assert not queries.change_page(change, ada).acts["approve"].allowed
    assert "somebody else" in queries.change_page(change, ada).acts["approve"].why_not
    assert "may not approve" in queries.change_page(change, cho).acts["approve"].why_not


def test_a_page_tells_when_the_effect_is_not_the_one_submitted(cluster, kafka, ask, ada, ben):
    change = review.submit(change=ask(WISH), actor=ada)
    kafka.edit(add=[deny("User:ledger", "READ", "payments.eu")])
    reread(cluster)

    page = queries.change_page(change, ben)

    assert page.as_of_now is not None
    assert not page.as_of_now.same_effect
    assert page.as_of_now.sentences == (
        "The cluster has changed since this was submitted: 1 ACL was added.",
        "As submitted, User:ledger would gain Read on payments.eu. Now it would not.",
    )


def test_where_too_much_differs_the_page_says_that_it_cannot_tell(cluster, kafka, ask, ada, ben, monkeypatch):
    monkeypatch.setattr("aclweb.changes.drift._MOST_SESSIONS", 0)
    change = review.submit(change=ask(WISH), actor=ada)
    kafka.edit(add=[deny("User:ledger", "READ", "payments.eu")])
    reread(cluster)

    page = queries.change_page(change, ben)

    assert page.as_of_now is not None
    assert not page.as_of_now.same_effect
    assert page.as_of_now.sentences[1] == (
        "Because of that, aclweb cannot tell whether the impact is the same: 2 groups of answers of then and now "
        "differ, too many to compare them session by session. Submit the change again."
    )
    assert not page.acts["approve"].allowed


def test_a_page_tells_what_would_change_now_where_its_acls_exist_already(cluster, kafka, ask, ada, ben):
    other = allow("User:audit", "READ", "payments.us")
    half = review.submit(change=ask(WISH, other), actor=ada)
    whole = review.submit(change=ask(WISH), actor=ada)
    kafka.edit(add=[WISH])
    reread(cluster)

    page, idle = queries.change_page(half, ben), queries.change_page(whole, ben)

    assert page.as_of_now.same_effect
    assert page.acts["approve"].allowed
    assert (page.effect.gains, page.effect_now.gains) == (4, 2)
    assert page.would_now == "1 of its ACLs is in force already. Now shows what the rest would change."
    assert (idle.effect.gains, idle.effect_now.gains) == (2, 0)
    assert idle.would_now == "Its ACL is in force already. Now it would change nothing."


def test_a_removal_that_is_done_already_would_remove_nothing(cluster, kafka, ask, ada, ben):
    bobs = allow("User:bob", "READ", "orders")
    change = review.submit(change=ask(remove=(bobs,)), actor=ada)
    kafka.edit(remove=[bobs])
    reread(cluster)

    page = queries.change_page(change, ben)

    assert (page.effect.loses, page.effect_now.loses) == (2, 0)
    assert page.would_now == "Its ACL is gone already. Now it would change nothing."


def test_a_page_whose_acls_are_all_to_be_written_says_nothing_of_now(cluster, ask, ada, ben):
    page = queries.change_page(review.submit(change=ask(WISH), actor=ada), ben)

    assert (page.would_now, page.effect_now) == ("", None)


def test_the_timeline_is_reported_in_sentences_newest_first(approved, ada, ben):
    change = approved(WISH)
    rollout.apply(change.pk)
    change.refresh_from_db()

    page = queries.change_page(change, ada)

    told = [entry.sentence for entry in page.timeline]
    assert told[0] == "In force: 1 written. Read back and found as approved."
    assert told[-1] == "ada drafted this change: 1 to add."
    assert "ben approved it (1 of 1)." in told
    assert page.progress == (1, 1)
    assert page.acts["undo"].allowed
    assert not page.under_way


def test_a_page_of_an_undo_and_of_the_undone_change_know_each_other(approved, ada):
    change = approved(WISH)
    rollout.apply(change.pk)
    change.refresh_from_db()
    undo = review.draft_undo(change=change, actor=ada)

    assert queries.change_page(change, ada).undo.change == undo
    assert queries.change_page(undo, ada).undo_of == change


def test_a_page_asks_few_questions_whatever_the_length_of_the_change(
    cluster, ask, ada, ben, dot, django_assert_max_num_queries
):
    for number in range(10):
        somebody = User.objects.create_user(f"approver{number}")
        Grant.objects.create(user=somebody, cluster=cluster, role=Role.APPROVER)
    many = [allow("User:x", "READ", f"topic{number}") for number in range(50)]
    change = review.submit(change=ask(*many), actor=ada)
    queries.change_page(change, ben)  # the index is built once a revision
    fresh = queries.change_of(ben, change.pk)
    assert fresh is not None

    with django_assert_max_num_queries(20):
        queries.change_page(fresh, ben)


def test_a_page_after_a_step_shows_it(ask, ada, ben):
    change = review.submit(change=ask(WISH), actor=ada)
    queries.change_page(change, ben)

    change = review.approve(change=change, reviewer=ben)

    assert queries.change_page(change, ben).approvals_given == 1
