"""May this client do that? The answer to a client action in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from aclweb.acl.model import NOUNS, name_text
from aclweb.acl.needs.any_host import DEPENDS_ON_HOST, HostsAssessed
from aclweb.acl.needs.assessment import Asked, Assessment, Outcome, target_text
from aclweb.acl.needs.roles import GIVEN_ROLES, Names

# What a client does, as it follows `may`; an action that is not here is said by its `does`.
_PHRASES: Mapping[str, str] = MappingProxyType(
    {
        "produce": "produce",
        "produce-idempotent": "produce idempotently",
        "produce-transactional": "produce in transactions",
        "produce-two-phase": "produce with two-phase commit",
        "consume": "consume",
        "consume-new-protocol": "consume by the new group protocol",
        "consume-manual": "consume partitions that it assigns to itself",
        "consume-share": "consume in a share group",
        "streams": "run Kafka Streams",
        "streams-exactly-once": "run Kafka Streams exactly once",
        "streams-new-protocol": "run Kafka Streams by the new group protocol",
        "connect": "run a Connect worker",
        "connect-source": "run a source connector",
        "connect-sink": "run a sink connector",
    }
)
# Names that one sentence holds.
_MOST_NAMES = 4


def summary(assessment: Assessment, names: Names) -> str:
    """Return whether the client may do it, and the first right that it lacks, as one sentence.

    names: as they were given to `assess`.
    """
    who, what = name_text(assessment.principal), _what(assessment, names)
    outcome = assessment.outcome
    failing = assessment.first_failing
    if failing is not None and failing.failing is not None:
        return f"{who} may not {what}: {_refused(failing.failing)}."
    if outcome is Outcome.WORKS:
        return f"{who} may {what}: every right that it needs is allowed."
    if outcome is Outcome.SHOWS_LESS:
        return f"{who} may {what}, but does not see or get everything."
    return f"Whether {who} may {what} is unknown: an ACL has a value that is not known."


def summary_of_hosts(hosts: HostsAssessed, names: Names) -> str:
    """Return the same for every host at once, as one sentence."""
    assessment = hosts.elsewhere
    who, what = name_text(assessment.principal), _what(assessment, names)
    if hosts.depends:
        return f"Whether {who} may {what} depends on the host: {hosts.sentence.removeprefix(DEPENDS_ON_HOST)}"
    if not hosts.is_complete:
        return f"Whether {who} may {what} is unknown for every host at once: ACLs name too many of them."
    if hosts.outcome is Outcome.FAILS and len(hosts.parts) > 1:
        return f"{who} may not {what} from any host; the right that is refused differs from host to host."
    return summary(assessment, names)


def _what(assessment: Assessment, names: Names) -> str:
    action = assessment.action
    given = [
        f"{NOUNS[role.resource_type][0]} {name_text(name)}"
        for role in GIVEN_ROLES
        for name in names.get(role.key, ())
    ]
    more = f" and {len(given) - _MOST_NAMES:,} more" if len(given) > _MOST_NAMES else ""
    shown = f" ({', '.join(given[:_MOST_NAMES])}{more})" if given else ""
    return f"{_PHRASES.get(action.name) or _infinitive(action.does)}{shown}"


def _infinitive(does: str) -> str:
    """Return `lists its own tokens` as it follows `may`: `list its own tokens`."""
    verb, _, rest = does.partition(" ")
    return f"{verb.removesuffix('s')} {rest}"


def _refused(asked: Asked) -> str:
    targets = list(dict.fromkeys(target_text(decision) for decision in asked.decisions))
    if len(targets) == 1:
        return f"{targets[0]} is refused"
    return f"{' and '.join(targets)} are refused, and one of them is needed"
