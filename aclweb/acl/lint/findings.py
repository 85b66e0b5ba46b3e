"""What is legal and still wrong, or likely not what its author meant?

Every rule has a stable id, a severity and a page under docs/lint. `lint` looks at one ACL
alone, fast enough for every keystroke; `lint_all` also sees how the ACLs of a cluster stand
to one another. A finding says what this ACL does, not what one should think of it.

error: it does not do what it says, or a broker may fail on it. warning: it probably does more
or less than was meant. info: worth knowing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from aclweb.acl.authorizer import IMPLIED, AclIndex
from aclweb.acl.kafka import Target, cautions, refusal
from aclweb.acl.lint.across_acls import Beside
from aclweb.acl.lint.redundancy import SHADOWED, Redundancy, redundant
from aclweb.acl.matching import MANY, ONE, read_address, read_range, why_dead, why_no_client, why_no_resource
from aclweb.acl.model import (
    ANY_USER,
    CLUSTER_NAME,
    NOUNS,
    WILDCARD,
    WORDS,
    AclBinding,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
    Rules,
    name_text,
    operations_of,
    says,
    split_principal,
)

ERROR, WARNING, INFO = "error", "warning", "info"

NAME_DELIMITERS = "._:/-"


@dataclass(frozen=True, slots=True)
class LintRule:
    """One thing that lint looks for; `why` and `instead` are its documentation."""

    id: str
    severity: str
    title: str
    why: str
    instead: str


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One ACL that breaks one lint rule. by: the other ACLs that the sentence speaks of."""

    rule: str
    severity: str
    sentence: str
    acl: AclBinding
    by: tuple[AclBinding, ...] = ()

    def as_dict(self) -> dict[str, object]:
        return {
            "rule": self.rule,
            "severity": self.severity,
            "sentence": self.sentence,
            "acl": self.acl.as_dict(),
            "by": [binding.as_dict() for binding in self.by],
        }


def _rules(*rules: LintRule) -> Mapping[str, LintRule]:
    return MappingProxyType({rule.id: rule for rule in rules})


