"""What would Kafka answer to creating these ACLs, or to deleting with these filters?

A request passes several layers, and each refuses something else: the constructors of
Java's classes, the AdminClient, the request object, the broker, and then the KRaft
controller or the ZooKeeper authorizer. The rules stand in two tables, in the order in
which a request meets them, and a rule says in which authorizers and versions it holds.

`text` is Kafka's own, letter for letter, and `sentence` is ours. A version is taken as
the newest patch of its line. What no layer checks (that a principal exists, the syntax
of a topic's name, whether an operation suits its resource type) is not checked here.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Self

from aclweb.acl.authorizer import BELOW_ASTERISK, UNPARSABLE_PRINCIPAL
from aclweb.acl.matching import AclFilter, read_address, read_range
from aclweb.acl.model import (
    CLUSTER_NAME,
    VERSIONS,
    WILDCARD,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    Rules,
    shown,
    split_principal,
    visible,
)

LONGEST_TEXT = 32_767
"""The most bytes that a text has in a request."""

MOST_RECORDS = 10_000
"""The most ACLs that one request may add to, or take from, a KRaft cluster."""

Version = tuple[int, int]

YOUNGER_WORDS: Mapping[enum.Enum, Version] = MappingProxyType(
    {
        ResourceType.USER: (3, 3),
        Operation.CREATE_TOKENS: (3, 3),
        Operation.DESCRIBE_TOKENS: (3, 3),
        Operation.TWO_PHASE_COMMIT: (4, 1),
    }
)
"""The words that older versions do not know, with the version that brought them."""


class Layer(enum.Enum):
    """Who refuses, in the order in which a request meets them."""

    CONSTRUCTOR = "constructor"
    ADMIN_CLIENT = "AdminClient"
    REQUEST = "request object"
    BROKER = "broker"
    CONTROLLER = "KRaft controller"
    ZOOKEEPER = "ZooKeeper authorizer"


class Scope(enum.Enum):
    """How far a refusal reaches beyond the item that earned it."""

    ITEM = "this item"
    PATTERN = "every item of the same resource pattern"
    REQUEST = "every item of the request"


@dataclass(frozen=True, slots=True)
class KafkaError:
    """An error as Kafka calls it; without a code it is raised in a client and never sent."""

    name: str
    code: int | None = None


UNKNOWN_SERVER_ERROR = KafkaError("UNKNOWN_SERVER_ERROR", -1)
CLUSTER_AUTHORIZATION_FAILED = KafkaError("CLUSTER_AUTHORIZATION_FAILED", 31)
UNSUPPORTED_VERSION = KafkaError("UNSUPPORTED_VERSION", 35)
INVALID_REQUEST = KafkaError("INVALID_REQUEST", 42)
POLICY_VIOLATION = KafkaError("POLICY_VIOLATION", 44)
SECURITY_DISABLED = KafkaError("SECURITY_DISABLED", 54)
CONNECTION_CLOSED = KafkaError("connection closed")
ILLEGAL_ARGUMENT = KafkaError("IllegalArgumentException")
INVALID_REQUEST_EXCEPTION = KafkaError("InvalidRequestException")


@dataclass(frozen=True, slots=True)
class Refusal:
    """One no: who says it, Kafka's name, code and text for it, and a sentence for people.

    code: None where nothing is answered, because a client never sends it or the broker
    closes the connection. text: None where Kafka gives none, or only an internal dump.
    """

    layer: Layer
    error: KafkaError
    text: str | None
    scope: Scope
    sentence: str

    @property
    def code(self) -> int | None:
        return self.error.code

    @property
    def whole_request(self) -> bool:
        """Whether the good items of the same request are refused with it."""
        return self.scope is Scope.REQUEST

    @property
    def in_kafkas_words(self) -> str:
        """Name, code and text on one line, as `INVALID_REQUEST (42): Invalid empty resource name`."""
        code = "" if self.code is None else f" ({self.code})"
        if self.text is None:
            return f"{self.error.name}{code}"
        # Kafka's text repeats what was sent, which may hold an end of line and what drives a terminal.
        return f"{self.error.name}{code}: {visible(self.text)}"

    def as_dict(self) -> dict[str, object]:
        return {
            "layer": self.layer.value,
            "error": self.error.name,
            "code": self.code,
            "text": self.text,
            "whole_request": self.whole_request,
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class Target:
    """The cluster that is asked: its rules, and what else an answer hangs on.

    permitted: whether the caller has Alter on the cluster (Describe, for listing). ranges:
    whether the metadata version is 4.4-IV1 or newer. prefixes: whether a ZooKeeper cluster's
    inter.broker.protocol.version is 2.0-IV1 or newer. wire_version: of the request, 0 to 3.
    """

    rules: Rules = field(default_factory=Rules)
    permitted: bool = True
    has_authorizer: bool = True
    ranges: bool = True
    prefixes: bool = True
    wire_version: int = 3


@dataclass(frozen=True, slots=True)
class Item:
    """One ACL or one filter as it stands in a request: words are codes, so that any number can be one.

    Only a filter has texts that are None.
    """

    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str | None
    host: str | None
    operation: int
    permission_type: int

    @classmethod
    def of(cls, given: AclBinding | AclFilter) -> Self:
        return cls(
            given.resource_type.code,
            given.resource_name,
            given.pattern_type.code,
            given.principal,
            given.host,
            given.operation.code,
            given.permission_type.code,
        )

    @property
    def codes(self) -> tuple[int, int, int, int]:
        return self.resource_type, self.pattern_type, self.operation, self.permission_type

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for text in (self.resource_name, self.principal, self.host) if text is not None)


@dataclass(frozen=True, slots=True)
class Seen:
    """An item as the layers of one cluster read it: what a version does not know is UNKNOWN to it."""

    item: Item
    target: Target
    resource_type: str
    pattern_type: str
    operation: str
    permission_type: str

    @classmethod
    def by(cls, target: Target, item: Item) -> Self:
        version = target.rules.version
        return cls(
            item,
            target,
            word_for(ResourceType, item.resource_type, version),
            word_for(PatternType, item.pattern_type, version),
            word_for(Operation, item.operation, version),
            word_for(PermissionType, item.permission_type, version),
        )

    @property
    def name(self) -> str:
        return self.item.resource_name or ""

    @property
    def principal(self) -> str:
        return self.item.principal or ""

    @property
    def host(self) -> str:
        return self.item.host or ""

    @property
    def words(self) -> tuple[str, str, str, str]:
        return self.resource_type, self.pattern_type, self.operation, self.permission_type

    @property
    def pattern(self) -> tuple[str, str, str]:
        return self.resource_type, self.pattern_type, self.name


def word_for(words: type[enum.Enum], code: int, version: Version) -> str:
    """Return the word that a broker of this version has for a code, UNKNOWN if it has none."""
    for word in words:
        if word.value == code and word is not PatternType.GLOB and version >= YOUNGER_WORDS.get(word, (0, 0)):
            return word.name
    return "UNKNOWN"


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that a layer refuses.

    what: for a table, such as "an empty name". text and sentence: of one refused item.
    authorizer, since and before: where the rule holds; empty for everywhere.
    """

    layer: Layer
    what: str
    applies: Callable[[Seen], bool]
    error: KafkaError
    text: Callable[[Seen], str | None]
    sentence: Callable[[Seen], str]
    scope: Scope = Scope.ITEM
    authorizer: str = ""
    since: Version = (0, 0)
    before: Version = (99, 0)

    def holds_in(self, rules: Rules) -> bool:
        return self.authorizer in ("", rules.authorizer) and self.since <= rules.version < self.before

    def refusal(self, seen: Seen) -> Refusal:
        return Refusal(self.layer, self.error, self.text(seen), self.scope, self.sentence(seen))


