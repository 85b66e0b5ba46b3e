"""What do these arguments of kafka-acls do that a reader would not expect?

The tool ignores options that it does not use, and can remove more, or fewer, ACLs than its
arguments suggest. Each sentence here is about arguments that it accepts without a message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aclweb.acl.kafka.accepted import cautions
from aclweb.acl.kafka.options import NAME_OPTIONS, Options
from aclweb.acl.kafka.refusals import Target
from aclweb.acl.kafka.validation import refusal
from aclweb.acl.matching import AclFilter
from aclweb.acl.model import (
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    ResourceType,
    resource_text,
    shown,
)

_LONG_DASHES = ("\u2013", "\u2014")
_PRODUCER_USES = (ResourceType.TOPIC, ResourceType.TRANSACTIONAL_ID)
_CONSUMER_USES = (ResourceType.TOPIC, ResourceType.GROUP)


def notes_of(
    options: Options, acls: Sequence[AclBinding], filters: Sequence[AclFilter], settings: AuthorizerSettings
) -> tuple[str, ...]:
    """Return sentences about what the tool passes over, and about the sharp edges of what it does.

    acls and filters: what the tool would add, or remove or list, with `options`.
    """
    notes = [*_passed_over(options), *_unlike_their_look(options)]
    if options.has("add"):
        notes += _adding(acls, settings)
    elif options.has("remove"):
        notes += _removing(options, filters, settings)
    elif options.has("list"):
        notes += _listing(options, filters)
    return tuple(dict.fromkeys(notes))


def _passed_over(options: Options) -> Iterator[str]:
    if options.strays:
        words = ", ".join(map(shown, options.strays))
        one = len(options.strays) == 1
        yield f"{words} {'belongs' if one else 'belong'} to no option and {'is' if one else 'are'} ignored."
    for word in options.strays:
        if word.startswith(_LONG_DASHES):
            yield f"{shown(word)} begins with a long dash, so it is no option; write two hyphens."
    for option, value in options.idle_values:
        yield f"--{option} takes no value, so {shown(value)} is ignored and --{option} counts."
    for side in ("allow", "deny"):
        if options.has(f"{side}-host") and not options.has(f"{side}-principal"):
            yield f"--{side}-host is ignored, because no --{side}-principal is given."
    if options.has("principal") and not options.all("principal"):
        yield "--principal without a value is ignored: the ACLs of every principal are listed."
    if options.has("list") and options.has("operation"):
        yield "--operation is ignored by --list."
    if options.has("cluster") and options.has("resource-pattern-type") and not _names_the_cluster(options):
        yield "--cluster is ignored, because it counts only with the pattern type literal."
    yield from _passed_over_by_roles(options)


def _passed_over_by_roles(options: Options) -> Iterator[str]:
    used: set[ResourceType] = set()
    roles = [role for role in ("producer", "consumer") if options.has(role)]
    if not roles:
        return
    for role in roles:
        used.update(_PRODUCER_USES if role == "producer" else _CONSUMER_USES)
    by = " and ".join(f"--{role}" for role in roles)
    for resource_type, option in NAME_OPTIONS.items():
        if options.has(option) and resource_type not in used:
            yield f"--{option} is ignored by {by}."
    if options.has("cluster") and not options.has("idempotent") and _names_the_cluster(options):
        yield f"--cluster is ignored by {by}."


def _unlike_their_look(options: Options) -> Iterator[str]:
    for option in ("topic", "allow-host", "deny-host"):
        for value in options.all(option):
            if "," in value:
                yield f"{shown(value)} is taken as one name: --{option} takes no list, but may be repeated."
    for option in (*NAME_OPTIONS.values(), "allow-principal", "deny-principal", "allow-host", "deny-host"):
        for value in options.all(option):
            if value and (value[0] <= " " or value[-1] <= " "):
                kept = option == NAME_OPTIONS[ResourceType.TRANSACTIONAL_ID]
                yield f"The white space around {shown(value)} is {'kept' if kept else 'cut off'}."
    is_prefixed = any(text.upper() == "PREFIXED" for text in options.all("resource-pattern-type"))
    if is_prefixed and any(WILDCARD in options.all(option) for option in NAME_OPTIONS.values()):
        yield "A prefixed * is no wildcard: it matches names that begin with an asterisk."
    if is_prefixed and options.has("idempotent"):
        yield "The ACL on the cluster for --idempotent is literal all the same."


def _adding(acls: Sequence[AclBinding], settings: AuthorizerSettings) -> Iterator[str]:
    cluster = Target(settings)
    for acl in acls:
        no = refusal("add", acl, cluster)
        if no is not None:
            yield f"The cluster refuses what is sent. {no.sentence}"
        yield from (caution.sentence for caution in cautions(acl, settings))


def _removing(options: Options, filters: Sequence[AclFilter], settings: AuthorizerSettings) -> Iterator[str]:
    if any(asked.principal is None for asked in filters):
        named = "; ".join(dict.fromkeys(resources_in(asked) for asked in filters))
        idle = [
            f"--{option}"
            for option in ("producer", "consumer", "operation", "allow-host", "deny-host")
            if options.has(option)
        ]
        besides = f", and {', '.join(idle)} {'is' if len(idle) == 1 else 'are'} ignored" if idle else ""
        yield f"Without a principal this removes ALL ACLs of {named}{besides}."
    else:
        yield from _exact_removal(options)
    loose = {asked.pattern_type for asked in filters} & {PatternType.ANY, PatternType.MATCH}
    if PatternType.MATCH in loose:
        yield (
            "With the pattern type match, ACLs written for prefixes and for * are removed too, "
            "though other names need them."
        )
    elif loose:
        yield "With the pattern type any, both the literal and the prefixed ACLs of the name are removed."
    if not options.has("force"):
        where = "; without a terminal it fails" if settings.version >= (4, 0) else ""
        yield f"The tool asks before it removes{where}. --force stops it from asking."


def _exact_removal(options: Options) -> Iterator[str]:
    if not options.has("operation", "producer", "consumer"):
        yield (
            f"Without --operation only ACLs on {Operation.ALL.name} are removed, "
            "not those on single operations such as READ."
        )
    for side in ("allow", "deny"):
        if options.has(f"{side}-principal") and not options.has(f"{side}-host"):
            yield f"Without --{side}-host only ACLs with the host * are removed, not those with an address."
    if "User:*" in (*options.all("allow-principal"), *options.all("deny-principal")):
        yield "User:* names the ACLs for everyone, and not those of each user."


def _listing(options: Options, filters: Sequence[AclFilter]) -> Iterator[str]:
    if options.has("cluster") and any(asked.resource_type is ResourceType.ANY for asked in filters):
        yield "So no resource is named, and the ACLs of all resources are listed."
    if any(asked.principal is not None for asked in filters):
        yield "--principal compares texts: ACLs for User:* are not listed, though they count for everyone."


def _names_the_cluster(options: Options) -> bool:
    return all(text.upper() == "LITERAL" for text in options.all("resource-pattern-type"))


def resources_in(asked: AclFilter) -> str:
    """Return which resource patterns a filter names: `topic orders`, `the prefix pay of topics`."""
    if asked.resource_name is None:
        return "every resource"
    text = resource_text(asked.resource_type, asked.resource_name)
    if asked.resource_name == WILDCARD and asked.pattern_type is PatternType.LITERAL:
        text = f"{text} (as it is written, not of each name)"
    kinds = {
        PatternType.PREFIXED: f"the prefix {text}",
        PatternType.GLOB: f"the glob {text}",
        PatternType.ANY: f"{text}, literal or prefixed",
        PatternType.MATCH: f"all patterns that match {text}",
    }
    return kinds.get(asked.pattern_type, text)
