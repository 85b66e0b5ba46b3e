"""What each lint rule claims about decisions is so: held against `authorize` on small sets of ACLs.

A claim is a function of one finding and its world. It asks every question of a grid of names,
principals, addresses and operations, all of which a cluster can really meet. A rule that claims
nothing about decisions says why in its file.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import pytest

from aclweb.acl.authorizer.answers import Basis, Result
from aclweb.acl.authorizer.decision import Decision, authorize, decide
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.lint import RULES, Claim, LintFinding, NoClaim, lint_all
from aclweb.acl.matching.hosts import read_address
from aclweb.acl.matching.strategy import covers_name, is_for
from aclweb.acl.model.authorizers import AuthorizerSettings, operations_of
from aclweb.acl.model.vocabulary import AccessRequest, AclBinding, Operation, ResourceType
from tests.builders import acl, allow, deny
from tests.random_cases import SCALE

NAMES = {
    "TOPIC": (
        *("orders", "orders.eu", "orders.eu2", "orders2", "orders-archive", "orders."),
        *("pay", "team-a", "zz", "x9"),
    ),
    "GROUP": ("orders", "orders.eu", "orders2", "orders-archive", "team-a", "team-*", "*x", "*", "", "zz"),
    "TRANSACTIONAL_ID": ("orders", "orders.eu", "orders2", "orders-archive", "*x", "tx", "zz"),
    "CLUSTER": ("kafka-cluster",),
    "USER": ("User:ada", "User:ada2", "User:ada-archive", "User:zz"),
}
PRINCIPALS = (
    "User:a",
    "User:b",
    "User:root",
    "User:ANONYMOUS",
    "User:nobody-names-me",
    "Group:a",
    "User:cx",
    "User:c*",
)
ADDRESSES = (
    *("10.0.0.7", "10.0.0.20", "10.0.0.200", "10.0.1.7", "192.168.1.1", "203.0.113.9"),
    *("0:0:0:0:0:0:0:1", "2001:db8:0:0:0:0:0:9"),
)
ACL_NAMES = {
    "TOPIC": ("orders", "orders.", "orders.eu", "*", "*", "or ders", "", "orders*", "o" * 245),
    "GROUP": ("orders", "orders.", "*", "*", "team-*", ""),
    "TRANSACTIONAL_ID": ("orders", "tx", "*", "orders*"),
    "CLUSTER": ("kafka-cluster", "kafka-cluster", "*", "other"),
    "USER": ("User:ada", "ada", "*"),
}
ACL_PRINCIPALS = (
    "User:a",
    "User:a",
    "User:b",
    "User:*",
    "User:*",
    "User:ANONYMOUS",
    "User:root",
    "nobody",
    "User:c*",
)
ACL_HOSTS = (
    *("*", "*", "*", "*", "10.0.0.7", "10.0.0.0/24", "0.0.0.0/0", "::/0", "0.0.0.0", "::1", "example.com"),
    "10.0.0.0/33",
)
# An ACL that counts somewhere does so at many places of the grid, and many worlds ask the same.
ONE_IN = 1 if SCALE > 1 else 3
GLOB_PRINCIPALS = ("User:?", "*:a")
GLOB_HOSTS = ("10.*", "*.7")


@dataclass(frozen=True)
class Lived:
    """ACLs under settings, and every question of the grid."""

    bindings: tuple[AclBinding, ...]
    settings: AuthorizerSettings

    @cached_property
    def index(self) -> AclIndex:
        return AclIndex(self.bindings)

    def names(self, kind: ResourceType) -> tuple[str, ...]:
        spelled = {
            binding.resource_name
            for binding in self.bindings
            if binding.resource_type is kind
            and binding.resource_name not in ("", "or ders", "other", "ada")
            and (kind is not ResourceType.TOPIC or "*" not in binding.resource_name)
            and (kind is not ResourceType.CLUSTER or binding.resource_name == "kafka-cluster")
        }
        spelled = {name for name in spelled if kind is not ResourceType.USER or name.startswith("User:")}
        return tuple(dict.fromkeys((*NAMES[kind.name], *sorted(spelled - {"*"}))))

    def asked(
        self,
        kind: ResourceType,
        *,
        principals: tuple[str, ...] = PRINCIPALS,
        operations: tuple[Operation, ...] | None = None,
        hosts: tuple[str, ...] = ADDRESSES,
        names: tuple[str, ...] | None = None,
        every: int = 1,
    ) -> Iterator[AccessRequest]:
        """Yield the questions of a grid, or about one in so many."""
        operations = operations_of(kind, self.settings) if operations is None else operations
        grid = product(self.names(kind) if names is None else names, principals, hosts, operations)
        chance = random.Random(f"{kind} {self.bindings}")
        for name, principal, host, operation in grid:
            if every == 1 or chance.random() * every < 1:
                yield AccessRequest(principal, host, operation, kind, name)

    def told(self, request: AccessRequest) -> Decision:
        return authorize(request, self.index, self.settings)

    def allows(self, request: AccessRequest) -> bool:
        return decide(request, self.index, self.settings)[0] is Result.ALLOWED

    def counts(self, binding: AclBinding, request: AccessRequest) -> bool:
        """Whether the ACL matches the request, whatever the answer is in the end."""
        return any(found.counted for found in self.told(request).findings if found.binding == binding)

    def is_for(self, binding: AclBinding, principal: str) -> bool:
        """Whether the ACL is for this principal, whatever is asked."""
        return is_for(binding.principal, principal, self.settings)

    def without(self, binding: AclBinding) -> Lived:
        return replace(self, bindings=tuple(other for other in self.bindings if other != binding))


def counts_nowhere(world: Lived, binding: AclBinding) -> bool:
    return not any(
        world.counts(binding, request) for request in world.asked(binding.resource_type, every=ONE_IN)
    )


def matches_no_client(world: Lived, finding: LintFinding) -> None:
    assert counts_nowhere(world, finding.acl)


def is_for_addresses_of_one_family(world: Lived, finding: LintFinding) -> None:
    """0.0.0.0 for none that a client has, and a range of length 0 for all of its family and no other."""
    binding = finding.acl
    anyone = replace(binding, principal="User:*", operation=Operation.ALL)
    here = Lived((anyone,), world.settings)
    matched = (n for n in world.names(binding.resource_type) if covers_name(binding, n, world.settings))
    name = next(matched, None)
    if name is None:
        return
    for host in ADDRESSES:
        request = AccessRequest(
            "User:a",
            host,
            operations_of(binding.resource_type, world.settings)[0],
            binding.resource_type,
            name,
        )
        found = read_address(host)
        family = {"0.0.0.0/0": 32, "::/0": 128}.get(binding.host)
        assert here.counts(anyone, request) is (found is not None and found[0] == family)


def matches_starred_names_alone(world: Lived, finding: LintFinding) -> None:
    kind = finding.acl.resource_type
    plain = tuple(name for name in world.names(kind) if not name.startswith("*"))
    assert not any(covers_name(finding.acl, name, world.settings) for name in plain)


def takes_an_asterisk_for_itself(world: Lived, finding: LintFinding) -> None:
    name = finding.acl.resource_name
    for filling in ("", "a", "zz"):
        other = name.replace("*", filling) if "*" in name else name.replace("?", filling)
        assert not covers_name(finding.acl, other, world.settings)


def matches_longer_words(world: Lived, finding: LintFinding) -> None:
    name = finding.acl.resource_name
    for longer in (f"{name}2", f"{name}-archive"):
        assert covers_name(finding.acl, longer, world.settings)
        if finding.acl.resource_type is ResourceType.TOPIC:
            assert len(longer) <= 249


def matches_no_name(world: Lived, finding: LintFinding) -> None:
    kind = finding.acl.resource_type
    assert not any(covers_name(finding.acl, name, world.settings) for name in world.names(kind))


def counts_for_no_operation_but_the_one_named(world: Lived, finding: LintFinding) -> None:
    binding = finding.acl
    brings = {
        operation
        for operation, words in (
            (Operation.DESCRIBE, "Describe with"),
            (Operation.DESCRIBE_CONFIGS, "Describe configs with"),
        )
        if f"it brings {words}" in finding.sentence
    }
    alone = Lived((replace(binding, principal="User:a", host="*"),), world.settings)
    counted = {
        request.operation
        for request in alone.asked(binding.resource_type, principals=("User:a",), hosts=ADDRESSES[:1])
        if alone.counts(alone.bindings[0], request)
    }
    if any(covers_name(binding, name, world.settings) for name in world.names(binding.resource_type)):
        assert counted == brings
    else:
        assert not counted


def somebody_denied_could_still_describe(world: Lived, finding: LintFinding) -> None:
    """Some session that the DENY refuses is allowed to Describe as soon as an ACL allows it that."""
    binding = finding.acl
    for request in world.asked(binding.resource_type, operations=(binding.operation,)):
        if world.counts(binding, request) and world.told(request).basis is Basis.DENY_ACL:
            kind, name = request.resource_type.name, request.resource_name
            grant = allow(request.principal, "DESCRIBE", name or "", resource_type=kind, host=request.host)
            with_grant = Lived((*world.bindings, grant), world.settings)
            if with_grant.told(replace(request, operation=Operation.DESCRIBE)).allowed:
                return
    raise AssertionError("whoever it denies is denied Describe too")


def somebody_is_shut_out(world: Lived, finding: LintFinding) -> None:
    """Under a default that allows, somebody whom no ACL names is refused where the ACL covers."""
    assert world.settings.allow_everyone
    kind = finding.acl.resource_type
    names = tuple(name for name in world.names(kind) if covers_name(finding.acl, name, world.settings))
    for request in world.asked(kind, names=names, principals=("User:nobody-names-me",)):
        if world.told(request).basis is Basis.NO_ALLOW_ACL:
            covering = [found.binding for found in world.told(request).findings]
            assert finding.acl in covering
            lone = Lived(tuple(b for b in world.bindings if b not in covering), world.settings)
            assert lone.told(request).allowed
            return
    raise AssertionError("nobody is shut out")


def only_super_users_may(world: Lived, finding: LintFinding) -> None:
    operation = finding.acl.operation
    operations = (Operation.ALTER, Operation.CLUSTER_ACTION) if operation is Operation.ALL else (operation,)
    for request in world.asked(ResourceType.CLUSTER, operations=operations):
        assert world.allows(request) is (request.principal in world.settings.super_users)


def may_nowhere(kind: str, operation: str) -> Callable[[Lived, LintFinding], None]:
    def claim(world: Lived, finding: LintFinding) -> None:
        principal = finding.acl.principal
        asking = (
            ("User:nobody-names-me",)
            if principal == "User:*"
            else tuple(p for p in PRINCIPALS if world.is_for(finding.acl, p))
        )
        for request in world.asked(ResourceType[kind], principals=asking, operations=(Operation[operation],)):
            assert not world.allows(request)

    return claim


def never_lets_anyone_in(world: Lived, finding: LintFinding) -> None:
    for request in world.asked(finding.acl.resource_type):
        if world.counts(finding.acl, request):
            assert world.told(request).basis in (Basis.DENY_ACL, Basis.SUPER_USER)


def is_for_everybody(world: Lived, finding: LintFinding) -> None:
    kind, operation = finding.acl.resource_type, finding.acl.operation
    if operation not in (Operation.ALL, *operations_of(kind, world.settings)):
        return
    operations = operations_of(kind, world.settings) if operation is Operation.ALL else (operation,)
    plain = tuple(name for name in world.names(kind) if not name.startswith("*"))
    for request in world.asked(kind, operations=operations, names=plain):
        assert world.counts(finding.acl, request)


def is_for_whoever_did_not_log_in(world: Lived, finding: LintFinding) -> None:
    lone = replace(finding.acl, host="*")
    here = Lived((lone,), world.settings)
    asked = here.asked(lone.resource_type, every=ONE_IN)
    counted = {request.principal for request in asked if here.counts(lone, request)}
    assert counted <= {"User:ANONYMOUS"}


def changes_nothing_for_that_super_user(world: Lived, finding: LintFinding) -> None:
    without = world.without(finding.acl)
    for request in world.asked(finding.acl.resource_type, principals=(finding.acl.principal,)):
        assert world.allows(request)
        assert without.allows(request)


def leaves_starred_names_out(world: Lived, finding: LintFinding) -> None:
    assert not covers_name(finding.acl, "*x", world.settings)
    assert covers_name(finding.acl, "zz", world.settings)


CLAIMS: dict[Claim, Callable[[Lived, LintFinding], None]] = {
    Claim.MATCHES_NO_CLIENT: matches_no_client,
    Claim.MATCHES_ONE_ADDRESS_FAMILY: is_for_addresses_of_one_family,
    Claim.MATCHES_STARRED_NAMES_ALONE: matches_starred_names_alone,
    Claim.READS_ASTERISK_AS_LETTER: takes_an_asterisk_for_itself,
    Claim.MATCHES_LONGER_WORDS: matches_longer_words,
    Claim.MATCHES_NO_NAME: matches_no_name,
    Claim.MATCHES_ONLY_WHAT_IT_BRINGS: counts_for_no_operation_but_the_one_named,
    Claim.LEAVES_DESCRIBE_OPEN: somebody_denied_could_still_describe,
    Claim.SHUTS_SOMEBODY_OUT: somebody_is_shut_out,
    Claim.LEAVES_SUPER_USERS_ONLY: only_super_users_may,
    Claim.READS_NO_GROUP: may_nowhere("GROUP", "READ"),
    Claim.WRITES_NO_TOPIC: may_nowhere("TOPIC", "WRITE"),
    Claim.NEVER_DETERMINES: never_lets_anyone_in,
    Claim.MATCHES_EVERYBODY: is_for_everybody,
    Claim.MATCHES_ANONYMOUS_ALONE: is_for_whoever_did_not_log_in,
    Claim.LEAVES_SUPER_USER_ALONE: changes_nothing_for_that_super_user,
    Claim.SKIPS_STARRED_NAMES: leaves_starred_names_out,
}


def cluster(permission: str, principal: str, operation: str) -> AclBinding:
    return acl(permission, principal, operation, "kafka-cluster", resource_type="CLUSTER")


TYPICAL = (
    (),
    (cluster("DENY", "User:*", "ALTER"),),
    (cluster("DENY", "User:*", "ALL"), cluster("ALLOW", "User:a", "ALTER")),
    (cluster("ALLOW", "User:a", "READ"),),
    (cluster("ALLOW", "User:a", "WRITE"), cluster("ALLOW", "User:a", "DELETE")),
    (allow("User:a", "READ", "orders", pattern="PREFIXED"),),
    (allow("User:b", "READ", "orders"), allow("User:*", "READ", "*", resource_type="GROUP")),
    (allow("User:a", "READ", "orders"), deny("User:b", "READ", "*", resource_type="GROUP")),
    (allow("User:a", "WRITE", "tx", resource_type="TRANSACTIONAL_ID"),),
    (allow("User:a", "WRITE", "tx", resource_type="TRANSACTIONAL_ID"), deny("User:b", "WRITE", "*")),
    (deny("User:a", "READ", "orders.eu"), deny("User:*", "DESCRIBE", "orders.eu")),
    (deny("User:a", "READ", "orders.eu"), deny("User:a", "DESCRIBE", "orders.", pattern="PREFIXED")),
    (deny("User:a", "READ", "orders.eu", host="10.0.0.7"), deny("User:a", "DESCRIBE", "orders.eu")),
    (deny("User:a", "WRITE", "orders"), deny("User:a", "DESCRIBE", "orders", host="10.0.0.0/24")),
    (
        deny("User:a", "READ", "orders", host="10.0.0.0/24"),
        deny("User:a", "DESCRIBE", "orders", host="10.0.0.0/25"),
        deny("User:a", "ALL", "*", host="10.0.0.128/25"),
    ),
    (deny("User:a", "WRITE", "orders.eu"), allow("User:*", "DESCRIBE", "orders.eu")),
    (deny("User:a", "WRITE", "orders.eu"), allow("User:*", "ALL", "orders.", pattern="PREFIXED")),
    (deny("User:a", "WRITE", "orders.eu"), allow("User:b", "READ", "*")),
    (deny("User:a", "WRITE", "*"), allow("User:*", "ALL", "orders.", pattern="PREFIXED")),
    (allow("User:a", "READ", "*", pattern="PREFIXED", resource_type="GROUP"),),
    (
        allow("User:a", "READ", "team-*", resource_type="GROUP"),
        deny("User:a", "READ", "*", resource_type="GROUP"),
    ),
    (allow("User:a", "READ", "orders.eu"), deny("User:*", "ALL", "orders.", pattern="PREFIXED")),
    (allow("User:*", "READ", "*"), allow("User:ANONYMOUS", "WRITE", "orders")),
    (allow("User:root", "READ", "orders"), allow("nobody", "READ", "orders")),
)


def random_lived(seed: int) -> Lived:
    rng = random.Random(f"lint {seed}")
    authorizer = rng.choice(("standard", "standard", "acl", "glob"))
    settings = AuthorizerSettings(
        authorizer,
        rng.choice(("3.9", "4.4", "")) if authorizer == "standard" else "",
        super_users=frozenset(rng.choice(((), ("User:root",), ("User:a",)))),
        allow_everyone=rng.random() < 0.5,
    )
    typical = [replace(one, host=rng.choice((one.host, "*", "10.0.0.7"))) for one in rng.choice(TYPICAL)]
    others = [random_acl(rng, settings) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    return Lived((*typical, *others), settings)


def random_acl(rng: random.Random, settings: AuthorizerSettings) -> AclBinding:
    kind = rng.choice(("TOPIC", "TOPIC", "GROUP", "TRANSACTIONAL_ID", "CLUSTER", "USER"))
    name = rng.choice(ACL_NAMES[kind])
    usual = operations_of(ResourceType[kind], settings)
    principals: tuple[str, ...] = ACL_PRINCIPALS
    hosts: tuple[str, ...] = ACL_HOSTS
    patterns = ["LITERAL", "LITERAL", "PREFIXED"]
    if settings.has_globs:
        principals, hosts = (*principals, *GLOB_PRINCIPALS), (*hosts, *GLOB_HOSTS)
        patterns.append("GLOB")
    return acl(
        rng.choice(("ALLOW", "DENY")),
        rng.choice(principals),
        rng.choice((*usual, *usual, Operation.ALL, Operation.READ, Operation.DELETE, Operation.ALTER)).name,
        name,
        pattern=rng.choice(patterns) if name and kind != "CLUSTER" else "LITERAL",
        resource_type=kind,
        host=rng.choice(hosts),
    )


def test_every_claim_is_held_against_the_authorizer_and_made_by_a_rule() -> None:
    assert set(CLAIMS) == set(Claim)
    assert set(CLAIMS) == {rule.claims for rule in RULES.values() if not isinstance(rule.claims, NoClaim)}


@pytest.mark.parametrize("chunk", range(4 if SCALE > 1 else 1))
def test_what_every_finding_claims_is_what_the_authorizer_answers(chunk: int) -> None:
    met: Counter[str] = Counter()
    for seed in range(chunk * 200 * SCALE, (chunk + 1) * 200 * SCALE):
        world = random_lived(seed)
        for finding in lint_all(world.index, world.settings):
            met[finding.rule] += 1
            claim = RULES[finding.rule].claims
            if not isinstance(claim, NoClaim):
                try:
                    CLAIMS[claim](world, finding)
                except AssertionError as error:
                    raise AssertionError(f"seed {seed}: {finding.sentence} {world}") from error
    claiming = {rule.id for rule in RULES.values() if not isinstance(rule.claims, NoClaim)}
    assert not claiming - set(met), "no random world meets these lint rules: add ACLs that do to TYPICAL"