def _silent(seen: Seen) -> None:
    return None


def _always(text: str) -> Callable[[Seen], str]:
    return lambda seen: text


_ENUMS: tuple[type[enum.Enum], ...] = (ResourceType, PatternType, Operation, PermissionType)


# --- sentences ------------------------------------------------------------------------------


def _not_for_storing(seen: Seen) -> str:
    kind, pattern, operation, permission = (
        next((word.name for word in words if word.value == code), f"the code {code}")
        for words, code in zip(_ENUMS, seen.item.codes, strict=True)
    )
    return (
        "An ACL has one resource type, the pattern type LITERAL or PREFIXED, one operation and ALLOW or DENY; "
        f"this one has {kind}, {pattern}, {operation} and {permission}."
    )


def _not_known(seen: Seen) -> str:
    young = [
        f"{word.name} needs Kafka {since[0]}.{since[1]} or later."
        for word, since in YOUNGER_WORDS.items()
        if seen.target.rules.version < since
        and word.value == (seen.item.resource_type if isinstance(word, ResourceType) else seen.item.operation)
    ]
    return " ".join(young) or _not_for_storing(seen)


def _too_long(seen: Seen) -> str:
    longest = max(len(text.encode("utf-8", "surrogatepass")) for text in seen.item.texts)
    return f"A text of {longest:,} bytes is too long; Kafka takes {LONGEST_TEXT:,}."


