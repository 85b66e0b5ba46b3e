"""What an edit is said to change is what it changes: held against every single question."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from ipaddress import ip_network
from typing import Any

import pytest

from aclweb.acl.authorizer.answers import Basis, Result
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.matching.addresses import as_java_prints
from aclweb.acl.matching.hosts import in_range, read_range
from aclweb.acl.model.authorizers import OPERATIONS, AuthorizerSettings, operations_of
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import (
    AccessRequest,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    split_principal,
)
from aclweb.acl.simulate import Effect, Impact, Names, simulate
from tests import reference
from tests.builders import acl, allow, deny, topic
from tests.random_cases import (
    HOSTS,
    PRINCIPALS,
    SCALE,
    World,
    random_binding,
    random_name,
    random_settings,
    random_world,
    with_unknowns,
)

CHUNKS = 4
SEEDS_PER_CHUNK = 10 * SCALE
FREE_NAMES = (ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)

NEW_NAMES = {
    ResourceType.TOPIC: "new_topics",
    ResourceType.GROUP: "new_groups",
    ResourceType.TRANSACTIONAL_ID: "new_transactional_ids",
}


@dataclass(frozen=True)
class Case:
    before: World
    after: World
    delta: Delta
    names: Names

    @property
    def bindings(self) -> set[AclBinding]:
        return {*self.before.bindings, *self.after.bindings}

    @property
    def standard(self) -> bool:
        return self.before.settings.is_standard or self.after.settings.is_standard

    @property
    def principals(self) -> set[str]:
        named = {b.principal for b in self.bindings if split_principal(b.principal)} - {"User:*"}
        return (
            named
            | self.before.settings.super_users
            | self.after.settings.super_users
            | set(self.names.principals)
        )

    @property
    def reads_ranges(self) -> bool:
        return self.before.settings.cidr_hosts or self.after.settings.cidr_hosts

    @cached_property
    def hosts(self) -> set[str]:
        return {b.host for b in self.bindings} - {"*"} | set(self.names.hosts)

    def exact(self, resource_type: ResourceType) -> set[str]:
        """The names with answers of their own, said anew and not as the simulation does."""
        if resource_type is ResourceType.CLUSTER:
            return {"kafka-cluster"}
        given: set[str] = set()
        if resource_type is ResourceType.TOPIC:
            given = set(self.names.topics)
        if resource_type is ResourceType.GROUP:
            given = set(self.names.groups)
        given |= self.new(resource_type)
        of_type = [b for b in self.bindings if b.resource_type is resource_type]
        given |= {b.resource_name for b in of_type if b.pattern_type is PatternType.LITERAL} - {"*"}
        if any(b.pattern_type is PatternType.PREFIXED and not b.resource_name for b in of_type) and not (
            self.before.settings.is_standard and self.after.settings.is_standard
        ):
            given.add("")
        if "*" in self.prefixes(resource_type) and resource_type in FREE_NAMES:
            given.add("*")
        return given | (set(self.names.groups) & {"*"} if resource_type is ResourceType.GROUP else set())

    def new(self, resource_type: ResourceType) -> set[str]:
        field = NEW_NAMES.get(resource_type)
        return set() if field is None else set(getattr(self.names, field))

    def prefixes(self, resource_type: ResourceType) -> set[str]:
        if resource_type is ResourceType.CLUSTER:
            return set()
        of_type = [b for b in self.bindings if b.resource_type is resource_type]
        prefixes = {b.resource_name for b in of_type if b.pattern_type is PatternType.PREFIXED}
        if not self.standard:
            prefixes -= {""}
        starred = any(b.pattern.is_wildcard for b in of_type)
        if self.standard and starred and resource_type in FREE_NAMES:
            prefixes.add("*")
        return prefixes

    def classes(self, resource_type: ResourceType) -> list[tuple[str, str, list[str]]]:
        """(kind, text, some names of the class) for every class of names of a type."""
        exact, prefixes = self.exact(resource_type), self.prefixes(resource_type)
        found = [("EXACT", name, [name]) for name in exact]
        found += [("PREFIX", prefix, self._future(resource_type, prefix)) for prefix in prefixes]
        if "" not in prefixes and resource_type is not ResourceType.CLUSTER:
            found.append(("ANY_OTHER", "", self._future(resource_type, "")))
        return found

    def _future(self, resource_type: ResourceType, start: str) -> list[str]:
        exact, prefixes = self.exact(resource_type), self.prefixes(resource_type)
        candidates = [start, *(start + tail for tail in ("a", "b", "zq", "-", "~~", "\U0001f600x"))]
        return [
            name
            for name in candidates
            if name not in exact
            and not any(name.startswith(p) and len(p) > len(start) for p in prefixes)
            and name not in ("", "*")
        ]

    def on(self, resource_type: ResourceType, name: str) -> Case:
        """The same with the ACLs alone that cover a name."""

        def near(world: World) -> World:
            covering = (b for b in world.bindings if reference.covers(b, resource_type, name, world.settings))
            return World(tuple(covering), world.settings)

        return Case(near(self.before), near(self.after), self.delta, self.names)


def cluster_acls(seed: int) -> list[AclBinding]:
    rng = random.Random(f"cluster {seed}")
    return [
        acl(
            rng.choice(("ALLOW", "ALLOW", "DENY")),
            rng.choice((*PRINCIPALS[:2], "User:*")),
            rng.choice(("ALL", "DELETE", "CREATE", "ALTER")),
            *rng.choice((("kafka-cluster",), ("*",))),
            resource_type="CLUSTER",
            host=rng.choice(("*", "*", HOSTS[0], "10.0.0.0/24")),
        )
        for _ in range(rng.choice((0, 0, 1, 2)))
    ]


def random_edit(seed: int) -> Case:
    rng = random.Random(f"what-if {seed}")
    world = random_world(rng, most=9)
    world = replace(world, bindings=(*world.bindings, *cluster_acls(seed)))
    topics = tuple(sorted({random_name(rng, world.settings) for _ in range(2)} - {""}))
    groups = tuple(sorted({random_name(rng, world.settings) for _ in range(2)}))
    near = [b.resource_name for b in world.bindings]
    add = [random_binding(rng, world.settings, near) for _ in range(rng.choice((0, 1, 1, 2)))]
    remove = [b for b in world.bindings if rng.random() < 0.2]
    delta = Delta(tuple(b for b in add if b not in remove), tuple(remove))
    new = [("abc",) if rng.random() < 0.2 else () for _ in range(3)]
    names = Names(
        topics=topics,
        groups=groups,
        principals=tuple(rng.sample(PRINCIPALS, 1)),
        hosts=tuple(rng.sample(HOSTS, 2)),
        new_topics=tuple(name for name in new[0] if name not in topics),
        new_groups=tuple(name for name in new[1] if name not in groups),
        new_transactional_ids=new[2],
    )
    settings = world.settings
    if rng.random() < 0.25:
        settings = rng.choice(
            (
                replace(settings, allow_everyone=not settings.allow_everyone),
                replace(settings, super_users=frozenset({"User:a"})),
                AuthorizerSettings("standard", allow_everyone=settings.allow_everyone),
                AuthorizerSettings("acl", allow_everyone=settings.allow_everyone),
            )
        )
        if settings.is_standard:
            # Names for the ZooKeeper authorizer may begin with what KRaft cannot answer for.
            below = [b for b in (*world.bindings, *delta.add) if b.resource_name[:1] in (" ", "#")]
            if below or any(name[:1] in (" ", "#") for name in (*topics, *groups)):
                settings = world.settings
    after = World(delta.applied_to(world.bindings), settings)
    return Case(World(tuple(dict.fromkeys(world.bindings)), world.settings), after, delta, names)


def holds_for(effect: Effect, principal: str, host: str) -> bool:
    return (
        effect.principal in ("*", principal)
        and effect.host in ("*", host)
        and principal not in effect.except_principals
        and host not in effect.except_hosts
    )


def by_place(impact: Impact) -> dict[tuple[object, ...], list[tuple[str, Effect]]]:
    places: dict[tuple[object, ...], list[tuple[str, Effect]]] = {}
    for change in ("gains", "loses", "recovered", "depends"):
        for effect in getattr(impact, change):
            place = (effect.resource_type, effect.operation, effect.names_kind, effect.names_text)
            places.setdefault(place, []).append((change, effect))
    return places


def told(
    request: AccessRequest, bindings: Iterable[AclBinding], settings: AuthorizerSettings
) -> tuple[str, str]:
    """The authorizer's answer, where a broker of this world asks it: only KRaft asks for Delete on the cluster."""
    deletes_topics = request.resource_type is ResourceType.CLUSTER and request.operation is Operation.DELETE
    if deletes_topics and settings.authorizer == "acl" and request.principal not in settings.super_users:
        return "DENIED", "NOT_ASKED"
    return reference.answer(request, bindings, settings)


