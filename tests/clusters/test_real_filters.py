"""Real brokers find, list and delete exactly what our filters find, in long random histories."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pytest

from aclweb.acl.kafka.refusals import Item
from aclweb.acl.matching.filters import AclFilter
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AclBinding
from aclweb.clusters import OutcomeKind, Verb
from aclweb.clusters.admin_api.client import AdminClient
from devstack.servers import KafkaBroker
from tests.clusters.wire import DESCRIBE, Wire
from tests.filter_cases import random_filter, storable_acls
from tests.random_cases import SCALE
from tests.servers import wipe
from tests.validation_cases import EVERYTHING

pytestmark = pytest.mark.kafka

RULES = {"kafka44": AuthorizerSettings(), "kafka39": AuthorizerSettings(authorizer="acl")}
FILTERS = {"kafka44": 2_000, "kafka39": 1_000}
STEPS = 125
# The full scale of other tests is fifty; here each case is a question to a broker.
MORE_FILTERS, MORE_STEPS = (48, 24) if SCALE > 1 else (1, 1)
PATIENCE_SECONDS = 120


class FilteringBroker(KafkaBroker):
    """A broker with what the tests ask of it: its settings, and how many filters."""

    authorizer_settings: AuthorizerSettings
    filters: int


@pytest.fixture(params=sorted(RULES))
def broker(request) -> Iterator[FilteringBroker]:
    broker: FilteringBroker = request.getfixturevalue(request.param)
    broker.authorizer_settings, broker.filters = RULES[request.param], FILTERS[request.param]
    wipe(broker)
    yield broker
    wipe(broker)


def store(wire: Wire, bindings: Sequence[AclBinding]) -> None:
    for start in range(0, len(bindings), 500):
        answers = wire.create([Item.of(binding) for binding in bindings[start : start + 500]])
        assert {answer.code for answer in answers} == {0}
    settle(wire, bindings)


def settle(wire: Wire, expected: Iterable[AclBinding]) -> None:
    """Wait until the broker shows these: KRaft tells a broker of a write a moment after it."""
    wanted, deadline = frozenset(expected), time.monotonic() + PATIENCE_SECONDS
    while (shown := wire.describe(EVERYTHING).found) != wanted:
        assert time.monotonic() < deadline, f"missing {wanted - shown}, more {shown - wanted}"
        time.sleep(0.005)


def test_random_filters_find_on_a_real_broker_what_ours_find(broker):
    rng = random.Random(f"filters {broker.engine}")
    bindings = storable_acls(rng, 300, broker.authorizer_settings)
    filters = [random_filter(rng, bindings) for _ in range(broker.filters * MORE_FILTERS)]
    counts: Counter[int] = Counter()

    with Wire(broker) as wire:
        store(wire, bindings)
        answers = wire.pipelined((DESCRIBE, [Item.of(asked)]) for asked in filters)
        for asked, (answer,) in zip(filters, answers, strict=True):
            expected = frozenset(binding for binding in bindings if asked.matches(binding))
            assert (answer.code, answer.found, answer.times) == (0, expected, len(expected)), asked
            counts[min(len(expected), 3)] += 1

    print(f"{counts.total()} filters by how many ACLs they find (3 = more): {sorted(counts.items())}")
    assert min(counts[0], counts[1], counts[3]) > counts.total() // 20


def test_a_null_finds_everything_where_an_asterisk_finds_only_asterisks(broker):
    rng = random.Random("null")
    bindings = storable_acls(rng, 100, broker.authorizer_settings)
    with Wire(broker) as wire:
        store(wire, bindings)
        for field in ("resource_name", "principal", "host"):
            starred = wire.describe(replace(EVERYTHING, **{field: "*"})).found
            assert starred == {binding for binding in bindings if getattr(binding, field) == "*"}
            assert starred != set(bindings)


def test_a_random_history_of_creations_deletions_and_questions_is_that_of_a_set(broker):
    rng = random.Random(f"history {broker.engine}")
    pool = storable_acls(rng, 250, broker.authorizer_settings)
    held: set[AclBinding] = set()
    done: Counter[str] = Counter()

    with Wire(broker) as wire:
        for _ in range(STEPS * MORE_STEPS):
            step = rng.choice(("create", "create", "delete", "describe", "describe", "describe"))
            done[step] += 1
            if step == "create":
                chosen = [rng.choice(pool) for _ in range(rng.randint(1, 25))]
                assert {answer.code for answer in wire.create([Item.of(one) for one in chosen])} == {0}
                held |= set(chosen)
                settle(wire, held)
            elif step == "delete":
                filters = [random_filter(rng, pool) for _ in range(rng.randint(1, 4))]
                answers = wire.delete([Item.of(asked) for asked in filters])
                assert [answer.found for answer in answers] == deleted(filters, held, broker.engine), filters
                done["deleted"] += len(held)
                held = {one for one in held if not any(asked.matches(one) for asked in filters)}
                done["deleted"] -= len(held)
                settle(wire, held)
            else:
                asked = random_filter(rng, pool)
                assert wire.describe(Item.of(asked)).found == {one for one in held if asked.matches(one)}
    print(sorted(done.items()))
    assert done["deleted"] > 200


def deleted(filters: Sequence[AclFilter], held: set[AclBinding], engine: str) -> list[frozenset[AclBinding]]:
    """Return what each filter is told to have deleted: in ZooKeeper only the first that finds an ACL is told of it."""
    told: list[frozenset[AclBinding]] = []
    left = set(held)
    for asked in filters:
        found = frozenset(one for one in left if asked.matches(one))
        told.append(found)
        if engine == "acl":
            left -= found
    return told


def test_our_own_deletion_takes_exactly_one_acl_whatever_stands_beside_it(broker):
    rng = random.Random("one")
    bindings = storable_acls(rng, 200, broker.authorizer_settings)
    targets = rng.sample(bindings, 60)
    with Wire(broker) as wire:
        store(wire, bindings)
        for target in targets[:30]:
            (answer,) = wire.delete([Item.of(AclFilter.exactly(target))])
            assert answer.found == {target}
        with AdminClient(broker.connection()) as client:
            outcomes = client.write(Verb.REMOVE, targets[30:])
        settle(wire, set(bindings) - set(targets))

    assert {(outcome.kind, outcome.evidence["matched"]) for outcome in outcomes} == {(OutcomeKind.WRITTEN, 1)}