def _other_cluster_name(seen: Seen) -> str:
    return f"The cluster resource has only the name {CLUSTER_NAME!r}, and {shown(seen.name)} was given."


def _without_colon(seen: Seen) -> str:
    return f"Principal {shown(seen.principal)} has no type; write it as {shown('User:' + seen.principal)}."


def _no_node(seen: Seen) -> str:
    return (
        f"The name {shown(seen.name)} cannot be a ZooKeeper node: {why_no_node_name(seen.name)}. "
        "Choose another name."
    )


# --- what holds in every layer that looks -----------------------------------------------------


def _is_too_long(seen: Seen) -> bool:
    # Most texts are short, and short ones need not be encoded.
    return any(
        len(text) * 4 > LONGEST_TEXT and len(text.encode("utf-8", "surrogatepass")) > LONGEST_TEXT
        for text in seen.item.texts
    )


def _has_code_zero(seen: Seen) -> bool:
    return 0 in seen.item.codes


def _lacks_a_name(seen: Seen) -> bool:
    # The proposal says LITERAL * as the empty GLOB: that one covers everything.
    is_glob = seen.target.rules.has_globs and seen.item.pattern_type == PatternType.GLOB.value
    return not seen.name and not is_glob


def _searches(seen: Seen) -> bool:
    return "ANY" in seen.words or seen.pattern_type == "MATCH"


def _is_unknown(seen: Seen) -> bool:
    return "UNKNOWN" in seen.words


def _has_no_colon(seen: Seen) -> bool:
    return split_principal(seen.principal) is None


def _is_range(seen: Seen) -> bool:
    return "/" in seen.host


