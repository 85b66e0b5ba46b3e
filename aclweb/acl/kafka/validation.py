"""What would Kafka answer to creating these ACLs, or to deleting with these filters?

A request passes several layers, and each refuses something else: the constructors of
Java's classes, the AdminClient, the request object, the broker, and then the KRaft
controller or the ZooKeeper authorizer. The rules of validation are in two tables, in the order in
which a request meets them, and a rule says in which authorizers and versions it holds.

`text` is Kafka's own, letter for letter, and `sentence` is ours. A version is taken as
the newest patch of its line. What no layer checks (that a principal exists, the syntax
of a topic's name, whether an operation suits its resource type) is not checked here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from aclweb.acl.kafka.creation import CREATION_RULES, POISONED, TOO_MANY_NEW
from aclweb.acl.kafka.deletion import DELETION_RULES, LISTING_RULES, TOO_MANY_GONE
from aclweb.acl.kafka.refusals import (
    ILLEGAL_ARGUMENT,
    INVALID_REQUEST_EXCEPTION,
    MOST_RECORDS,
    Item,
    Layer,
    Refusal,
    Rule,
    Scope,
    Seen,
    Target,
)
from aclweb.acl.matching import AclFilter
from aclweb.acl.model import VERSIONS, AclBinding, AuthorizerSettings

# A draft asks of each of its lines on every page, more than once: enough for two of the longest that people read.
_REFUSALS_KEPT = 10_000


def creation_answers(
    items: Sequence[Item], target: Target, *, present: Collection[AclBinding] = ()
) -> tuple[Refusal | None, ...]:
    """Return what a cluster answers to each item of one CreateAcls request; None for yes.

    present: the ACLs that it holds, which count only for the limit of 10,000 new ones.
    """
    answers = _answers(CREATION_RULES, items, target)
    if target.settings.is_standard and len(items) > MOST_RECORDS:
        held = {Item.of(binding) for binding in present}
        new = {item for item, answer in zip(items, answers, strict=True) if answer is None} - held
        if len(new) > MOST_RECORDS:
            # The broker's own refusals stand; whatever it passed on gets this answer.
            return tuple(
                answer if answer is not None and answer.layer is not Layer.CONTROLLER else TOO_MANY_NEW
                for answer in answers
            )
    return answers


def deletion_answers(
    filters: Sequence[Item], target: Target, *, matched: int = 0
) -> tuple[Refusal | None, ...]:
    """Return what a cluster answers to each filter of one DeleteAcls request; None for yes.

    matched: how many different ACLs the filters find together.
    """
    answers = _answers(DELETION_RULES, filters, target)
    if target.settings.is_standard and matched > MOST_RECORDS:
        through = all(answer is None or answer.layer is Layer.CONTROLLER for answer in answers)
        return (TOO_MANY_GONE,) * len(filters) if through else answers
    return answers


def listing_answer(asked: Item, target: Target, *, found: Iterable[AclBinding] = ()) -> Refusal | None:
    """Return what a cluster answers to a DescribeAcls request with this filter; None for a list.

    found: the stored ACLs that the filter finds. One with a word that the brokers do not
    know, as only ZooKeeper can hold it, spoils the whole answer.
    """
    answer = _answers(LISTING_RULES, (asked,), target)[0]
    if answer is None and not target.settings.is_standard and any(binding.has_unknown for binding in found):
        return POISONED
    return answer


@lru_cache(maxsize=64)
def rules_in_force(rules: tuple[Rule, ...], settings: AuthorizerSettings) -> tuple[Rule, ...]:
    """Return those that hold in this authorizer and version, in their order."""
    return tuple(rule for rule in rules if rule.holds_in(settings))


def _answers(rules: tuple[Rule, ...], items: Sequence[Item], target: Target) -> tuple[Refusal | None, ...]:
    seen = [Seen.by(target, item) for item in items]
    answers: list[Refusal | None] = [None] * len(items)
    for rule in rules_in_force(rules, target.settings):
        hit = [place for place, one in enumerate(seen) if answers[place] is None and rule.applies(one)]
        if not hit:
            continue
        for place in hit:
            answers[place] = rule.refusal(seen[place])
        if rule.scope is Scope.REQUEST:
            others = replace(rule.refusal(seen[hit[0]]), sentence=_dragged_along(rule))
            return tuple(others if answer is None else answer for answer in answers)
        if rule.scope is Scope.PATTERN:
            others = replace(rule.refusal(seen[hit[0]]), sentence=_dragged_along(rule))
            reached = {seen[place].pattern for place in hit}
            for place, one in enumerate(seen):
                if answers[place] is None and one.pattern in reached:
                    answers[place] = others
    return tuple(answers)


def _dragged_along(rule: Rule) -> str:
    return f"Another ACL of the same request has {rule.what}, which Kafka answers on {rule.scope.value}; leave it out."


@lru_cache(maxsize=_REFUSALS_KEPT)
def refusal(verb: str, binding: AclBinding, target: Target) -> Refusal | None:
    """Return what a cluster answers to adding or removing this one ACL; None for yes.

    verb: "add" or "remove". A removal names the ACL with a filter that finds it alone.
    """
    if verb == "add":
        return creation_answers((Item.of(binding),), target)[0]
    return deletion_answers((Item.of(AclFilter.exactly(binding)),), target)[0]


def refused_everywhere(verb: str, binding: AclBinding) -> Refusal | None:
    """Return the newest answer to an ACL that no cluster of any known version adds or removes; None for others."""
    newest = None
    for target in _EVERY_TARGET:
        answer = refusal(verb, binding, target)
        if answer is None:
            return None
        newest = newest or answer
    return newest


def explained(verb: str, binding: AclBinding, code: int, text: str | None) -> Refusal | None:
    """Return the foretold refusal that a cluster of unknown version must have meant by this answer.

    The one with Kafka's very text, else the one with the code alone; None where nothing
    foretells it.
    """
    answers = [refusal(verb, binding, target) for target in (*_EVERY_TARGET, *_OLD_SETTINGS)]
    foretold = [answer for answer in answers if answer is not None and answer.code == code]
    return next((answer for answer in foretold if answer.text == text), next(iter(foretold), None))


def why_not_deletable(binding: AclBinding) -> str | None:
    """Return why this ACL can be shown and not be deleted, as a sentence; None where it can.

    A filter must name every word to find one ACL only. UNKNOWN names none, and brokers
    refuse it; ANY and MATCH are names for several.
    """
    words = {
        "resource type": binding.resource_type.name,
        "pattern type": binding.pattern_type.name,
        "operation": binding.operation.name,
        "permission": binding.permission_type.name,
    }
    for field_name, word in words.items():
        if word in ("ANY", "MATCH", "GLOB"):
            return f"The {field_name} {word} is not one of a stored ACL, so nothing is deleted by it; name one word."
    unknown = [field_name for field_name, word in words.items() if word == "UNKNOWN"]
    if not unknown:
        return None
    return (
        f"The {' and '.join(unknown)} of this ACL {'is' if len(unknown) == 1 else 'are'} UNKNOWN to this "
        f"program: no filter can name it alone, and a broader one would delete other ACLs with it. "
        "Delete it with the kafka-acls of the Kafka version that made it."
    )


def refused_by_client(verb: str, given: AclBinding | AclFilter) -> Refusal | None:
    """Return what Java's own client refuses before anything is sent; None where it sends.

    verb: "add" (an ACL), or "remove" or "list" (a filter).
    """
    words = [
        word.name
        for word in (given.resource_type, given.pattern_type, given.operation, given.permission_type)
    ]
    if verb == "add":
        for name, word in zip(_JAVA_FIELDS, words, strict=True):
            if word in ("ANY", "MATCH"):
                return Refusal(
                    Layer.CONSTRUCTOR,
                    ILLEGAL_ARGUMENT,
                    f"{name} must not be {word}",
                    Scope.ITEM,
                    f"{word} is for filters only; an ACL names one word.",
                )
    if "UNKNOWN" not in words:
        return None
    if verb == "remove":
        # The text is an internal dump of all filters.
        return Refusal(
            Layer.REQUEST,
            ILLEGAL_ARGUMENT,
            None,
            Scope.REQUEST,
            "A filter cannot name UNKNOWN; name a word, or ANY.",
        )
    if verb == "list":
        text = "The AclBindingFilter must not contain UNKNOWN elements."
        sentence = "A filter cannot name UNKNOWN; name a word, or ANY."
    else:
        asked = AclFilter.exactly(given) if isinstance(given, AclBinding) else given
        text = f"Invalid ACL creation: {asked.find_indefinite_field()}"
        sentence = "An ACL cannot be made with UNKNOWN; name a word that Kafka knows."
    return Refusal(Layer.ADMIN_CLIENT, INVALID_REQUEST_EXCEPTION, text, Scope.ITEM, sentence)


_JAVA_FIELDS = ("resourceType", "patternType", "operation", "permissionType")
_EVERY_TARGET = tuple(
    Target(AuthorizerSettings(authorizer=authorizer, kafka_version=version))
    for authorizer in ("standard", "acl")
    for version in reversed(VERSIONS[authorizer])
)
_OLD_SETTINGS = (Target(ranges=False), Target(AuthorizerSettings(authorizer="acl"), prefixes=False))
