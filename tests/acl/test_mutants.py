"""Would a mistake in the matcher be noticed? Each listed mutant gives a wrong answer somewhere.

A mutant is one change to the text of one module, loaded beside the real ones. It is asked
the same cases as the original: recorded by hand, or random ones held against the naive
reference. The original differs nowhere and every mutant differs somewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache
from types import CodeType, ModuleType, SimpleNamespace

import pytest

from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import AccessRequest, AclBinding, AclError, PatternType
from tests import reference
from tests.builders import acl, allow, ask, deny, read
from tests.mutants import MODULES, MUTANTS, SOURCES, Mutant
from tests.random_cases import crowded_case, random_case

RANDOM_CASES = 500


# Loading a mutant.


@cache
def code_of(module: str) -> CodeType:
    return compile(SOURCES[module], f"{module}.py", "exec")


def loaded(mutant: Mutant | None) -> SimpleNamespace:
    """Return the modules, from the mutated one on loaded anew; the real ones stay in place."""
    names = {full: module for module, full in MODULES.items()}
    kept = {full: sys.modules[full] for full in names if full in sys.modules}
    found = SimpleNamespace()
    changed = False
    shown: list[tuple[ModuleType, str, object]] = []
    try:
        for full, module in names.items():
            code = code_of(module)
            if mutant is not None and module == mutant.module:
                changed = True
                text = SOURCES[module].replace(mutant.before, mutant.after)
                if "bisect_left" in mutant.after:
                    text = text.replace("import bisect_right", "import bisect_left, bisect_right")
                code = compile(text, f"{module}.py", "exec")
            if changed or mutant is None or full not in kept:
                sys.modules[full] = ModuleType(full)
                exec(code, sys.modules[full].__dict__)
                shown += shown_by_its_room(kept.get(full), sys.modules[full])
            setattr(found, module, sys.modules[full])
    finally:
        for full in names:
            sys.modules.pop(full, None)
        sys.modules.update(kept)
        for face, name, value in reversed(shown):
            setattr(face, name, value)
    return found


def shown_by_its_room(real: ModuleType | None, new: ModuleType) -> list[tuple[ModuleType, str, object]]:
    """Let the room of a module show the new one's names; return what it showed before."""
    face = sys.modules[new.__name__.rpartition(".")[0]]
    before = []
    for name in face.__all__:
        value = getattr(face, name)
        if real is not None and name in new.__dict__ and real.__dict__.get(name) is value:
            before.append((face, name, value))
            setattr(face, name, new.__dict__[name])
    return before


# The cases. Each check yields what is wrong.

ZK = AuthorizerSettings("acl")
OPEN, OPEN_ZK = AuthorizerSettings(allow_everyone=True), AuthorizerSettings("acl", allow_everyone=True)
ODD = [
    allow("User:a", "READ" if length == 6 else "WRITE", "abcdefghijkl"[:length], pattern="PREFIXED")
    for length in (1, 2, 3, 5, 6, 7, 8, 10)
]
SIBLINGS = [
    allow("User:a", "READ", "ab", pattern="PREFIXED"),
    allow("User:a", "WRITE", "abc", pattern="PREFIXED"),
    allow("User:a", "WRITE", "abd", pattern="PREFIXED"),
]
DEEP = [
    allow("User:a", "READ", "abcdefghijkl"[:length], pattern="PREFIXED")
    for length in (1, 2, 3, 5, 6, 7, 8, 10)
]


def group(principal: str, name: str) -> AccessRequest:
    return ask(principal, "READ", name, resource_type="GROUP")


def on_group(name: str, pattern: str = "LITERAL") -> AclBinding:
    return allow("User:a", "READ", name, pattern=pattern, resource_type="GROUP")


def in_range(host: str, session: str) -> tuple[str, list[AclBinding], AccessRequest, AuthorizerSettings]:
    return (
        "ALLOWED ALLOW_ACL",
        [allow("User:a", "READ", "t", host=host)],
        read("User:a", "t", host=session),
        AuthorizerSettings(),
    )