RULES: Mapping[str, LintRule] = _rules(
    LintRule(
        "refused-by-kafka",
        ERROR,
        "Kafka does not take this ACL",
        "A broker of this version answers an error to creating it. It may still be in a file, or in a cluster that "
        "was upgraded from a version which took it.",
        "Write it as the sentence says, or leave it out.",
    ),
    LintRule(
        "unknown-value",
        WARNING,
        "A word that this program does not know",
        "A newer Kafka, or another program, wrote a resource type, pattern type, operation or permission that is not "
        "known here. Where it could matter, decisions are undecided and never guessed.",
        "Update aclweb, or look at the ACL with the kafka-acls of the version that made it.",
    ),
    LintRule(
        "kraft-name-below-asterisk",
        WARNING,
        "A name on which a KRaft broker may fail",
        "A KRaft broker may fail to answer for names that begin with certain characters that are neither letters nor "
        "digits. ZooKeeper-mode brokers are not affected, so the danger can also come with a migration.",
        "Choose names that begin with a letter or a digit.",
    ),
    LintRule(
        "unparsable-principal",
        ERROR,
        "A principal without a type",
        "A principal is a type, a colon and a name, such as `User:bob`. Without the colon the ACL is for nobody, and a "
        "KRaft broker that holds it fails on every request that reaches it.",
        "Write `User:` before the name, and remove the ACL that has none.",
    ),
    LintRule(
        "dormant-address-range",
        WARNING,
        "An address range on a Kafka that reads none",
        "Kafka reads ranges such as `10.0.0.0/8` from KRaft 4.4 on. An older broker takes the ACL, and it matches no "
        "client; after an upgrade it takes effect without any edit.",
        "Name each address, or `*`; and look through such ACLs before an upgrade.",
    ),
    LintRule(
        "host-never-matches",
        ERROR,
        "A host that no client has",
        "Brokers compare the text of the client's address: dotted IPv4, or IPv6 in eight groups that is never "
        "shortened. A host name, another spelling of an address or a broken range matches nobody, so an ALLOW allows "
        "nothing and a DENY guards nothing.",
        "Write the address as Java prints it, such as `10.0.0.7` or `0:0:0:0:0:0:0:1`, a range from 4.4 on, or `*`.",
    ),
    LintRule(
        "host-not-everywhere",
        WARNING,
        "A host that only looks like every host",
        "`0.0.0.0` is one address, which no client has. `0.0.0.0/0` is every IPv4 address and `::/0` every IPv6 one: "
        "clients of the other family are left out.",
        "For every host write `*`.",
    ),
    LintRule(
        "prefix-of-asterisk",
        ERROR,
        "An asterisk as a prefix",
        "PREFIXED `*` is no wildcard: it matches names that begin with an asterisk. No topic can have such a name.",
        "For every name write LITERAL `*`.",
    ),
    LintRule(
        "asterisk-in-name",
        WARNING,
        "An asterisk in a name that is no pattern",
        "In LITERAL and PREFIXED names an asterisk is an ordinary letter: `team-*` matches only that name, "
        "asterisk included, and not `team-a`. Only LITERAL `*`, alone, is for every name.",
        "For every name that begins with `team-` write PREFIXED `team-`.",
    ),
    LintRule(
        "prefix-without-delimiter",
        WARNING,
        "A prefix that ends inside a word",
        "The prefix `order` matches `orders2` and `order-archive` as well as `order.eu`, also those that somebody else "
        "makes next year.",
        "End the prefix with the delimiter of your names, such as `order.` or `order-`.",
    ),
    LintRule(
        "name-cannot-exist",
        WARNING,
        "A name that no resource has",
        "Topics are named with letters, digits, `.`, `_` and `-`, at most 249 of them; the only cluster is "
        "`kafka-cluster`; a USER resource is a whole principal such as `User:alice`. An ACL on another name meets no "
        "request.",
        "Correct the name.",
    ),
    LintRule(
        "unlikely-principal",
        WARNING,
        "A principal that is probably spelled otherwise",
        "Principals are compared letter by letter. Only `User:*` is a wildcard; `User:a*`, `user:bob`, `User:User:bob` "
        "or a distinguished name with spaces after its commas are names of their own that hardly any client has.",
        "Copy the principal from the broker's log, where it is written exactly as the broker sees it.",
    ),
    LintRule(
        "invisible-character",
        WARNING,
        "A character that one cannot see",
        "Spaces at either end, control characters, characters of no width, and letters composed in two ways make two "
        "names that look alike and are different.",
        "Type the name anew.",
    ),
    LintRule(
        "operation-without-meaning",
        WARNING,
        "An operation that this resource does not have",
        "No request asks a broker of this version for this operation on this type of resource. An ALLOW of Read, "
        "Write, Alter or Delete still brings Describe with it.",
        "Choose an operation of the type; the sentence names them.",
    ),
    LintRule(
        "deny-leaves-describe",
        INFO,
        "A denial that leaves Describe open",
        "A DENY matches exactly its operation. Whoever is denied Read or Write can still see that the resource exists, "
        "if an ALLOW of another operation implies Describe.",
        "Deny Describe as well, or ALL, if the resource should not be seen.",
    ),
    LintRule(
        "ends-the-default",
        WARNING,
        "An ACL that allows nobody and shuts out everybody",
        "With allow.everyone.if.no.acl.found everybody may do everything with a resource as long as no ACL matches it. "
        "A DENY of one principal, or an ALLOW that no client can match, is an ACL too: from then on whoever has no "
        "ALLOW is refused.",
        "Also allow those who must keep access, such as `User:*` for ALL.",
    ),
    LintRule(
        "locks-out-administrators",
        WARNING,
        "A denial on the cluster for everybody",
        "Who changes ACLs needs Alter on the cluster, and brokers that work together need ClusterAction. A DENY of "
        "either for `User:*` beats every ALLOW, so that only super users are left.",
        "Deny it to the principals that are meant; whoever has no ALLOW is refused anyway.",
    ),
    LintRule(
        "group-right-missing",
        INFO,
        "Read on topics and on no group",
        "A consumer that commits offsets needs Read on its group as well as on the topic, else it fails with "
        "GROUP_AUTHORIZATION_FAILED (30). Only clients that assign partitions themselves do without.",
        "Allow Read on the client's groups too.",
    ),
    LintRule(
        "topic-right-missing",
        INFO,
        "Write on a transactional id and on no topic",
        "A transactional producer needs Write on the topics that it writes to, as well as on its transactional id.",
        "Allow Write on the topics, or remove the right on the id.",
    ),
    LintRule(
        SHADOWED,
        WARNING,
        "An ALLOW that a DENY overrules everywhere",
        "Wherever this ALLOW counts a DENY counts too, and a DENY always wins, however exact the ALLOW is.",
        "Remove one of the two.",
    ),
    LintRule(
        "open-to-everyone",
        WARNING,
        "Everybody, from anywhere, on everything",
        "This allows every client that can connect, whatever its principal, to do this with every resource of the "
        "type. It also ends allow.everyone.if.no.acl.found for the whole type.",
        "Name the principal, or a prefix.",
    ),
    LintRule(
        "anonymous-allowed",
        WARNING,
        "A right for clients that did not log in",
        "`User:ANONYMOUS` is every client of a PLAINTEXT listener, and of a TLS listener that asks for no certificate.",
        "Make the client log in and allow its own principal.",
    ),
    LintRule(
        "super-user-unaffected",
        INFO,
        "An ACL for a super user",
        "A super user is allowed everything before any ACL is looked at. An ALLOW adds nothing, and a DENY stops "
        "nothing.",
        "Take the principal from super.users, or remove the ACL.",
    ),
    LintRule(
        "wildcard-skips-starred-names",
        INFO,
        "A denial of every name that leaves some out",
        "KRaft's authorizer skips LITERAL `*` for longer names that begin with an asterisk. Groups and transactional "
        "ids can have such names. AclAuthorizer does not skip them, so a migration changes this.",
        "Deny PREFIXED `*` as well as LITERAL `*`.",
    ),
)
"""Every rule by its id."""