_OLDEST_REQUEST = Rule(
    Layer.REQUEST,
    "version 0 of the request",
    lambda seen: seen.target.wire_version < 1,
    CONNECTION_CLOSED,
    _silent,
    _always("Kafka 4.0 and later do not know version 0 of this request; use a newer client."),
    Scope.REQUEST,
    authorizer="standard",
    since=(4, 0),
)
_MISSING_TEXT = Rule(
    Layer.REQUEST,
    "a name, principal or host that is null",
    lambda seen: len(seen.item.texts) < 3,
    CONNECTION_CLOSED,
    _silent,
    _always("An ACL has a name, a principal and a host; only a filter may leave one open."),
    Scope.REQUEST,
)
_LONG_TEXT = Rule(
    Layer.REQUEST,
    f"a text of more than {LONGEST_TEXT:,} bytes",
    _is_too_long,
    CONNECTION_CLOSED,
    _silent,
    _too_long,
    Scope.REQUEST,
)
_CODE_ZERO = Rule(
    Layer.REQUEST,
    "a word with the code 0 (UNKNOWN)",
    _has_code_zero,
    CONNECTION_CLOSED,
    _silent,
    _not_for_storing,
    Scope.REQUEST,
)
_FILTER_CODE_ZERO = replace(
    _CODE_ZERO, sentence=_always("A filter cannot name UNKNOWN; name a word, or ANY.")
)
_MAY_NOT_ALTER = Rule(
    Layer.BROKER,
    "a caller without Alter on the cluster",
    lambda seen: seen.target.has_authorizer and not seen.target.permitted,
    CLUSTER_AUTHORIZATION_FAILED,
    _silent,
    _always("The caller may not change ACLs; that needs Alter on the cluster."),
    Scope.REQUEST,
)
_MAY_NOT_DESCRIBE = replace(
    _MAY_NOT_ALTER,
    what="a caller without Describe on the cluster",
    sentence=_always("The caller may not list ACLs; that needs Describe on the cluster."),
)
_NO_AUTHORIZER = Rule(
    Layer.BROKER,
    "no authorizer in the cluster",
    lambda seen: not seen.target.has_authorizer,
    SECURITY_DISABLED,
    _always("No Authorizer is configured."),
    _always("This cluster has no authorizer, so it keeps no ACLs; set authorizer.class.name first."),
    Scope.REQUEST,
)
_NO_AUTHORIZER_TO_ASK = replace(_NO_AUTHORIZER, text=_always("No Authorizer is configured on the broker"))

