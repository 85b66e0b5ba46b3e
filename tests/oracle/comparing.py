"""Does aclweb answer as Kafka's own class did, for the same reason?

Three of ours are held against each answer: the compiled `decide`, the explained `authorize`
with the rule that the broker's log would name, and the reference of the tests.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from aclweb.acl.authorizer.answers import Basis
from aclweb.acl.authorizer.broker_log import broker_rule
from aclweb.acl.authorizer.decision import authorize, decide
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.model.authorizers import ALLOW_EVERYONE_KEY, SUPER_USERS_KEY, AuthorizerSettings
from aclweb.acl.model.vocabulary import AccessRequest, AclBinding, PermissionType
from tests import reference
from tests.oracle.jvm import JavaProgram
from tests.oracle.tally import Tally
from tests.oracle.targets import Target
from tests.oracle.worlds import FIRST_ACL, World, worlds

PROGRAM = "Decisions"
"""The program of tests/oracle/java that answers worlds."""

PATIENCE_SECONDS = 600
"""How long one world may take; the program itself gives up a decision long before."""

REPORTED_EVERY = 4
"""The reference sorts all ACLs anew to say which one is logged; so it is asked less often."""

_FAILURES = {
    "!": "failed with an exception",
    "#": "gave no answer in time",
    "~": "gave an answer and an audit text that contradict each other",
    "%": "was not asked, because a question before it gave no answer in time",
}
_PLAIN = {
    "(": ("ALLOWED", "DefaultAllow"),
    ")": ("DENIED", "DefaultDeny"),
    "*": ("ALLOWED", "SuperUser"),
    "+": ("ALLOWED", ""),
    "-": ("DENIED", ""),
}
_RULE_OF_BASIS = {
    Basis.SUPER_USER: "SuperUser",
    Basis.DENY_ACL: "MatchingAcl",
    Basis.ALLOW_ACL: "MatchingAcl",
    Basis.NO_ALLOW_ACL: "DefaultDeny",
    Basis.DEFAULT_ALLOW: "DefaultAllow",
    Basis.DEFAULT_DENY: "DefaultDeny",
}

# What Kafka answered: the result, the rule, and what `broker_rule` is to return.
Meaning = tuple[str, str, dict[str, object] | None]


@dataclass(frozen=True)
class Difference:
    """One question that aclweb and a class of Kafka answer differently."""

    target: Target
    world: World
    request: AccessRequest | None
    kafka: str
    ours: str

    def __str__(self) -> str:
        asked = json.dumps(self.request.as_dict()) if self.request else "all questions"
        return f"{self.target}, world {self.world.seed}, {asked}: Kafka {self.kafka}; aclweb {self.ours}."

    def scenario(self) -> str:
        """Return the world and the question as a line for `python -m aclweb.acl check`."""
        world = self.world
        return json.dumps(
            {
                "id": f"{self.target} {world.seed}",
                "authorizer": self.target.engine,
                "kafka_version": self.target.version,
                "config": {
                    SUPER_USERS_KEY: ";".join(world.super_users),
                    ALLOW_EVERYONE_KEY: world.allow_everyone,
                },
                "acls": [binding.as_dict() for binding in world.bindings],
                "request": self.request.as_dict() if self.request else None,
                "expected": self.kafka.split()[0],
            }
        )


def differences(
    target: Target, world: World, answer: str, *, explain_every: int = 1, refer_every: int = 1
) -> Iterator[Difference]:
    """Yield each question that aclweb answers differently, or for another reason.

    The compiled answer is always compared, the explained one and the reference for one
    question in so many (0 for none).
    """
    if answer.startswith("! "):
        yield Difference(target, world, None, f"could not be asked ({answer[2:]})", "was not asked either")
        return
    letters, _, type_letters = answer.partition(" ")
    comparison = _Comparison(
        target, world, target.settings(world), AclIndex(world.bindings), explain_every, refer_every
    )
    number = 0
    meanings = _meanings(world)
    for request, letter in zip(world.requests(), letters, strict=True):
        number += 1
        if letter in meanings:
            yield from comparison.of_request(number, request, letter, meanings[letter])
        else:
            yield Difference(target, world, request, _FAILURES[letter], "gives an answer")
    for request, letter in zip(world.type_requests(), type_letters, strict=True):
        number += 1
        if letter in "+-":
            yield from comparison.of_type_request(number, request, _PLAIN[letter][0])
        else:
            yield Difference(target, world, request, _FAILURES[letter], "gives an answer")


@dataclass(frozen=True)
class _Comparison:
    """The answers of one class of Kafka in one world, held against ours, question by question."""

    target: Target
    world: World
    settings: AuthorizerSettings
    index: AclIndex
    explain_every: int
    refer_every: int

    def of_request(
        self, number: int, request: AccessRequest, letter: str, meaning: Meaning
    ) -> Iterator[Difference]:
        result, rule, acl = meaning
        ours, basis = decide(request, self.index, self.settings)
        if ours._value_ != result or (rule and _RULE_OF_BASIS.get(basis) != rule):
            kafka = f"{result} by {rule or 'no rule'}"
            yield self._difference(request, kafka, f"decides {ours.value}, {basis.value}")
        if _is_due(number, self.explain_every):
            decision = authorize(request, self.index, self.settings)
            named = broker_rule(decision)
            if decision.result._value_ != result or named != acl:
                explained = f"explains {decision.result.value} by {json.dumps(named)}"
                yield self._difference(request, f"{result} by {json.dumps(acl)}", explained)
        if _is_due(number, self.refer_every):
            referred = reference.answer(request, self.world.bindings, self.settings)[0]
            if referred != result:
                yield self._difference(request, result, f"has a reference that says {referred}")
        if rule and _is_due(number, REPORTED_EVERY * self.refer_every):
            reported = reference.reported(request, self.world.bindings, self.settings)
            if reported != _named(self.world, letter):
                named_by_it = f"has a reference that names {reported}"
                yield self._difference(request, f"{result} by {json.dumps(acl)}", named_by_it)

    def of_type_request(self, number: int, request: AccessRequest, result: str) -> Iterator[Difference]:
        answers = {"decides": decide(request, self.index, self.settings)[0].value}
        if _is_due(number, self.explain_every):
            answers["explains"] = authorize(request, self.index, self.settings).result.value
        if _is_due(number, self.refer_every):
            answers["has a reference that says"] = reference.answer(
                request, self.world.bindings, self.settings
            )[0]
        for how, given in answers.items():
            if given != result:
                yield self._difference(request, result, f"{how} {given}")

    def _difference(self, request: AccessRequest, kafka: str, ours: str) -> Difference:
        return Difference(self.target, self.world, request, kafka, ours)


def _is_due(number: int, every: int) -> bool:
    """Whether this question is one in `every`; none is with 0."""
    return every > 0 and number % every == 0


def _named(world: World, letter: str) -> AclBinding | None:
    return world.bindings[ord(letter) - ord(FIRST_ACL)] if letter >= FIRST_ACL else None


def compare(
    program: JavaProgram,
    target: Target,
    seed: str,
    *,
    decisions: int,
    type_decisions: int,
    tally: Tally,
    progress: Callable[[int], object] = lambda done: None,
) -> Iterator[Difference]:
    """Ask a class at least so many questions about fresh worlds; yield what aclweb answers differently.

    `tally` counts the questions; `progress` is told after each world how many that one had.
    """
    waiting: deque[World] = deque()

    def lines() -> Iterator[str]:
        left, type_left = decisions, type_decisions
        for world in worlds(seed, target.engine, target.age):
            if left <= 0 and type_left <= 0:
                return
            left -= world.decisions
            type_left -= world.type_decisions
            waiting.append(world)
            yield world.line

    for answer in program.ask_many(lines()):
        world = waiting.popleft()
        found = tuple(differences(target, world, answer))
        if not answer.startswith("! "):
            tally.add(target, world, answer)
        yield from found
        progress(world.decisions + world.type_decisions)


def _meanings(world: World) -> dict[str, Meaning]:
    """Return what each letter says: the result, the rule, and what `broker_rule` is to return."""
    found: dict[str, Meaning] = {
        letter: (result, rule, {"rule": rule, "acl": None} if rule else None)
        for letter, (result, rule) in _PLAIN.items()
    }
    for place, binding in enumerate(world.bindings):
        result = "ALLOWED" if binding.permission_type is PermissionType.ALLOW else "DENIED"
        acl: dict[str, object] = {"rule": "MatchingAcl", "acl": binding.as_dict()}
        found[chr(ord(FIRST_ACL) + place)] = (result, "MatchingAcl", acl)
    return found


def smallest(difference: Difference, program: JavaProgram) -> Difference:
    """Return the same kind of difference in the smallest world that still shows one."""
    request, world, target = difference.request, difference.world, difference.target
    if request is None:
        return difference

    def shown(smaller: World) -> Difference | None:
        return next(differences(target, smaller, program.ask(smaller.line)), None)

    by_type = request.resource_name is None
    world = replace(
        world,
        principals=(request.principal,),
        hosts=(request.host,),
        actions=()
        if request.resource_name is None
        else ((request.resource_type, request.resource_name, (request.operation,)),),
        type_questions=((request.resource_type, request.operation),) if by_type else (),
    )
    found = shown(world)
    if found is None:
        return difference
    shrunk = True
    while shrunk:
        shrunk = False
        candidates = [
            replace(world, bindings=world.bindings[:place] + world.bindings[place + 1 :])
            for place in range(len(world.bindings))
        ]
        candidates.append(replace(world, super_users=()))
        candidates.append(replace(world, allow_everyone=False))
        for candidate in candidates:
            if candidate != world and (smaller := shown(candidate)) is not None:
                world, found, shrunk = candidate, smaller, True
                break
    return found