def lint(binding: AclBinding, rules: Rules | None = None) -> tuple[LintFinding, ...]:
    """Return what one ACL alone breaks, errors first."""
    found = [
        LintFinding(rule, _severity(rule, binding), sentence, binding)
        for rule, sentence in _alone(binding, rules or Rules())
    ]
    return tuple(sorted(found, key=lambda finding: (ERROR, WARNING, INFO).index(finding.severity)))


def lint_all(
    index: AclIndex, rules: Rules | None = None, *, wasted: Iterable[Redundancy] | None = None
) -> Iterator[LintFinding]:
    """Yield what each ACL breaks alone and beside the others, ACL by ACL in the order of `index`.

    wasted: what `redundant` yields for the same, if it was worked out already.
    """
    rules = rules or Rules()
    beside = Beside(index, rules)
    found_wasted = redundant(index, rules) if wasted is None else wasted
    shadows = {f.acl: f for f in found_wasted if f.rule == SHADOWED}
    for binding in index:
        yield from lint(binding, rules)
        shadow = shadows.get(binding)
        if shadow is not None:
            yield LintFinding(SHADOWED, WARNING, shadow.sentence, binding, shadow.by)
        for rule, sentence in beside.broken(binding):
            yield LintFinding(rule, RULES[rule].severity, sentence, binding)


def _severity(rule: str, binding: AclBinding) -> str:
    severity = RULES[rule].severity
    if rule == "prefix-of-asterisk" and binding.resource_type in _STARRED:
        # There such names can be, and KRaft's wildcard leaves them out.
        return WARNING
    if binding.is_deny and rule in ("name-cannot-exist", "unlikely-principal", "asterisk-in-name"):
        # A DENY that guards nothing is worse than an ALLOW that gives nothing.
        return ERROR
    if not binding.is_deny and rule == "host-never-matches":
        return WARNING
    return severity


def _alone(binding: AclBinding, rules: Rules) -> Iterator[tuple[str, str]]:
    """Yield the id and the sentence of each lint rule that this ACL breaks."""
    it = says(binding)
    if binding.has_unknown:
        yield (
            "unknown-value",
            f"{it}: a part of this ACL is UNKNOWN to this program, so nobody here can tell all it does.",
        )
        return
    cautioned = {caution.id: caution.sentence for caution in cautions(binding, rules)}
    yield from cautioned.items()
    refused = refusal("add", binding, Target(rules))
    if refused is not None:
        yield "refused-by-kafka", f"{refused.sentence} ({refused.in_kafkas_words})"
    dead = why_dead(binding, rules)
    if dead is not None and "dormant-address-range" not in cautioned and split_principal(binding.principal):
        yield "host-never-matches", f"{it}: {dead}."
    elif dead is None:
        yield from _about_the_host(binding, it, rules)
    yield from _about_the_name(binding, it, rules, refused is not None)
    yield from _about_the_principal(binding, it, rules)
    yield from _about_the_operation(binding, it, rules)