CREATION_RULES: tuple[Rule, ...] = (
    _OLDEST_REQUEST,
    _MISSING_TEXT,
    _LONG_TEXT,
    _CODE_ZERO,
    _MAY_NOT_ALTER,
    _NO_AUTHORIZER,
    Rule(
        Layer.CONSTRUCTOR,
        "resource type, pattern type, operation or permission ANY, or pattern type MATCH",
        _searches,
        UNKNOWN_SERVER_ERROR,
        _silent,
        _not_for_storing,
        Scope.REQUEST,
    ),
    Rule(
        Layer.BROKER,
        f"a name other than {CLUSTER_NAME} on CLUSTER",
        lambda seen: seen.resource_type == "CLUSTER" and seen.name != CLUSTER_NAME,
        INVALID_REQUEST,
        _always(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"),
        _other_cluster_name,
    ),
    Rule(
        Layer.BROKER,
        "an empty name",
        _lacks_a_name,
        INVALID_REQUEST,
        _always("Invalid empty resource name"),
        _always("The resource name is empty; give a name, or * for all."),
    ),
    Rule(
        Layer.CONTROLLER,
        "a resource type that this version does not know",
        lambda seen: seen.resource_type == "UNKNOWN",
        INVALID_REQUEST,
        _always("Invalid resourceType UNKNOWN"),
        _not_known,
        authorizer="standard",
    ),
    Rule(
        Layer.CONTROLLER,
        "a pattern type that this version does not know",
        lambda seen: seen.pattern_type == "UNKNOWN",
        INVALID_REQUEST,
        _always("Invalid patternType UNKNOWN"),
        _not_known,
        authorizer="standard",
    ),
    Rule(
        Layer.CONTROLLER,
        "an operation that this version does not know",
        lambda seen: seen.operation == "UNKNOWN",
        INVALID_REQUEST,
        _always("Invalid operation UNKNOWN"),
        _not_known,
        authorizer="standard",
    ),
    Rule(
        Layer.CONTROLLER,
        "a permission that this version does not know",
        lambda seen: seen.permission_type == "UNKNOWN",
        INVALID_REQUEST,
        _always("Invalid permissionType UNKNOWN"),
        _not_known,
        authorizer="standard",
    ),
    Rule(
        Layer.CONTROLLER,
        "a principal without a colon",
        _has_no_colon,
        INVALID_REQUEST,
        lambda seen: (
            f"Could not parse principal from `{seen.principal}` "
            "(no colon is present separating the principal type from the principal name)"
        ),
        _without_colon,
        authorizer="standard",
    ),
    Rule(
        Layer.CONTROLLER,
        "an empty host",
        lambda seen: not seen.host,
        INVALID_REQUEST,
        _always("Host pattern cannot be null or empty"),
        _always("The host is empty; give an address, or * for all."),
        authorizer="standard",
        since=(4, 4),
    ),
    Rule(
        Layer.CONTROLLER,
        "a host with a slash, where the metadata version is below 4.4-IV1",
        lambda seen: _is_range(seen) and not seen.target.ranges,
        UNSUPPORTED_VERSION,
        _always("CIDR-based ACL host patterns require metadata version 4.4-IV1 or higher."),
        lambda seen: (
            f"This cluster does not know address ranges such as {shown(seen.host)} yet; "
            "raise its metadata.version to 4.4-IV1 first."
        ),
        authorizer="standard",
        since=(4, 4),
    ),
    Rule(
        Layer.CONTROLLER,
        "a host with a slash that is no address range",
        lambda seen: why_no_range(seen.host) is not None,
        INVALID_REQUEST,
        lambda seen: f"Invalid CIDR notation '{seen.host}': {why_no_range(seen.host)}",
        lambda seen: (
            f"Host {shown(seen.host)} is not an address range that Kafka can read; "
            "write one such as 10.0.0.0/8 or fd00::/8."
        ),
        authorizer="standard",
        since=(4, 4),
    ),
    Rule(
        Layer.ZOOKEEPER,
        "a word that this version does not know",
        _is_unknown,
        INVALID_REQUEST,
        _always("Failed to create ACL"),
        _not_known,
        authorizer="acl",
    ),
    Rule(
        Layer.ZOOKEEPER,
        "PREFIXED, where inter.broker.protocol.version is below 2.0-IV1",
        lambda seen: seen.pattern_type == "PREFIXED" and not seen.target.prefixes,
        INVALID_REQUEST,
        _always("Failed to create ACL"),
        _always(
            "This cluster takes no PREFIXED ACLs yet; raise inter.broker.protocol.version to 2.0-IV1 first."
        ),
        authorizer="acl",
    ),
    Rule(
        Layer.ZOOKEEPER,
        "a slash in the name",
        lambda seen: "/" in seen.name,
        INVALID_REQUEST,
        _always("Failed to create ACL"),
        _no_node,
        authorizer="acl",
        since=(3, 3),
    ),
    Rule(
        Layer.ZOOKEEPER,
        "a name that cannot be a ZooKeeper node",
        lambda seen: why_no_node_name(seen.name) is not None,
        UNKNOWN_SERVER_ERROR,
        _silent,
        _no_node,
        authorizer="acl",
    ),
    Rule(
        Layer.ZOOKEEPER,
        "a principal without a colon",
        _has_no_colon,
        UNKNOWN_SERVER_ERROR,
        _silent,
        _without_colon,
        Scope.PATTERN,
        authorizer="acl",
    ),
)
"""What a cluster refuses to create, in the order in which it looks."""

DELETION_RULES: tuple[Rule, ...] = (
    _OLDEST_REQUEST,
    _LONG_TEXT,
    _FILTER_CODE_ZERO,
    _MAY_NOT_ALTER,
    _NO_AUTHORIZER,
    Rule(
        Layer.CONTROLLER,
        "a resource type or pattern type that this version does not know",
        lambda seen: "UNKNOWN" in (seen.resource_type, seen.pattern_type),
        INVALID_REQUEST,
        _always("Unknown patternFilter."),
        _not_known,
        authorizer="standard",
    ),
    Rule(
        Layer.CONTROLLER,
        "an operation or permission that this version does not know",
        lambda seen: "UNKNOWN" in (seen.operation, seen.permission_type),
        INVALID_REQUEST,
        _always("Unknown entryFilter."),
        _not_known,
        authorizer="standard",
    ),
)
"""Which filters a cluster refuses to delete with, in the order in which it looks."""

LISTING_RULES: tuple[Rule, ...] = (
    _OLDEST_REQUEST,
    _LONG_TEXT,
    _FILTER_CODE_ZERO,
    _MAY_NOT_DESCRIBE,
    _NO_AUTHORIZER_TO_ASK,
)
"""Which filters a cluster refuses to list by; a word that it does not know finds nothing."""

_TOO_MANY_NEW = Refusal(
    Layer.CONTROLLER,
    POLICY_VIOLATION,
    "Unable to perform excessively large batch operation.",
    Scope.REQUEST,
    f"A KRaft cluster takes at most {MOST_RECORDS:,} new ACLs in one request; send them in several.",
)
_TOO_MANY_GONE = Refusal(
    Layer.CONTROLLER,
    INVALID_REQUEST,
    f"Cannot remove more than {MOST_RECORDS} acls in a single delete operation.",
    Scope.REQUEST,
    f"A KRaft cluster removes at most {MOST_RECORDS:,} ACLs in one request; send narrower filters one by one.",
)
_POISONED = Refusal(
    Layer.BROKER,
    UNKNOWN_SERVER_ERROR,
    None,
    Scope.REQUEST,
    "In ZooKeeper stands an ACL with a word that the brokers do not know, and they fail to list it; correct it there.",
)


# --- what a cluster answers -----------------------------------------------------------------


def creation_answers(
    items: Sequence[Item], target: Target, *, present: Collection[AclBinding] = ()
) -> tuple[Refusal | None, ...]:
    """Return what a cluster answers to each item of one CreateAcls request; None for yes.

    present: the ACLs that it holds, which count only for the limit of 10,000 new ones.
    """
    answers = _answers(CREATION_RULES, items, target)
    if target.rules.is_standard and len(items) > MOST_RECORDS:
        held = {Item.of(binding) for binding in present}
        new = {item for item, answer in zip(items, answers, strict=True) if answer is None} - held
        if len(new) > MOST_RECORDS:
            # The broker's own refusals stand; whatever it passed on gets this answer.
            return tuple(
                answer if answer is not None and answer.layer is not Layer.CONTROLLER else _TOO_MANY_NEW
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
    if target.rules.is_standard and matched > MOST_RECORDS:
        through = all(answer is None or answer.layer is Layer.CONTROLLER for answer in answers)
        return (_TOO_MANY_GONE,) * len(filters) if through else answers
    return answers


def listing_answer(asked: Item, target: Target, *, found: Iterable[AclBinding] = ()) -> Refusal | None:
    """Return what a cluster answers to a DescribeAcls request with this filter; None for a list.

    found: the stored ACLs that the filter finds. One with a word that the brokers do not
    know, as only ZooKeeper can hold it, spoils the whole answer.
    """
    answer = _answers(LISTING_RULES, (asked,), target)[0]
    if answer is None and not target.rules.is_standard and any(binding.has_unknown for binding in found):
        return _POISONED
    return answer


def _answers(rules: Iterable[Rule], items: Sequence[Item], target: Target) -> tuple[Refusal | None, ...]:
    seen = [Seen.by(target, item) for item in items]
    answers: list[Refusal | None] = [None] * len(items)
    for rule in rules:
        if not rule.holds_in(target.rules):
            continue
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
        f"The {' and '.join(unknown)} of this ACL {'is' if len(unknown) == 1 else 'are'} UNKNOWN to this program: no "
        "filter can name it alone, and a wider one would delete other ACLs with it. "
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
    Target(Rules(authorizer=authorizer, kafka_version=version))
    for authorizer in ("standard", "acl")
    for version in reversed(VERSIONS[authorizer])
)
_OLD_SETTINGS = (Target(ranges=False), Target(Rules(authorizer="acl"), prefixes=False))


# --- what is taken, and better not asked for -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Caution:
    """Something that a cluster takes and a person should know first; `id` is a hazard's where it is one."""

    id: str
    sentence: str


def cautions(binding: AclBinding, rules: Rules) -> tuple[Caution, ...]:
    """Return what to know before this ACL is added to a cluster under these rules, or kept there."""
    found = []
    if rules.names_below_asterisk_are_a_hazard and "" < binding.resource_name[:1] < WILDCARD:
        found.append(
            Caution(
                BELOW_ASTERISK,
                f"The name {shown(binding.resource_name)} begins with a character on which a KRaft broker may fail to "
                "answer; choose a name that begins with a letter or a digit.",
            )
        )
    if rules.principals_without_colon_are_a_hazard and split_principal(binding.principal) is None:
        found.append(
            Caution(
                UNPARSABLE_PRINCIPAL,
                f"The principal {shown(binding.principal)} has no colon, and a KRaft broker fails on every "
                "request that reaches such an ACL; remove it.",
            )
        )
    if not rules.cidr_hosts and read_range(binding.host) is not None:
        found.append(
            Caution(
                DORMANT_RANGE,
                f"Kafka {rules.kafka_version} takes {shown(binding.host)} for a mere text that no address equals; the "
                "ACL counts for nobody now, and comes to life with an upgrade to KRaft 4.4.",
            )
        )
    return tuple(found)


DORMANT_RANGE = "dormant-address-range"


# --- texts -------------------------------------------------------------------------------------


def why_no_text(text: str) -> str | None:
    """Return why no request can carry this text, as a sentence; None where one can."""
    if not text.isascii() and _SURROGATE.search(text):
        return f"The text {shown(text)} holds half a character (a lone surrogate), which Kafka cannot take."
    return None


def why_no_node_name(name: str) -> str | None:
    """Return why ZooKeeper refuses `name` as one node, as the end of a sentence; None if it takes it."""
    if not name:
        return "it is empty"
    if name in (".", ".."):
        return "a node cannot be called '.' or '..'"
    refused = _NO_NODE.search(name)
    if refused is None:
        return None
    if refused[0] == "/":
        return "it holds a slash, which separates nodes"
    return f"ZooKeeper refuses the character U+{ord(refused[0]):04X}"


def why_no_range(host: str) -> str | None:
    """Return Kafka's own text on a host with a slash that it cannot read as a range; None for every other host.

    A range whose scope is the name of a network interface is readable on a broker that
    has one of this name; here it counts as unreadable.
    """
    if "/" not in host or read_range(host) is not None:
        return None
    if ":" not in host:
        found = _IPV4_SHAPE.fullmatch(host)
        if found is None:
            return f"Could not parse [{host}]"
        *octets, length = map(int, found.groups())
        for octet in octets:
            if octet > 255:
                return f"Value [{octet}] not in range [0,255]"
        return f"Value [{length}] not in range [0,32]"
    address, _, length_text = host.partition("/")
    prefix = _java_int(length_text)
    if prefix is None:
        return f"Could not parse [{host}] - invalid prefix length"
    if not 0 <= prefix <= 128:
        return f"Could not parse [{host}] - prefix length must be between 0 and 128"
    # An IPv4 address in the clothes of an IPv6 one, which Java turns into IPv4, and with a scope into nothing.
    plain = address[1:-1] if address.startswith("[") and address.endswith("]") else address
    inner = read_address(plain) if "%" not in plain else None
    mapped = inner is not None and inner[0] == 32
    return f"Could not parse [{address}]" + (" - not an IPv6 address" if mapped else "")


def _java_int(text: str) -> int | None:
    """Return what Java's Integer.parseInt reads, None where it refuses."""
    found = _INTEGER.fullmatch(text)
    if found is None:
        return None
    # Python refuses to read thousands of digits, of which all but a few must be leading zeros.
    digits = "".join(str(int(digit)) for digit in found[2]).lstrip("0") or "0"
    value = int(found[1] + digits) if len(digits) <= 10 else 2**31
    return value if -(2**31) <= value < 2**31 else None


# Java reads digits of every script, but looks at half characters of the rarest ones.
_INTEGER = re.compile(r"([+-]?)((?:(?![\U00010000-\U0010ffff])\d)+)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_NODE = re.compile("[/\0-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff\U00010000-\U0010ffff]")
_IPV4_SHAPE = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})/([0-9]{1,2})")
