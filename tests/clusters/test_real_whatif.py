"""What a what-if says of a change, real clients meet: each decision is probed before and after, for random changes.

The changes follow each other on one broker, so that what is probed after one is what is before the next.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import pytest

from aclweb.acl.authorizer import AclIndex, Result, decide
from aclweb.acl.model import AccessRequest, AclBinding, AuthorizerSettings, Delta
from aclweb.acl.simulate import Impact, simulate
from devstack.servers import KafkaBroker
from tests.builders import acl
from tests.clusters.probing import GROUP, HOST, ID, TOPIC, USERS, Asked, Ground, Probe, met, probes_of
from tests.random_cases import SCALE
from tests.servers import settle

pytestmark = pytest.mark.kafka

BROKERS = {
    "kafka44": AuthorizerSettings("standard", "4.4", super_users=frozenset({"User:admin"})),
    "kafka39": AuthorizerSettings("acl", "3.9", super_users=frozenset({"User:admin"})),
}
CHANGES = 100 if SCALE > 1 else 6
OPERATIONS = {
    TOPIC: ("READ", "WRITE", "DESCRIBE", "CREATE", "DELETE", "ALTER", "DESCRIBE_CONFIGS", "ALTER_CONFIGS"),
    GROUP: ("READ", "DESCRIBE", "DELETE"),
    ID: ("WRITE", "DESCRIBE"),
}
MOST_ACLS = 14


def random_acl(chance: random.Random, ground: Ground, engine: str) -> AclBinding:
    kind = chance.choice((TOPIC, TOPIC, GROUP, ID))
    name, pattern = chance.choice(
        (
            (chance.choice(ground.of_type(kind)), "LITERAL"),
            (chance.choice(ground.prefixes), "PREFIXED"),
            ("*", "LITERAL"),
        )
    )
    ranges = ("127.0.0.0/8", "10.0.0.0/8") if engine == "standard" else ()
    return acl(
        "DENY" if chance.random() < 0.25 else "ALLOW",
        chance.choice((*(f"User:{user}" for user in USERS), "User:*")),
        chance.choice(("ALL", *OPERATIONS[kind])),
        name,
        pattern=pattern,
        resource_type=kind.name,
        host=chance.choice(("*", "*", HOST, "10.0.0.7", *ranges)),
    )


def random_change(chance: random.Random, ground: Ground, engine: str, present: Sequence[AclBinding]) -> Delta:
    """Return a change of up to five ACLs; what is present does not grow for ever."""
    added = {random_acl(chance, ground, engine) for _ in range(chance.randint(0, 3))} - set(present)
    least = 0 if added else 1
    fewest = max(least, len(present) + len(added) - MOST_ACLS)
    removed = chance.sample(present, min(len(present), chance.randint(fewest, max(fewest, 2))))
    if not added and not removed:
        added = {random_acl(chance, ground, engine)}
    return Delta(tuple(sorted(added, key=str)), tuple(removed))


# --- what is foretold ---


def change_of(impact: Impact, asked: Asked) -> str | None:
    """Return the list of the impact that holds a cell, None for an unchanged one."""
    user, operation, kind, name = asked
    axis = impact.axes.names.get(kind)
    if axis is None:
        return None
    place = axis.place_of(name)
    if place < 0:
        longest = max((own for own in axis.prefixes if name.startswith(own)), key=len, default=None)
        place = axis.size - 1 if longest is None else len(axis.exact) + list(axis.prefixes).index(longest)
    who, where = impact.axes.principals.one(f"User:{user}"), impact.axes.hosts.one(HOST)
    found = [
        group.change
        for group in impact.groups
        if group.resource_type is kind
        and operation in group.operations
        and group.principals & who
        and group.hosts & where
        and group.names >> place & 1
    ]
    assert len(found) <= 1
    return found[0] if found else None


def foretold(was: dict[Asked, bool], impact: Impact) -> dict[Asked, bool]:
    """Return what clients will meet. Fails where they met before what the what-if does not say."""
    comes: dict[Asked, bool] = {}
    for asked, allowed in was.items():
        change = change_of(impact, asked)
        if change is not None:
            assert allowed == (change != "gains"), (asked, change)
        comes[asked] = change != "loses" if change is not None else allowed
    return comes


@pytest.fixture(params=BROKERS)
def probing(request, fresh) -> Iterator[tuple[KafkaBroker, AuthorizerSettings, Ground, list[Probe]]]:
    """A real broker without ACLs, its settings, the topics of the changes, and clients of three users."""
    broker: KafkaBroker = request.getfixturevalue(request.param)
    with probes_of(broker, fresh) as (ground, probes):
        yield broker, BROKERS[request.param], ground, probes


def test_real_clients_meet_what_the_what_if_of_each_random_change_says(probing) -> None:
    broker, settings, ground, probes = probing
    chance = random.Random(f"what-ifs on {broker.engine}")
    present: list[AclBinding] = []
    seen: Counter[str] = Counter()
    was = met(probes)
    assert not any(was.values())
    for _ in range(CHANGES):
        delta = random_change(chance, ground, broker.engine, present)
        impact = simulate(delta, AclIndex(present), ground.names, settings)
        expected = foretold(was, impact)
        settle(broker, add=delta.add, remove=delta.remove)
        is_now = met(probes, expected)
        present = list(delta.applied_to(present))
        wrong = {asked: allowed for asked, allowed in is_now.items() if allowed != expected[asked]}
        assert wrong == {}, (delta, present)
        assert is_now == {asked: decided(asked, present, settings) for asked in is_now}
        seen.update(str(change_of(impact, asked)) for asked in is_now)
        was = is_now
    print(f"{CHANGES} changes, {len(was)} decisions before and after each: {dict(seen)}")
    assert min(seen["gains"], seen["loses"], seen["None"]) > 0


def decided(asked: Asked, present: Iterable[AclBinding], settings: AuthorizerSettings) -> bool:
    user, operation, kind, name = asked
    request = AccessRequest(f"User:{user}", HOST, operation, kind, name)
    return decide(request, AclIndex(present), settings)[0] is Result.ALLOWED
