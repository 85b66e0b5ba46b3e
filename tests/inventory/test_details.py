"""What brokers tell beside ACLs and names is stored by a sync, with its time; what is not known is not called gone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from aclweb.clusters import (
    ClusterError,
    ClusterFacts,
    ClusterState,
    Detail,
    DetailList,
    Details,
    GroupMember,
    GroupType,
    Known,
    ListedGroup,
)
from aclweb.clusters import DetailKind as Kind
from aclweb.inventory.details import limits_words, storing, told_lists_and_groups
from aclweb.inventory.models import DetailsRead, StoredAcl, StoredDetail, StoredGroup
from aclweb.inventory.sync import run as syncing
from aclweb.inventory.sync import sync
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

ERIN = Detail("erin", user="erin", facts={"mechanisms": {"SCRAM-SHA-256": 4096}})
DAVE = Detail("dave", user="dave", facts={"mechanisms": {"SCRAM-SHA-512": 8192}})
MEMBER = GroupMember("orders-app", "10.0.0.7")


def told(
    *users: Detail, known: Known = Known.ALL, groups: tuple[ListedGroup, ...] | None = (), **others: Any
):
    """Return what a cluster tells of SCRAM users and groups."""
    return Details({Kind.SCRAM_USERS: DetailList(known, users, **others)}, groups)


@pytest.fixture
def answers(monkeypatch, cluster) -> Answers:
    answers = Answers(facts=ClusterFacts("the-id"))
    monkeypatch.setattr(syncing, "connect", lambda connection: answers)
    return answers


def read_again(cluster) -> None:
    """Sync as if the last reading of details were long ago."""
    DetailsRead.objects.filter(cluster=cluster).update(at=timezone.now() - timedelta(days=1))
    assert sync(cluster).read


def there(cluster) -> list[str]:
    return [each.name for each in StoredDetail.objects.filter(cluster=cluster, gone_at=None)]


def test_a_sync_stores_what_brokers_tell_with_its_time(answers, cluster):
    answers.details = told(ERIN, DAVE)

    before = timezone.now()
    assert sync(cluster).read

    assert there(cluster) == ["dave", "erin"]
    row = DetailsRead.objects.get(cluster=cluster, kind="scram-users")
    assert (row.kind, row.known, row.count, row.problem) == ("scram-users", "all", 2, "")
    assert row.at >= before


def test_acls_are_stored_before_anything_else_is_asked_for(answers, cluster, monkeypatch):
    stored: list[int] = []

    def late(_settings: object) -> None:
        stored.append(StoredAcl.objects.filter(cluster=cluster).count())

    answers.bindings = [allow("User:bob", "READ", "orders")]
    monkeypatch.setattr(answers, "read_details", late)

    assert sync(cluster).changed
    assert stored == [1]
    assert answers.closed


def test_what_is_not_due_is_not_read_again(answers, cluster):
    answers.details = told(ERIN)
    sync(cluster)
    answers.details = told(ERIN, DAVE)

    sync(cluster)
    assert there(cluster) == ["erin"]
    read_again(cluster)
    assert there(cluster) == ["dave", "erin"]


def test_what_a_complete_list_lacks_is_gone_and_kept_as_history(answers, cluster):
    answers.details = told(ERIN, DAVE)
    sync(cluster)
    answers.details = told(DAVE)
    read_again(cluster)

    gone = StoredDetail.objects.get(cluster=cluster, name="erin")
    assert gone.gone_at >= gone.first_at
    assert there(cluster) == ["dave"]


def test_another_mechanism_is_a_new_row_and_the_old_one_is_kept(answers, cluster):
    answers.details = told(ERIN)
    sync(cluster)
    answers.details = told(Detail("erin", user="erin", facts={"mechanisms": {"SCRAM-SHA-512": 4096}}))
    read_again(cluster)

    old, new = StoredDetail.objects.filter(cluster=cluster).order_by("pk")
    assert (old.facts, old.gone_at is None) == ({"mechanisms": {"SCRAM-SHA-256": 4096}}, False)
    assert (new.facts, new.gone_at) == ({"mechanisms": {"SCRAM-SHA-512": 4096}}, None)


def test_a_list_that_may_lack_some_calls_nothing_gone(answers, cluster):
    answers.details = told(ERIN, DAVE)
    sync(cluster)
    answers.details = told(DAVE, known=Known.VISIBLE, sentence="Only some.", command="kafka-acls …")
    read_again(cluster)

    assert not StoredDetail.objects.filter(cluster=cluster, gone_at__isnull=False).exists()
    assert there(cluster) == ["dave"]
    row = DetailsRead.objects.get(cluster=cluster, kind="scram-users")
    assert (row.known, row.sentence, row.command) == ("visible", "Only some.", "kafka-acls …")


def test_a_right_that_is_lost_makes_a_list_unknown_and_takes_nothing_away(answers, cluster):
    answers.details = told(ERIN, DAVE)
    sync(cluster)
    answers.details = told(known=Known.UNKNOWN, sentence="That needs Describe.")
    read_again(cluster)

    assert there(cluster) == ["dave", "erin"]
    assert DetailsRead.objects.get(cluster=cluster, kind="scram-users").known == "unknown"

    answers.details = told(ERIN)
    read_again(cluster)
    assert there(cluster) == ["erin"]


def test_a_list_that_failed_stays_as_it_was_with_the_reason(answers, cluster):
    answers.details = told(ERIN)
    sync(cluster)
    at = DetailsRead.objects.get(cluster=cluster, kind="scram-users").at
    answers.details = told(known=Known.UNKNOWN, sentence="No broker answered.", has_failed=True)
    read_again(cluster)

    row = DetailsRead.objects.get(cluster=cluster, kind="scram-users")
    assert (row.known, row.count, row.problem) == ("all", 1, "No broker answered.")
    assert row.at < at
    assert there(cluster) == ["erin"]


@pytest.mark.parametrize("error", [ClusterError("No.", state=ClusterState.UNREACHABLE), ValueError("no")])
def test_a_sync_of_acls_does_not_fail_for_what_is_told_beside_them(answers, cluster, error):
    answers.details = told(ERIN)
    answers.fails["read_details"] = error

    assert sync(cluster).read
    assert there(cluster) == []


def test_another_cluster_behind_the_address_tells_nothing_of_this_one(answers, cluster):
    answers.details = told(ERIN)
    sync(cluster)
    answers.facts, answers.details = ClusterFacts("another-id"), told(DAVE)
    DetailsRead.objects.update(at=timezone.now() - timedelta(days=1))

    assert sync(cluster).held
    assert there(cluster) == ["erin"]


def test_groups_are_stored_with_their_types_and_members(answers, cluster):
    groups = (ListedGroup("billing", GroupType.CLASSIC), ListedGroup("shop", GroupType.SHARE))
    answers.details, answers.members = told(groups=groups), {"billing": (MEMBER,)}
    sync(cluster)

    billing, shop = StoredGroup.objects.filter(cluster=cluster).order_by("name")
    assert (billing.type, billing.state, billing.members, billing.members_total) == (
        "classic",
        "Stable",
        [{"client_id": "orders-app", "host": "10.0.0.7", "instance_id": ""}],
        1,
    )
    assert (shop.type, shop.members, shop.described_at) == ("share", None, None)

    answers.details = replace(told(groups=(ListedGroup("shop"),)), groups_of_all=False)
    read_again(cluster)  # the broker of billing did not answer
    assert StoredGroup.objects.get(name="billing").members_total == 1

    answers.details = told(groups=(ListedGroup("shop", GroupType.CONSUMER),))
    read_again(cluster)
    assert list(StoredGroup.objects.values_list("name", "type")) == [("shop", "consumer")]


def test_the_groups_take_turns_and_those_asked_for_come_first(answers, cluster, settings):
    settings.ACLWEB_GROUPS_DESCRIBED_AT_ONCE = 2
    names = ["a", "b", "c", "d", "e"]
    answers.details = told(groups=tuple(ListedGroup(name) for name in names))
    answers.members = dict.fromkeys(names, (MEMBER,))
    sync(cluster)
    read_again(cluster)
    StoredGroup.objects.filter(name="b").update(asked_at=timezone.now())
    sync(cluster)  # at once, since somebody asked
    sync(cluster)

    assert [sorted(asked) for asked in answers.asked_about] == [["a", "b"], ["c", "d"], ["b", "e"]]


def test_of_a_large_group_the_first_members_are_kept_and_all_are_counted(answers, cluster):
    answers.details = told(groups=(ListedGroup("billing"),))
    answers.members = {"billing": (MEMBER,) * 700}
    sync(cluster)

    row = StoredGroup.objects.get()
    assert (len(row.members), row.members_total) == (500, 700)


def test_an_unchanged_list_writes_one_row_however_long_it_is(answers, cluster, django_assert_max_num_queries):
    answers.details = told(*(Detail(f"user-{number}", user=f"user-{number}") for number in range(3000)))
    sync(cluster)
    DetailsRead.objects.update(at=timezone.now() - timedelta(days=1))

    with django_assert_max_num_queries(40):
        sync(cluster)
    assert StoredDetail.objects.count() == 3000


def test_a_group_of_which_no_broker_answers_does_not_hold_up_the_others(answers, cluster, settings):
    settings.ACLWEB_GROUPS_DESCRIBED_AT_ONCE = 1
    answers.details = told(groups=(ListedGroup("a"), ListedGroup("b")))
    answers.members = {"b": (MEMBER,)}
    sync(cluster)
    read_again(cluster)

    assert [asked[0] for asked in answers.asked_about] == ["a", "b"]
    assert StoredGroup.objects.get(name="a").described_at is None


@pytest.mark.parametrize(("value", "stored"), [(float("inf"), "inf"), (float("nan"), "nan")])
def test_a_limit_that_json_does_not_have_holds_up_no_list(answers, cluster, value, stored):
    quota = Detail("user erin", user="erin", facts={"limits": {"producer_byte_rate": value}})
    answers.details = Details(
        {Kind.QUOTAS: DetailList(Known.ALL, (quota,)), Kind.TOKENS: DetailList(Known.ALL)}, None
    )
    sync(cluster)

    row = StoredDetail.objects.get(kind="quotas")
    assert row.facts == {"limits": {"producer_byte_rate": stored}}
    assert "producer_byte_rate" in limits_words(row)
    assert DetailsRead.objects.get(kind="tokens").known == "all"


def test_a_list_that_was_stored_by_half_is_stored_whole_by_the_next_read(answers, cluster, monkeypatch):
    answers.details = told(ERIN)
    sync(cluster)
    answers.details = told(DAVE)
    with monkeypatch.context() as cut:
        cut.setattr(storing, "insert", fail)
        read_again(cluster)
    assert there(cluster) == []
    answers.details = told(ERIN)  # as before the cut
    read_again(cluster)

    assert there(cluster) == ["erin"]


def fail(*_given: Any) -> None:
    raise OSError("The database is gone.")


def test_an_older_sync_takes_nothing_back_that_a_later_one_stored(answers, cluster):
    answers.details = told(ERIN)
    sync(cluster)
    stored = DetailsRead.objects.get(kind="scram-users")
    DetailsRead.objects.update(reading=stored.reading + 2)
    answers.details = told(DAVE)
    read_again(cluster)

    assert there(cluster) == ["erin"]
    assert DetailsRead.objects.get(kind="scram-users").digest == stored.digest


def read_again_after(cluster, days: int) -> None:
    StoredDetail.objects.filter(cluster=cluster, gone_at__isnull=False).update(
        gone_at=timezone.now() - timedelta(days=days)
    )
    read_again(cluster)


@pytest.mark.parametrize(("days", "kept"), [(storing.DAYS_KEPT - 1, 1), (storing.DAYS_KEPT + 1, 0)])
def test_who_was_a_scram_user_long_ago_is_forgotten(answers, cluster, days, kept):
    answers.details = told(ERIN, DAVE)
    sync(cluster)
    answers.details = told(DAVE)
    read_again(cluster)
    answers.details = told(DAVE, Detail("ann", user="ann"))
    read_again_after(cluster, days)

    assert StoredDetail.objects.filter(name="erin").count() == kept
    assert there(cluster) == ["ann", "dave"]


@pytest.mark.parametrize("kind", [Kind.TRANSACTIONAL_IDS, Kind.TOKENS])
def test_ids_and_tokens_that_come_and_go_take_no_room(answers, cluster, kind):
    for number in range(3):
        one = Detail("same", facts={"issued": number}), Detail(f"new-{number}")
        answers.details = Details({kind: DetailList(Known.ALL, one)}, None)
        read_again(cluster)

    assert sorted(StoredDetail.objects.values_list("name", flat=True)) == ["new-2", "same"]
    assert StoredDetail.objects.get(name="same").facts == {"issued": 2}


def test_the_types_of_groups_come_with_the_most_frequent_first(answers, cluster):
    kinds = [GroupType.SHARE, *[GroupType.CONSUMER] * 3, *[GroupType.UNKNOWN] * 2]
    answers.details = told(groups=tuple(ListedGroup(f"g-{at}", kind) for at, kind in enumerate(kinds)))
    sync(cluster)
    row = DetailsRead.objects.get(kind="groups")
    row.figures["types"] = dict(sorted(row.figures["types"].items()))  # as PostgreSQL gives it
    row.save()

    assert told_lists_and_groups(cluster)[1].words == "3 consumer, 2 of unknown type, 1 share"