def outside(host: str, session: str) -> tuple[str, list[AclBinding], AccessRequest, AuthorizerSettings]:
    return "DENIED NO_ALLOW_ACL", *in_range(host, session)[1:]


V6 = "2001:db8:0:0:0:0:0:7"
DECISIONS: list[tuple[str, list[AclBinding], AccessRequest, AuthorizerSettings]] = [
    (
        "DENIED DENY_ACL",
        [allow("User:a", "READ", "t"), deny("User:*", "READ", "*")],
        read("User:a", "t"),
        AuthorizerSettings(),
    ),
    ("DENIED DENY_ACL", [allow("User:*", "ALL", "*"), deny("User:a", "ALL", "t")], read("User:a", "t"), OPEN),
    (
        "ALLOWED SUPER_USER",
        [deny("User:*", "ALL", "*")],
        read("User:r", "t"),
        AuthorizerSettings(super_users=frozenset({"User:r"})),
    ),
    ("ALLOWED DEFAULT_ALLOW", [], read("User:a", "t"), OPEN),
    ("DENIED DEFAULT_DENY", [], read("User:a", "t"), AuthorizerSettings()),
    ("DENIED NO_ALLOW_ACL", [allow("User:b", "READ", "t")], read("User:a", "t"), OPEN),
    ("ALLOWED DEFAULT_ALLOW", [allow("User:b", "READ", "u")], read("User:a", "t"), OPEN),
    ("ALLOWED ALLOW_ACL", [allow("User:*", "READ", "t")], read("Group:a", "t"), AuthorizerSettings()),
    ("DENIED NO_ALLOW_ACL", [allow("Group:*", "READ", "t")], read("Group:a", "t"), AuthorizerSettings()),
    ("DENIED NO_ALLOW_ACL", [allow("a", "READ", "t")], read("a", "t"), AuthorizerSettings()),
    (
        "DENIED NO_ALLOW_ACL",
        [allow("User:a", "READ", "t", host="FE80::1")],
        read("User:a", "t", host="fe80::1"),
        AuthorizerSettings(),
    ),
    (
        "ALLOWED ALLOW_ACL",
        [allow("User:a", "READ", "t", host="10.0.0.7")],
        read("User:a", "t"),
        AuthorizerSettings(),
    ),
    (
        "DENIED NO_ALLOW_ACL",
        [allow("User:a", "READ", "T"), allow("User:b", "READ", "t")],
        read("User:a", "t"),
        AuthorizerSettings(),
    ),
    ("ALLOWED ALLOW_ACL", DEEP, read("User:a", "abz"), AuthorizerSettings()),
    ("ALLOWED ALLOW_ACL", DEEP, read("User:a", "a"), AuthorizerSettings()),
    ("DENIED DEFAULT_DENY", DEEP, read("User:a", "xabc"), AuthorizerSettings()),
    ("ALLOWED ALLOW_ACL", ODD, read("User:a", "abcdefz"), AuthorizerSettings()),
    ("ALLOWED ALLOW_ACL", SIBLINGS, read("User:a", "abdx"), AuthorizerSettings()),
    (
        "DENIED NO_ALLOW_ACL",
        [allow("User:a", "CREATE", "t")],
        ask("User:a", "DESCRIBE", "t"),
        AuthorizerSettings(),
    ),
    (
        "ALLOWED ALLOW_ACL",
        [allow("User:a", "ALTER_CONFIGS", "t")],
        ask("User:a", "DESCRIBE_CONFIGS", "t"),
        AuthorizerSettings(),
    ),
    (
        "ALLOWED ALLOW_ACL",
        [allow("User:a", "ALL", "t", resource_type="TRANSACTIONAL_ID")],
        ask("User:a", "TWO_PHASE_COMMIT", "t", resource_type="TRANSACTIONAL_ID"),
        AuthorizerSettings(),
    ),
    ("ALLOWED ALLOW_ACL", [on_group("*")], group("User:a", "*"), AuthorizerSettings()),
    ("DENIED DEFAULT_DENY", [on_group("*")], group("User:a", "*team"), AuthorizerSettings()),
    ("ALLOWED ALLOW_ACL", [on_group("*")], group("User:a", "*team"), ZK),
    ("ALLOWED ALLOW_ACL", [on_group("*", "PREFIXED")], group("User:a", "*team"), AuthorizerSettings()),
    ("DENIED DEFAULT_DENY", [on_group("*", "PREFIXED")], group("User:a", "team"), AuthorizerSettings()),
    ("ALLOWED ALLOW_ACL", [on_group("", "PREFIXED")], group("User:a", "team"), AuthorizerSettings()),
    ("DENIED DEFAULT_DENY", [on_group("", "PREFIXED")], group("User:a", "team"), ZK),
    in_range("10.0.0.8/29", "10.0.0.15"),
    outside("10.0.0.8/29", "10.0.0.7"),
    outside("10.0.0.8/29", "10.0.0.16"),
    outside("0.0.0.0/0", "0.0.0.0"),
    outside("10.0.0.0/33", "10.0.0.0"),
    outside("10.0.0.0/024", "10.0.0.1"),
    outside("256.0.0.0/0", "10.0.0.1"),
    outside("::ffff:10.0.0.0/1", "0:0:0:0:0:0:a00:1"),
    outside("fe80::1%/64", "fe80:0:0:0:0:0:0:9"),
    in_range("fe80::1%1/64", "fe80:0:0:0:0:0:0:9"),
    in_range("2001:db8::/+32", V6),
    in_range("2001:db8::7/128", V6),
    outside("2001:db8::/129", V6),
    (
        "DENIED NO_ALLOW_ACL",
        *in_range("10.0.0.0/8", "10.0.0.7")[1:3],
        AuthorizerSettings(kafka_version="4.3"),
    ),
    # Whole types.
    (
        "ALLOWED ALLOW_ACL",
        [allow("User:a", "WRITE", "hard", pattern="PREFIXED")],
        ask("User:a", "DESCRIBE", None),
        AuthorizerSettings(),
    ),
    (
        "DENIED NO_ALLOW_ACL",
        [allow("User:a", "WRITE", "hard", pattern="PREFIXED")],
        ask("User:a", "DESCRIBE", None),
        ZK,
    ),
    (
        "DENIED DENY_ACL",
        [allow("User:a", "WRITE", "t"), deny("User:*", "WRITE", "*")],
        ask("User:a", "WRITE", None),
        AuthorizerSettings(),
    ),
    (
        "DENIED DENY_ACL",
        [allow("User:a", "WRITE", "t"), deny("User:*", "WRITE", "*")],
        ask("User:a", "WRITE", None),
        OPEN_ZK,
    ),
    ("ALLOWED DEFAULT_ALLOW", [deny("User:*", "WRITE", "t")], ask("User:a", "WRITE", None), OPEN_ZK),
    ("DENIED DENY_ACL", [deny("User:*", "WRITE", "hardcode")], ask("User:a", "WRITE", None), OPEN),
    (
        "ALLOWED ALLOW_ACL",
        [allow("User:a", "WRITE", "t", pattern="PREFIXED"), deny("User:a", "WRITE", "t")],
        ask("User:a", "WRITE", None),
        AuthorizerSettings(),
    ),
    (
        "DENIED DENY_ACL",
        [allow("User:a", "WRITE", "t", pattern="PREFIXED"), deny("User:a", "ALL", "t", pattern="PREFIXED")],
        ask("User:a", "WRITE", None),
        AuthorizerSettings(),
    ),
    (
        "ALLOWED ALLOW_ACL",
        [allow("User:a", "WRITE", "t"), deny("User:a", "WRITE", "", pattern="PREFIXED")],
        ask("User:a", "WRITE", None),
        AuthorizerSettings(),
    ),
    (
        "ALLOWED ALLOW_ACL",
        [allow("User:a", "WRITE", "*"), deny("User:a", "WRITE", "*", pattern="PREFIXED")],
        ask("User:a", "WRITE", None),
        ZK,
    ),
    (
        "DENIED NO_ALLOW_ACL",
        [allow("User:a", "WRITE", "t", host="10.9.9.9")],
        ask("User:a", "WRITE", None),
        AuthorizerSettings(),
    ),
    # Values that aclweb does not know.
    (
        "UNDECIDED UNKNOWN_VALUE",
        [acl("ALLOW", "User:a", "UNKNOWN", "t")],
        read("User:a", "t"),
        AuthorizerSettings(),
    ),
    (
        "DENIED NO_ALLOW_ACL",
        [acl("DENY", "User:a", "UNKNOWN", "t")],
        read("User:a", "t"),
        AuthorizerSettings(),
    ),
    (
        "ALLOWED ALLOW_ACL",
        [acl("DENY", "User:a", "UNKNOWN", "t"), allow("User:a", "READ", "t")],
        read("User:a", "t"),
        AuthorizerSettings(),
    ),
    (
        "UNDECIDED UNKNOWN_VALUE",
        [acl("UNKNOWN", "User:a", "READ", "t")],
        read("User:a", "t"),
        AuthorizerSettings(),
    ),
    (
        "UNDECIDED UNKNOWN_VALUE",
        [allow("User:a", "READ", "t", pattern="UNKNOWN")],
        read("User:a", "t"),
        AuthorizerSettings(),
    ),
    ("UNDECIDED UNKNOWN_VALUE", [allow("User:b", "READ", "t", pattern="UNKNOWN")], read("User:a", "t"), OPEN),
    (
        "DENIED DEFAULT_DENY",
        [deny("User:b", "READ", "t", pattern="UNKNOWN")],
        read("User:a", "t"),
        AuthorizerSettings(),
    ),
    (
        "DENIED NO_ALLOW_ACL",
        [allow("User:b", "READ", "t"), allow("User:b", "READ", "t", pattern="UNKNOWN")],
        read("User:a", "t"),
        OPEN,
    ),
    (
        "UNDECIDED UNKNOWN_VALUE",
        [acl("UNKNOWN", "User:a", "WRITE", "t")],
        ask("User:a", "WRITE", None),
        AuthorizerSettings(),
    ),
]