def expected_change(case: Case, request: AccessRequest) -> str | None:
    before = told(request, case.before.bindings, case.before.settings)
    after = told(request, case.after.bindings, case.after.settings)
    if request.resource_name in case.new(request.resource_type):
        return "gains" if after[0] == "ALLOWED" and after[1] != "SUPER_USER" else None
    if before[0] != after[0]:
        return "gains" if after[0] == "ALLOWED" else "loses"
    if before[0] == "DENIED":
        return None
    if before[1] != after[1]:
        return "recovered"
    if before[1] != "ALLOW_ACL":
        return None
    old, new = allowing(case.before, request), allowing(case.after, request)
    return "recovered" if old.isdisjoint(new) else None


def allowing(world: World, request: AccessRequest) -> set[AclBinding]:
    assert request.resource_name is not None
    return {
        b
        for b in world.bindings
        if b.permission_type is PermissionType.ALLOW
        and reference.covers(b, request.resource_type, request.resource_name, world.settings)
        and reference.matches_entry(b, request, world.settings)
    }


def check_side(effect: Effect, request: AccessRequest, world: World, *, before: bool) -> None:
    side = effect.before if before else effect.after
    if side is None:
        return
    answer = told(request, world.bindings, world.settings)
    assert (side.result.value, side.basis.value) == answer
    alone = told(request, side.determining, world.settings)
    if side.determining:
        assert alone == answer
    if side.basis is Basis.ALLOW_ACL:
        assert set(side.determining) == allowing(world, request)