def _about_the_name(
    binding: AclBinding, it: str, rules: Rules, is_refused: bool
) -> Iterator[tuple[str, str]]:
    name = binding.resource_name
    prefixed = binding.pattern_type is PatternType.PREFIXED
    is_for_the_cluster = binding.resource_type is ResourceType.CLUSTER
    letter = _read_as_a_letter(binding, rules)
    if prefixed and name == WILDCARD:
        yield (
            "prefix-of-asterisk",
            f"{it}: in a prefix the asterisk is an ordinary letter; for every name write LITERAL *.",
        )
    elif (nowhere := why_no_resource(binding)) is not None:
        # Where Kafka refuses the name itself, or no more than an asterisk is wrong with it, that is told instead.
        told_by_asterisk = letter is not None and why_no_resource(_with_plain_letters(binding)) is None
        if not told_by_asterisk and not (is_refused and _is_taken_with_another_name(binding, rules)):
            yield "name-cannot-exist", f"{it}: {nowhere}."
    elif (
        prefixed
        and name
        and name[-1] not in NAME_DELIMITERS
        and not is_for_the_cluster
        and _can_go_on(binding)
    ):
        longer, other = name_text(f"{name}2"), name_text(f"{name}-archive")
        sentence = f"{it}: this also matches {longer} and {other}, whoever makes them."
        yield "prefix-without-delimiter", sentence
    if letter is not None:
        stem = name[:-1]
        instead = (
            f"for names that begin with {name_text(stem)} write PREFIXED {name_text(stem)}"
            if letter == WILDCARD and name.endswith(WILDCARD) and WILDCARD not in stem
            else "write GLOB if it is a wildcard"
            if rules.has_globs
            else "no pattern type of Kafka has such a wildcard"
        )
        missing = ", which no topic's name contains" if binding.resource_type is ResourceType.TOPIC else ""
        yield "asterisk-in-name", f"{it}: in this name {letter} is an ordinary letter{missing}; {instead}."
    odd = _invisible(name)
    if odd is not None:
        yield "invisible-character", f"{it}: the name {name!a} {odd}."
    skipped = rules.wildcard_skips_starred_names and binding.resource_type in _STARRED
    if binding.is_deny and binding.pattern.is_wildcard and skipped:
        many = NOUNS[binding.resource_type][1]
        sentence = f"{it}: KRaft leaves out {many} whose name begins with an asterisk and is longer."
        yield "wildcard-skips-starred-names", sentence


def _can_go_on(binding: AclBinding) -> bool:
    """Whether a name that is longer than this prefix by a word can exist."""
    name = f"{binding.resource_name}-archive"
    return why_no_resource(replace(binding, resource_name=name, pattern_type=PatternType.LITERAL)) is None


_STARRED = (ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)


def _read_as_a_letter(binding: AclBinding, rules: Rules) -> str | None:
    """Return the asterisk, or question mark, of a name that is no pattern; None if there is none.

    The cluster has one name, so that nobody takes another for a pattern of it.
    """
    if (
        binding.pattern_type is PatternType.GLOB
        or binding.resource_name == WILDCARD
        or binding.resource_type is ResourceType.CLUSTER
    ):
        return None
    letters = (MANY, ONE) if rules.has_globs else (MANY,)
    return next((letter for letter in letters if letter in binding.resource_name), None)


def _with_plain_letters(binding: AclBinding) -> AclBinding:
    return replace(binding, resource_name=binding.resource_name.replace(MANY, "x").replace(ONE, "x"))


def _is_taken_with_another_name(binding: AclBinding, rules: Rules) -> bool:
    """Whether Kafka takes this ACL on a common name."""
    common = CLUSTER_NAME if binding.resource_type is ResourceType.CLUSTER else "x"
    return refusal("add", replace(binding, resource_name=common), Target(rules)) is None