@cache
def random_cases() -> list[
    tuple[str, list[AclBinding], AccessRequest, AuthorizerSettings, AclBinding | None]
]:
    found = []
    for seed in range(RANDOM_CASES):
        make = crowded_case if seed % 2 else random_case
        world, request = make(seed, by_type=seed % 5 == 0)
        bindings = list(world.bindings)
        answer = " ".join(reference.answer(request, bindings, world.settings))
        named = reference.reported(request, bindings, world.settings) if world.settings.is_standard else None
        found.append((answer, bindings, request, world.settings, named))
    return found


def under(modules: SimpleNamespace, settings: AuthorizerSettings) -> AuthorizerSettings:
    """The same settings, as the loaded modules read them."""
    return modules.profiles.AuthorizerSettings(
        settings.authorizer, settings.kafka_version, settings.super_users, settings.allow_everyone
    )


def wrong_decisions(modules: SimpleNamespace) -> Iterator[str]:
    authorizer = modules.authorizer
    for expected, bindings, request, settings in (*DECISIONS, *(case[:4] for case in random_cases())):
        index, own_settings = modules.index.AclIndex(bindings), under(modules, settings)
        result, basis = authorizer.decide(request, index, own_settings)
        if f"{result.value} {basis.value}" != expected:
            yield f"decide: {request} is {expected}"
        decision = authorizer.authorize(request, index, own_settings)
        if f"{decision.result.value} {decision.basis.value}" != expected:
            yield f"authorize: {request} is {expected}"