def check_case(case: Case, seen: Counter[str]) -> None:
    index = AclIndex(case.before.bindings)
    impact = simulate(case.delta, index, case.names, case.before.settings, case.after.settings)
    places = by_place(impact)
    principals = [*sorted(case.principals), "Other:nobody-names-me"]
    addresses = list(dict.fromkeys(addresses_asked(case)))
    cells = covered = 0
    for resource_type in OPERATIONS:
        operations = {
            *operations_of(resource_type, case.before.settings),
            *operations_of(resource_type, case.after.settings),
        }
        for kind, text, names in case.classes(resource_type):
            cells += len(operations) * len(principals) * (len(case.hosts) + 1)
            on_names = {name: case.on(resource_type, name) for name in names}
            for operation in operations:
                effects = places.pop((resource_type, operation, kind, text), [])
                covered += sum(effect.cells for _, effect in effects)
                for name in names if effects else names[:2]:
                    on_name = on_names[name]
                    for principal in principals:
                        for host, address in addresses:
                            request = AccessRequest(principal, address, operation, resource_type, name)
                            found = [pair for pair in effects if holds_for(pair[1], principal, host)]
                            expected = expected_change(on_name, request)
                            check_cell(on_name, request, host, found, expected)
                            seen[expected or "unchanged"] += 1
    assert not places, "an effect stands for a class of names that does not exist"
    assert impact.unchanged == cells - covered
    assert not impact.depends, "every address is in the row of a range, or outside all of them"
    assert_cells_are_counted(case, impact)