def _about_the_host(binding: AclBinding, it: str, rules: Rules) -> Iterator[tuple[str, str]]:
    address, span = read_address(binding.host), read_range(binding.host) if rules.cidr_hosts else None
    if address is not None and address[1] == 0:
        yield "host-not-everywhere", f"{it}: no client has this address; for every host write *."
    elif span is not None and span[2] == 0:
        family, other = ("IPv4", "IPv6") if span[0] == 32 else ("IPv6", "IPv4")
        yield (
            "host-not-everywhere",
            f"{it}: this is every {family} address and no {other} one; for every host write *.",
        )


def _about_the_principal(binding: AclBinding, it: str, rules: Rules) -> Iterator[tuple[str, str]]:
    principal = binding.principal
    parts = split_principal(principal)
    if parts is None:
        return
    why = why_no_client(binding, rules) or _why_unlikely(*parts)
    if why is not None:
        yield "unlikely-principal", f"{it}: {why}."
    if (odd := _invisible(principal)) is not None:
        yield "invisible-character", f"{it}: the principal {principal!a} {odd}."
    elif (odd := _invisible(parts[1])) is not None:
        yield "invisible-character", f"{it}: the name in the principal {principal!a} {odd}."
    if binding.permission_type is PermissionType.ALLOW:
        if principal == "User:ANONYMOUS":
            yield "anonymous-allowed", f"{it}: every client that does not log in is this principal."
        if principal == ANY_USER and binding.host == WILDCARD and binding.pattern.is_wildcard:
            yield "open-to-everyone", f"{it}: this is for everybody who can connect."
    if principal in rules.super_users:
        what = "a DENY does not stop" if binding.is_deny else "an ALLOW adds nothing for"
        yield "super-user-unaffected", f"{it}: {what} a super user."


def _why_unlikely(kind: str, name: str) -> str | None:
    if kind.lower() == "user" and kind != "User":
        return f"upper and lower case count, and Kafka's own type is User, not {kind}"
    if name.startswith("User:"):
        return "the type is written twice"
    if not name:
        return "it has no name"
    if _SPACED_DN.search(name):
        return "brokers write distinguished names without spaces after the commas"
    if _LOWER_DN.match(name):
        return "brokers write the keys of distinguished names in capitals, as in CN=bob"
    return None


_SPACED_DN = re.compile(r"\A[A-Za-z]+=.*, +[A-Za-z]+=")
_LOWER_DN = re.compile(r"(?:cn|ou|o|l|st|c|dc|uid)=")


def _about_the_operation(binding: AclBinding, it: str, rules: Rules) -> Iterator[tuple[str, str]]:
    operations = operations_of(binding.resource_type, rules)
    if binding.operation is not Operation.ALL and binding.operation not in operations:
        known = ", ".join(WORDS[operation] for operation in operations) or "none"
        many = NOUNS[binding.resource_type][1]
        sentence = f"{it}: Kafka {rules.kafka_version} asks for other operations on {many}: {known}."
        implied = IMPLIED.get(binding.operation) if not binding.is_deny else None
        if implied in operations:
            lists = ", which is enough to list all ACLs" if _is_about_the_cluster(binding) else ""
            sentence += f" But it brings {WORDS[implied]} with it{lists}."
        yield "operation-without-meaning", sentence
    for_everybody = binding.is_deny and binding.principal == ANY_USER and binding.host == WILDCARD
    if for_everybody and _is_about_the_cluster(binding) and binding.operation in _ADMINISTERING:
        yield (
            "locks-out-administrators",
            f"{it}: from then on only super users {_ADMINISTERING[binding.operation]}.",
        )


def _is_about_the_cluster(binding: AclBinding) -> bool:
    return binding.resource_type is ResourceType.CLUSTER and why_no_resource(binding) is None


_ADMINISTERING: Mapping[Operation, str] = {
    Operation.ALL: "administer the cluster, and brokers work together only as super users",
    Operation.ALTER: "change ACLs",
    Operation.CLUSTER_ACTION: "work together as brokers",
}


def _invisible(text: str) -> str | None:
    """Say what in a text cannot be seen, as the end of a sentence; None if all can."""
    if text != text.strip():
        return "begins or ends with a space, which counts"
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp"):
            return f"contains the character U+{ord(character):04X}, which cannot be seen"
    if not text.isascii() and unicodedata.normalize("NFC", text) != text:
        return "has a letter and its accent apart, which looks like one letter and is another name"
    return None