def wrong_reasons(modules: SimpleNamespace) -> Iterator[str]:
    for expected, bindings, request, settings, named in random_cases():
        decision = modules.authorizer.authorize(
            request, modules.index.AclIndex(bindings), under(modules, settings)
        )
        if modules.explain.reported_acl(decision) != named:
            yield f"the log names {named} for {request}"
        if request.resource_name is None:
            continue
        matching = {
            b
            for b in bindings
            if reference.covers(b, request.resource_type, request.resource_name, settings)
            and reference.matches_entry(b, request, settings)
        }
        denying = {b for b in matching if b.is_deny}
        if expected.endswith(("DENY_ACL", "ALLOW_ACL")) and "NO_ALLOW" not in expected:
            settling = denying if "DENIED" in expected else matching
            if set(decision.determining) != settling:
                yield f"other ACLs settle {request}"
            if set(modules.explain.explain(decision).would_also_decide) - settling - {named}:
                yield f"what would also decide does not settle {request}"
            ticked = {
                f.binding for f in decision.findings if all(modules.near_misses.fits(f, decision).values())
            }
            if ticked != settling:
                yield f"other ACLs have every tick for {request}"
        if {f.binding for f in decision.findings if f.counted} != (
            set() if "SUPER" in expected else matching
        ) and ("SUPER" not in expected):
            yield f"other ACLs count for {request}"