def addresses_asked(case: Case) -> Iterator[tuple[str, str]]:
    """Yield addresses, each after the host whose answers it gets: itself, the narrowest range, or any other."""
    asked = [*sorted(case.hosts), "172.16.0.1", "2001:db8:0:0:0:0:0:9", "10.0.0.14"]
    if not case.reads_ranges:
        yield from ((host, host) for host in asked)
        return
    for host in asked:
        addresses = edges_of(host) if read_range(host) is not None else [host]
        for address in addresses:
            around = [own for own in case.hosts if in_range(own, address)]
            narrowest = max(around, key=lambda own: ip_network(own, strict=False).prefixlen, default=address)
            yield address if address in case.hosts else narrowest, address


def edges_of(text: str) -> list[str]:
    """Return addresses on both sides of the edges of a range, and some that are further inside."""
    network = ip_network(text, strict=False)
    first, last = int(network.network_address), int(network.broadcast_address)
    numbers = (first - 1, first, first + 9, last - 1, last, last + 1)
    most = 2**network.max_prefixlen
    return [as_java_prints(str(type(network[0])(number))) for number in numbers if 0 <= number < most]


def check_cell(
    on_name: Case,
    request: AccessRequest,
    host: str,
    found: list[tuple[str, Effect]],
    expected: str | None,
) -> None:
    if not found:
        assert expected is None, (request, host, expected)
        return
    [(change, effect)] = found
    assert change == expected, (request, effect)
    check_side(effect, request, on_name.before, before=True)
    check_side(effect, request, on_name.after, before=False)


