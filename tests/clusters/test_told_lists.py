"""What is made of the lists of brokers that answer oddly: names that look alike, brokers that load, odd numbers."""

from __future__ import annotations

from types import SimpleNamespace as Answer
from typing import Any, cast

import pytest

from aclweb.acl.model import Operation
from aclweb.clusters import DetailKind, DetailList, Known, Login
from aclweb.clusters.admin_api.details import read_lists
from aclweb.clusters.admin_api.messages import COORDINATOR_LOADING
from aclweb.clusters.admin_api.session import Session
from aclweb.clusters.client import ClusterError, ClusterState

LOADING = min(COORDINATOR_LOADING)


class Brokers:
    """Two brokers that give these answers, one after the other; of what has no answer they are too old."""

    address = "broker:9092"
    nodes = ("one", "two")

    def __init__(self, **answers: list[Any]) -> None:
        self.answers = answers

    def answering(self) -> tuple[str, ...]:
        return self.nodes

    def offers(self, request: type) -> bool:
        return request.__name__.removesuffix("Request") in self.answers

    def ask(self, make: Any, _what: str, *, node: str | None = None) -> Any:
        answer = self.answers[type(make()).__name__.removesuffix("Request")].pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def told(kind: DetailKind, **answers: list[Any]) -> DetailList:
    login = Login("User:aclweb", frozenset({Operation.DESCRIBE}))
    return read_lists(cast(Session, Brokers(**answers)), login, lambda *_asked: True)[kind]


def quota(**entity: str | None) -> Answer:
    parts = [
        Answer(entity_type=kind.replace("_", "-"), entity_name=name) for kind, name in sorted(entity.items())
    ]
    return Answer(entity=parts, values=[Answer(key="producer_byte_rate", value=1.0)])


@pytest.mark.parametrize(
    "entities",
    [
        [{"user": "alice, client-id app"}, {"user": "alice", "client_id": "app"}],
        [{"user": "alice, every other client-id"}, {"user": "alice", "client_id": None}],
        [{"user": '"a, b"'}, {"user": "a, b"}],
        [{"user": ""}, {"user": None}, {"user": '""'}],
        [{"user": "every other user"}, {"user": None}],
    ],
)
def test_no_two_quotas_have_the_same_words(entities):
    answer = Answer(error_code=0, entries=[quota(**entity) for entity in entities])

    found = told(DetailKind.QUOTAS, DescribeClientQuotas=[answer]).details

    assert len({each.name for each in found}) == len(entities)
    assert [each.user for each in found] == [entity["user"] or "" for entity in entities]


def test_a_plain_quota_is_written_without_quotation_marks():
    answer = Answer(error_code=0, entries=[quota(user="CN=alice", client_id=None)])

    found = told(DetailKind.QUOTAS, DescribeClientQuotas=[answer]).details

    assert [each.name for each in found] == ["user CN=alice, every other client-id"]


def ids(*names: str, code: int = 0) -> Answer:
    return Answer(error_code=code, transaction_states=[Answer(transactional_id=name) for name in names])


def test_brokers_that_load_their_transactional_ids_tell_of_none():
    found = told(DetailKind.TRANSACTIONAL_IDS, ListTransactions=[ids(code=LOADING), ids(code=LOADING)])

    assert (found.known, found.has_failed) == (Known.UNKNOWN, True)


@pytest.mark.parametrize("other", [ids(code=LOADING), ClusterError("No.", state=ClusterState.UNREACHABLE)])
def test_ids_of_the_brokers_that_answered_are_some_of_all(other):
    found = told(DetailKind.TRANSACTIONAL_IDS, ListTransactions=[ids("a"), other])

    assert (found.known, [each.name for each in found.details]) == (Known.VISIBLE, ["a"])
    assert found.sentence.startswith("1 broker did not answer")


def test_ids_of_all_brokers_are_all():
    found = told(DetailKind.TRANSACTIONAL_IDS, ListTransactions=[ids("b"), ids("a", "b")])

    assert (found.known, [each.name for each in found.details]) == (Known.ALL, ["a", "b"])