ORDERED: list[tuple[AclBinding, list[AclBinding], AccessRequest]] = [
    # (the one that the log names, those that match, the request)
    (
        deny("User:a", "READ", "t"),
        [deny("User:a", "READ", "t", pattern="PREFIXED"), deny("User:a", "READ", "t")],
        read("User:a", "t"),
    ),
    (
        deny("User:a", "READ", "t\U0001f600"),
        [deny("User:a", "READ", "t\U0001f600"), deny("User:a", "READ", "t", pattern="PREFIXED")],
        read("User:a", "t\U0001f600"),
    ),
    (
        deny("User:a", "ALL", "t"),
        [deny("User:*", "READ", "t"), deny("User:a", "ALL", "t")],
        read("User:a", "t"),
    ),
    (
        allow("User:\uffff", "READ", "t", host="*"),
        [allow("User:\uffff", "READ", "t"), allow("User:*", "READ", "t")],
        read("User:\uffff", "t"),
    ),
    (
        deny("User:a", "READ", "", pattern="PREFIXED"),
        [
            deny("User:*", "ALL", "*"),
            deny("User:a", "READ", "", pattern="PREFIXED"),
            allow("User:b", "READ", "Gr"),
        ],
        read("User:a", "x"),
    ),
]


def wrong_order(modules: SimpleNamespace) -> Iterator[str]:
    for named, bindings, request in ORDERED:
        index = modules.index.AclIndex(bindings)
        decision = modules.authorizer.authorize(request, index, under(modules, AuthorizerSettings()))
        if modules.explain.reported_acl(decision) != named:
            yield f"the log names {named}"
        others = modules.explain.explain(decision).would_also_decide
        if named in others:
            yield "what the log names would not also decide"
    astral, private = allow("User:\U0001f600", "READ", "t"), allow("User:\uffff", "READ", "t")
    if modules.scan_order.in_scan_order([private, astral]) != [astral, private]:
        yield "principals are not sorted by code units"


HAZARDS = [
    ((), [], read("User:a", "*x"), AuthorizerSettings()),
    (("kraft-star-principal",), [], read("User:*", "t"), AuthorizerSettings(kafka_version="4.0")),
    ((), [], read("User:*", "t"), AuthorizerSettings(kafka_version="3.9")),
    ((), [], read("User:*", "t"), AuthorizerSettings(super_users=frozenset({"User:*"}))),
    (("unparsable-principal",), [allow("a", "READ", "t")], read("User:a", "t"), AuthorizerSettings()),
    ((), [allow("a", "READ", "t")], read("User:a", "t"), ZK),
    ((), [allow("a", "READ", "t")], read("User:a", "u"), AuthorizerSettings()),
]