def assert_cells_are_counted(case: Case, impact: Impact) -> None:
    principals = [*sorted(case.principals), "Other:nobody-names-me"]
    hosts = [*sorted(case.hosts), "host nobody names"]
    for effect in (*impact.gains, *impact.loses, *impact.recovered, *impact.depends):
        held = [(p, h) for p in principals for h in hosts if holds_for(effect, p, h)]
        assert effect.cells == len(held)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_every_difference_is_reported_once_and_nothing_else(chunk: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(chunk * SEEDS_PER_CHUNK, (chunk + 1) * SEEDS_PER_CHUNK):
        case = random_edit(seed)
        try:
            check_case(case, seen)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    print(dict(seen))
    assert min(seen[kind] for kind in ("gains", "loses", "recovered", "unchanged")) > 10, seen


def test_an_allow_for_one_principal_matches_only_that_principal() -> None:
    index = AclIndex([allow("User:ada", "READ", "orders.eu")])
    names = Names(topics=("orders.eu", "orders.us", "billing"))

    impact = simulate(Delta(add=(allow("User:bob", "READ", "orders.", pattern="PREFIXED"),)), index, names)

    assert {(e.principal, e.host, e.operation.name, e.names_text) for e in impact.gains} == {
        ("User:bob", "*", operation, text)
        for operation in ("READ", "DESCRIBE")
        for text in ("orders.eu", "orders.us", "orders.")
    }
    assert (impact.loses, impact.recovered, impact.depends) == ((), (), ())
    assert impact.resources == (topic("orders.eu"), topic("orders.us"))


def test_equal_cells_fold_into_everyone_with_the_exceptions_named() -> None:
    index = AclIndex([allow("User:*", "READ", "orders"), deny("User:eve", "READ", "orders", host="10.0.0.7")])
    delta = Delta(remove=(allow("User:*", "READ", "orders"),))

    impact = simulate(
        delta, index, Names(topics=("orders",)), AuthorizerSettings(super_users=frozenset({"User:root"}))
    )

    reads = [effect for effect in impact.loses if effect.operation is Operation.READ]
    assert [(e.principal, e.except_principals, e.host, e.except_hosts) for e in reads] == [
        ("*", ("User:eve", "User:root"), "*", ()),
        ("User:eve", (), "*", ("10.0.0.7",)),
    ]


def test_the_first_acl_on_an_open_topic_shuts_the_others_out_and_says_so() -> None:
    delta = Delta(add=(allow("User:ada", "READ", "orders"),))
    open_rules = AuthorizerSettings(allow_everyone=True)

    impact = simulate(delta, AclIndex(), Names(topics=("orders",)), open_rules)

    [reads] = [effect for effect in impact.loses if effect.operation is Operation.READ]
    assert (reads.principal, reads.except_principals) == ("*", ("User:ada",))
    assert any("first ACLs on topic orders" in warning for warning in impact.warnings)


def test_the_last_acl_off_a_topic_opens_it_where_no_acl_means_everyone() -> None:
    refusal = deny("User:eve", "ALL", "orders")

    impact = simulate(
        Delta(remove=(refusal,)),
        AclIndex([refusal]),
        Names(topics=("orders",)),
        AuthorizerSettings(allow_everyone=True),
    )

    assert any(effect.principal == "*" for effect in impact.gains)
    assert any("last ACLs on topic orders" in warning for warning in impact.warnings)


ON_ALL_GROUPS = deny("User:eve", "READ", "*", resource_type="GROUP")
ON_THE_EMPTY_PREFIX = deny("User:eve", "READ", "", pattern="PREFIXED", resource_type="GROUP")


@pytest.mark.parametrize(
    ("binding", "before", "after", "said"),
    [
        (
            ON_ALL_GROUPS,
            AuthorizerSettings(authorizer="acl"),
            AuthorizerSettings(),
            "KRaft's authorizer skips LITERAL * for longer names that begin with an asterisk. These have no ACL "
            "any longer: any other group that starts with *; only super users may use them from then on.",
        ),
        (
            ON_ALL_GROUPS,
            AuthorizerSettings(authorizer="acl"),
            AuthorizerSettings(allow_everyone=True),
            "KRaft's authorizer skips LITERAL * for longer names that begin with an asterisk. These have no ACL "
            "any longer: any other group that starts with *; everyone may use them from then on.",
        ),
        (
            ON_ALL_GROUPS,
            AuthorizerSettings(allow_everyone=True),
            AuthorizerSettings(authorizer="acl"),
            "Only KRaft's authorizer skips LITERAL * for longer names that begin with an asterisk, so ACLs "
            "now match any other group that starts with *: everyone may use them today, and from then on only "
            "those "
            "whom an ACL allows.",
        ),
        (
            ON_THE_EMPTY_PREFIX,
            AuthorizerSettings(),
            AuthorizerSettings(authorizer="acl"),
            "AclAuthorizer takes the empty prefix for the empty name alone. These have no ACL any longer: "
            "every group (none known now, and all to come), except ''; only super users may use them from then on.",
        ),
    ],
)
def test_a_pattern_that_is_read_otherwise_is_no_acl_that_comes_or_goes(
    binding: AclBinding, before: AuthorizerSettings, after: AuthorizerSettings, said: str
) -> None:
    impact = simulate(Delta(), AclIndex([binding]), None, before, after)

    assert [
        warning
        for warning in impact.warnings
        if "prefix" in warning or "asterisk" in warning or "ACLs on" in warning
    ] == [said]


def test_an_acl_that_goes_where_acls_change_too_is_still_the_last_one() -> None:
    delta = Delta(remove=(ON_ALL_GROUPS,))

    impact = simulate(
        delta, AclIndex([ON_ALL_GROUPS]), None, AuthorizerSettings(authorizer="acl"), AuthorizerSettings()
    )

    assert any(warning.startswith("These are the last ACLs on") for warning in impact.warnings)
    assert not any("skips LITERAL *" in warning for warning in impact.warnings)


def test_a_new_topic_has_no_access_before_and_gains_what_the_patterns_over_it_give() -> None:
    index = AclIndex([allow("User:bob", "READ", "orders.", pattern="PREFIXED")])

    impact = simulate(Delta(), index, Names(new_topics=("orders.new",)))

    assert {effect.operation.name for effect in impact.gains} == {"READ", "DESCRIBE"}
    assert all(effect.before is None and effect.resource_name == "orders.new" for effect in impact.gains)


def test_an_acl_that_takes_the_place_of_another_is_recovered_access() -> None:
    old, new = allow("User:bob", "READ", "orders"), allow("User:bob", "READ", "ord", pattern="PREFIXED")

    impact = simulate(Delta(add=(new,), remove=(old,)), AclIndex([old]), Names(topics=("orders",)))

    recovered = [effect for effect in impact.recovered if effect.resource_name == "orders"]
    assert {effect.operation.name for effect in recovered} == {"READ", "DESCRIBE"}
    assert recovered[0].before is not None
    assert (recovered[0].before.determining, recovered[0].after.determining) == ((old,), (new,))


def test_what_a_range_gives_is_gained_inside_it_and_nothing_depends_on_it() -> None:
    delta = Delta(add=(allow("User:bob", "READ", "orders", host="10.0.0.0/8"),))
    names = Names(topics=("orders",), hosts=("10.1.2.3", "192.168.0.1"))

    impact = simulate(delta, AclIndex(), names)

    assert {effect.host for effect in impact.gains} == {"10.1.2.3", "10.0.0.0/8"}
    assert impact.depends == ()


def test_what_a_range_takes_is_lost_inside_it_and_kept_outside() -> None:
    open_to_all = allow("User:bob", "READ", "orders")
    shut = deny("User:bob", "READ", "orders", host="10.0.0.0/8")

    shutting = simulate(Delta(add=(shut,)), AclIndex([open_to_all]), Names(topics=("orders",)))
    only_there = simulate(
        Delta(remove=(open_to_all,)),
        AclIndex([open_to_all, replace(open_to_all, host="10.0.0.0/8")]),
        Names(topics=("orders",)),
    )

    assert {(effect.host, effect.except_hosts) for effect in shutting.loses} == {("10.0.0.0/8", ())}
    assert {(e.host, e.except_hosts) for e in only_there.loses} == {("*", ("10.0.0.0/8",))}
    assert (shutting.depends, only_there.depends) == ((), ())


def test_access_from_a_range_by_another_acl_is_kept_there_and_gained_around_it() -> None:
    old = allow("User:bob", "READ", "orders", host="10.0.0.0/8")
    new = allow("User:bob", "READ", "ord", pattern="PREFIXED", host="10.0.0.0/8")
    wider = allow("User:bob", "READ", "ord", pattern="PREFIXED", host="10.0.0.0/7")

    kept, widened = (
        simulate(Delta(add=(added,), remove=(old,)), AclIndex([old]), Names(topics=("orders",)))
        for added in (new, wider)
    )

    for impact in (kept, widened):
        assert {e.host for e in impact.recovered if e.resource_name == "orders"} == {"10.0.0.0/8"}
    assert not [effect for effect in kept.gains if effect.resource_name == "orders"]
    assert {e.host for e in widened.gains if e.resource_name == "orders"} == {"10.0.0.0/7"}


def test_a_range_in_place_of_a_narrower_or_wider_one_takes_nothing_where_both_hold() -> None:
    wide, narrow = (allow("User:bob", "READ", "orders", host=host) for host in ("10.0.0.0/8", "10.1.0.0/16"))
    names = Names(topics=("orders",), hosts=("10.1.2.3",))

    widened = simulate(Delta(add=(wide,), remove=(narrow,)), AclIndex([narrow]), names)
    narrowed = simulate(Delta(add=(narrow,), remove=(wide,)), AclIndex([wide]), names)

    assert ({e.host for e in widened.gains}, widened.loses) == ({"10.0.0.0/8"}, ())
    assert (narrowed.gains, {e.host for e in narrowed.loses}) == ((), {"10.0.0.0/8"})
    both = {"10.1.0.0/16", "10.1.2.3"}
    assert {e.host for e in widened.recovered} == {e.host for e in narrowed.recovered} == both


def test_before_ranges_existed_a_range_is_text_and_the_edit_says_so() -> None:
    delta = Delta(add=(allow("User:bob", "READ", "orders", host="10.0.0.0/8"),))

    impact = simulate(delta, AclIndex(), Names(hosts=("10.1.2.3",)), AuthorizerSettings(kafka_version="4.3"))

    assert {effect.host for effect in impact.gains} == {"10.0.0.0/8"}
    assert any("reads no address ranges" in warning for warning in impact.warnings)


def test_a_stored_range_takes_effect_with_an_upgrade_and_ends_with_the_way_back() -> None:
    index = AclIndex([allow("User:bob", "READ", "orders", host="10.0.0.0/8")])
    names, old, new = (
        Names(hosts=("10.1.2.3",)),
        AuthorizerSettings(kafka_version="4.3"),
        AuthorizerSettings(kafka_version="4.4"),
    )

    up, down = simulate(Delta(), index, names, old, new), simulate(Delta(), index, names, new, old)

    inside = {"10.0.0.0/8", "10.1.2.3"}
    assert {effect.host for effect in up.gains} == {effect.host for effect in down.loses} == inside
    assert (up.depends, down.depends) == ((), ())
    assert up.warnings == ("From Kafka 4.4 on, hosts written as address ranges take effect: 10.0.0.0/8.",)
    assert down.warnings == (
        "Before Kafka 4.4 hosts written as address ranges are text, which matches nobody: 10.0.0.0/8.",
    )


def test_an_unknown_value_is_neither_a_gain_nor_a_loss() -> None:
    strange = acl("ALLOW", "User:bob", "UNKNOWN", "orders")

    impact = simulate(Delta(add=(strange,)), AclIndex(), Names(topics=("orders",)))

    assert (impact.gains, impact.loses) == ((), ())
    assert {effect.after.result for effect in impact.depends} == {Result.UNDECIDED}


@pytest.mark.parametrize("host", ["10.0.0.7", "10.0.0.0/24"])
@pytest.mark.parametrize("is_new", [True, False])
def test_an_acl_with_an_unknown_pattern_is_compared_beside_hosts_of_others(host: str, is_new: bool) -> None:
    strange = acl("DENY", "User:bob", "READ", "u", pattern="UNKNOWN")
    other = deny("User:eve", "READ", "orders", host=host)
    delta = Delta(add=(strange,)) if is_new else Delta(remove=(strange,))
    index = AclIndex([other] if is_new else [other, strange])
    everybody = AuthorizerSettings(allow_everyone=True)

    one, merged = (
        simulate(delta, index, Names(topics=("orders",)), everybody, merge_equal_hosts=is_merged)
        for is_merged in (False, True)
    )

    assert merged.counts == one.counts
    assert {effect.after.result for effect in merged.depends} == {
        Result.UNDECIDED if is_new else Result.ALLOWED
    }


def test_adding_what_is_there_changes_nothing_and_says_so() -> None:
    binding = allow("User:bob", "READ", "orders")

    impact = simulate(Delta(add=(binding,)), AclIndex([binding]), Names(topics=("orders",)))

    assert impact.is_empty
    assert impact.resources == (topic("orders"),)
    assert any(warning.startswith("Already in force") for warning in impact.warnings)


def test_the_wildcard_covers_starred_groups_in_zookeeper_mode_only() -> None:
    wildcard = allow("User:bob", "READ", "*", resource_type="GROUP")
    names = Names(groups=("*team", "team"))

    impact = simulate(
        Delta(), AclIndex([wildcard]), names, AuthorizerSettings("acl"), AuthorizerSettings("standard")
    )

    assert {effect.names_text for effect in impact.loses} == {"*team", "*"}


def test_losing_super_user_rights_is_a_loss_on_everything() -> None:
    names = Names(topics=("orders",))

    impact = simulate(
        Delta(),
        AclIndex(),
        names,
        AuthorizerSettings(super_users=frozenset({"User:root"})),
        AuthorizerSettings(),
    )

    assert {effect.principal for effect in impact.loses} == {"User:root"}
    assert impact.unchanged == sum(len(v) for v in OPERATIONS.values()) + len(OPERATIONS[ResourceType.TOPIC])


def test_the_same_edit_has_the_same_warnings_in_whatever_order_it_is_given() -> None:
    seen: Counter[str] = Counter()
    for seed in range(80 * SCALE):
        dice = random.Random(f"warnings {seed}")
        world = random_world(dice)
        world = with_unknowns(dice, world) if seed % 4 == 0 else world
        settings = replace(
            world.settings, undeclared=frozenset({"allow_everyone"}) if seed % 3 == 0 else frozenset()
        )
        after = replace(random_settings(dice), undeclared=settings.undeclared) if seed % 5 == 0 else settings
        stored = list(dict.fromkeys(world.bindings))
        add = [random_binding(dice, settings) for _ in range(dice.randrange(6))]
        remove = [acl for acl in stored if dice.random() < 0.6 and acl not in add]
        remove += [acl for acl in [random_binding(dice, settings)] if acl not in add]
        names = Names(topics=("orders", "a", "ab"), groups=("a", "*a"), new_topics=("brand-new", "abx", "a"))

        told = warned(add, remove, stored, names, settings, after)
        for acls in (add, remove, stored):
            dice.shuffle(acls)
        new = replace(names, new_topics=names.new_topics[::-1])

        assert warned(add, remove, stored, new, settings, after) == told, seed
        assert warned(add, remove, stored, names, settings, after, merge_equal_hosts=True) == told, seed
        assert len(set(told)) == len(told)
        seen.update(sentence[:12] for sentence in told)
    assert min(seen["These are th"], seen["Not known ye"], seen["Not in force"]) > 5, seen


def warned(
    add: list[AclBinding],
    remove: list[AclBinding],
    stored: list[AclBinding],
    names: Names,
    settings: AuthorizerSettings,
    after: AuthorizerSettings,
    **options: Any,
) -> tuple[str, ...]:
    delta = Delta(add=tuple(dict.fromkeys(add)), remove=tuple(dict.fromkeys(remove)))
    return simulate(delta, AclIndex(stored), names, settings, after, **options).warnings


def test_a_name_that_no_topic_can_have_is_not_waited_for() -> None:
    edit = Delta(add=(allow("User:a", "READ", "no topic"), allow("User:a", "READ", "later")))

    told = simulate(edit, AclIndex(), Names(topics=("orders",))).warnings
    met = simulate(edit, AclIndex(), Names(topics=("orders",)), met_only=True).warnings

    assert "Not known yet: topic later. Its ACLs count once it is made." in told
    assert "No topic can be called 'no topic'." in told
    assert not any("no topic'" in sentence for sentence in met)


def test_the_dictionary_has_the_promised_keys_and_no_others() -> None:
    index = AclIndex([deny("User:eve", "READ", "orders")])
    delta = Delta(add=(allow("User:*", "READ", "orders"),))

    answer = simulate(delta, index, Names(topics=("orders",))).as_dict()

    assert list(answer) == ["gains", "loses", "recovered", "depends", "unchanged", "resources", "warnings"]
    gain = next(e for e in answer["gains"] if e["operation"] == "READ")  # type: ignore[attr-defined]
    assert gain == {
        "principal": "*",
        "host": "*",
        "except": {"principals": ["User:eve"], "hosts": []},
        "operation": "READ",
        "resource_type": "TOPIC",
        "resource_name": "orders",
        "names": {"kind": "EXACT", "text": "orders"},
        "before": {
            "result": "DENIED",
            "basis": "NO_ALLOW_ACL",
            "determining": [deny("User:eve", "READ", "orders").as_dict()],
        },
        "after": {
            "result": "ALLOWED",
            "basis": "ALLOW_ACL",
            "determining": [allow("User:*", "READ", "orders").as_dict()],
        },
    }
    assert answer["resources"] == [{"resource_type": "TOPIC", "resource_name": "orders"}]


def test_met_only_leaves_hosts_of_nobody_out_and_counts_names_of_nothing():
    names = Names(topics=("orders",))
    nothing = simulate(Delta(), AclIndex(), names)
    of_nobody = Delta(add=(allow("User:bob", "READ", "orders", host="search-01.example"),))
    of_nothing = Delta(add=(allow("User:bob", "READ", "no such name"),))

    told = [simulate(delta, AclIndex(), names, met_only=True) for delta in (of_nobody, of_nothing)]
    whole = [simulate(delta, AclIndex(), names) for delta in (of_nobody, of_nothing)]

    assert [impact.as_dict()["gains"] for impact in told] == [[], []]
    assert all(impact.as_dict()["gains"] for impact in whole)
    # As if the host stood in no ACL: bob beside everybody else, and one class of addresses.
    assert told[0].unchanged == 2 * nothing.unchanged
    # The name keeps its class.
    assert told[1].unchanged == whole[1].unchanged + len(whole[1].as_dict()["gains"])