def wrong_hazards(modules: SimpleNamespace) -> Iterator[str]:
    for expected, bindings, request, settings in HAZARDS:
        index, own_settings = modules.index.AclIndex(bindings), under(modules, settings)
        if modules.hazards.hazards_of(request, index, own_settings) != expected:
            yield f"hazards of {request}"
        if modules.authorizer.authorize(request, index, own_settings).hazards != expected:
            yield f"hazards in the decision about {request}"


CONFIGS: list[tuple[str, object, object, object]] = [
    # (authorizer, super.users, allow.everyone.if.no.acl.found, what it gives; None is a refusal)
    ("standard", "User:a;User:CN=b,O=c", "false", ({"User:a", "User:CN=b,O=c"}, False)),
    ("standard", " User:a ;; User:b", " TRUE ", ({"User:a", "User:b"}, True)),
    ("standard", "", "yes", (set(), False)),
    ("acl", "User:a;;", "True", ({"User:a"}, True)),
    ("acl", ";User:a", "true", None),
    ("acl", "", "yes", None),
]


def wrong_configurations(modules: SimpleNamespace) -> Iterator[str]:
    for authorizer, super_users, everyone, expected in CONFIGS:
        config = {"super.users": super_users, "allow.everyone.if.no.acl.found": everyone}
        try:
            settings = modules.profiles.AuthorizerSettings.read(authorizer=authorizer, config=config)
            found: object = (set(settings.super_users), settings.allow_everyone)
        except AclError:
            found = None
        if found != expected:
            yield f"{config} gives {expected}"


def _wrong_fix(
    fix: AclBinding, request: AccessRequest, bindings: Sequence[AclBinding], settings: AuthorizerSettings
) -> Iterator[str]:
    if not reference.allows(request, [*bindings, fix], settings):
        yield f"{fix} does not allow {request}"
    if (fix.host, fix.operation, fix.principal) != (request.host, request.operation, request.principal):
        yield f"{fix} is not the smallest"
    if request.resource_name not in (None, "", "*") and fix.pattern_type is not PatternType.LITERAL:
        yield f"{fix} is not the smallest"


def wrong_ways_out(modules: SimpleNamespace) -> Iterator[str]:
    for _, bindings, request, settings, _ in random_cases():
        decision = modules.authorizer.authorize(
            request, modules.index.AclIndex(bindings), under(modules, settings)
        )
        reasons = modules.explain.explain(decision)
        fix, removals = reasons.smallest_fix, reasons.smallest_removals
        if fix is not None:
            yield from _wrong_fix(fix, request, bindings, settings)
        elif (
            not decision.allowed
            and request.resource_name is not None
            and not any(f.counted and f.binding.is_deny for f in decision.findings)
        ):
            yield f"there is a fix for {request}"
        extra = [] if reasons.fix_after_removals is None else [reasons.fix_after_removals]
        for kept in (None, *removals) if removals else ():
            rest = [b for b in bindings if b not in removals or b == kept]
            if (reference.allows(request, [*rest, *extra], settings) is decision.allowed) is (kept is None):
                yield f"removing {len(removals)} is not the fewest for {request}"
        by_type = request.resource_name is None and request.principal not in settings.super_users
        if by_type and decision.allowed and not settings.allow_everyone and not removals:
            yield f"something holds up {request}"
    for name, fix in (
        ("*", allow("User:a", "READ", "*", pattern="PREFIXED", host="10.0.0.7")),
        ("t", allow("User:a", "READ", "t", host="10.0.0.7")),
    ):
        decision = modules.authorizer.authorize(
            read("User:a", name), modules.index.AclIndex(), under(modules, AuthorizerSettings())
        )
        if modules.remedies.smallest_fix(decision) != fix:
            yield f"the fix for {name} is {fix}"
    denied = [
        allow("User:a", "READ", "t"),
        deny("User:a", "ALL", "t"),
        deny("User:a", "ALL", "some", pattern="PREFIXED"),
    ]
    asked = ask("User:a", "WRITE", None)
    decision = modules.authorizer.authorize(
        asked, modules.index.AclIndex(denied), under(modules, AuthorizerSettings())
    )
    fix = modules.remedies.smallest_fix(decision)
    if fix is None or fix.resource_name != "any-topic":
        yield "a whole type is fixed on a name that no DENY covers"
    made_up = [allow("User:a", "WRITE", "hardcode")]
    asked_describe = ask("User:a", "DESCRIBE", None)
    decision = modules.authorizer.authorize(
        asked_describe, modules.index.AclIndex(made_up), under(modules, AuthorizerSettings())
    )
    if modules.remedies.smallest_removals(decision).bindings != tuple(made_up):
        yield "the made-up name holds it up"
    several = [
        allow("User:a", "WRITE", "t"),
        deny("User:a", "ALL", "t"),
        allow("User:a", "WRITE", "u"),
        deny("User:a", "ALL", "u"),
        deny("User:*", "WRITE", "u"),
    ]
    decision = modules.authorizer.authorize(
        asked, modules.index.AclIndex(several), under(modules, AuthorizerSettings())
    )
    if modules.remedies.smallest_removals(decision).bindings != (deny("User:a", "ALL", "t"),):
        yield "one DENY less is enough"


NEAR: list[tuple[AclBinding, bool]] = [
    (allow("User:a", "READ", "ORDERS.EU"), True),
    (allow("User:a", "READ", "orders.eo"), True),
    (allow("User:a", "READ", "orders"), True),
    (allow("User:a", "READ", "orders.eu", resource_type="GROUP"), True),
    (allow("User:a", "READ", "*", pattern="PREFIXED"), True),
    (allow("User:a", "READ", "billing"), False),
    (allow("User:b", "READ", "Orders.eu"), False),
    (deny("User:a", "READ", "Orders.eu"), False),
]


def wrong_near_misses(modules: SimpleNamespace) -> Iterator[str]:
    request = read("User:a", "orders.eu")
    for binding, near in NEAR:
        decision = modules.authorizer.authorize(
            request, modules.index.AclIndex([binding]), under(modules, AuthorizerSettings())
        )
        if [miss.binding for miss in modules.near_misses.near_misses(decision)] != [binding] * near:
            yield f"{binding} is {'' if near else 'not '}near"
    two, one = allow("User:b", "WRITE", "orders.eu"), allow("User:a", "WRITE", "orders.eu")
    decision = modules.authorizer.authorize(
        request, modules.index.AclIndex([two, one]), under(modules, AuthorizerSettings())
    )
    if [miss.binding for miss in modules.near_misses.near_misses(decision)] != [one, two]:
        yield "the nearest miss comes first"


# Those of few cases first: one difference is enough.
CHECKS = (
    wrong_order,
    wrong_hazards,
    wrong_configurations,
    wrong_near_misses,
    wrong_decisions,
    wrong_reasons,
    wrong_ways_out,
)
EXPLAINING = ("wording", "near_misses", "remedies", "broker_log", "explain")


def differences(modules: SimpleNamespace, mutated: str = "") -> Iterator[str]:
    # What explains decisions changes none.
    for check in reversed(CHECKS) if mutated in EXPLAINING else CHECKS:
        yield from check(modules)


def test_the_original_differs_nowhere() -> None:
    assert list(differences(loaded(None))) == []


def test_the_mutants_are_many_and_all_different() -> None:
    assert (
        len({(m.module, m.before, m.after) for m in MUTANTS})
        == len(MUTANTS)
        == len({m.mistake for m in MUTANTS})
    )
    assert len(MUTANTS) >= 30


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.mistake)
def test_a_mistake_in_the_matcher_is_noticed(mutant: Mutant) -> None:
    assert SOURCES[mutant.module].count(mutant.before) == 1, (
        "the text to change must stand there exactly once"
    )

    try:
        noticed = next(differences(loaded(mutant), mutant.module), None)
    except (ValueError, TypeError, LookupError) as error:
        noticed = repr(error)  # Failing outright is a difference, too.
    assert noticed is not None
