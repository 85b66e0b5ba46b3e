"""whatif: what would this edit, other set of ACLs, new name, broker setting or reader change, and for whom?"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.cli.commands.console import (
    DID_NOT_HOLD,
    DONE,
    UsageError,
    as_json,
    emit,
    joined,
    shortened,
)
from aclweb.acl.cli.commands.inputs import Inputs
from aclweb.acl.cli.commands.options import (
    add_acl_options,
    add_json_option,
    add_rule_options,
    declared,
    settings_from,
)
from aclweb.acl.matching import matching_of, why_no_topic
from aclweb.acl.model import (
    ALLOW_EVERYONE_KEY,
    SUPER_USERS_KEY,
    AclError,
    AuthorizerSettings,
    Delta,
    PatternType,
    ResourceType,
    name_text,
    number_of,
    shown,
)
from aclweb.acl.simulate import LITERAL_ONLY, WITHOUT_GLOBS, Effect, Impact, Names, Reader, Side, simulate

LISTS = ("gains", "loses", "recovered", "depends", "resources", "warnings")
"""What --fail-on can name."""

NAMES_LISTED = 20
"""How many names a line for people spells out; --json lists them all."""

EVERYONE, ANYWHERE = "everyone", "anywhere"

TITLES = {
    "gains": "Allowed after, not before",
    "loses": "Allowed before, not after",
    "recovered": "Allowed before and after, by other ACLs",
    "depends": "Cannot tell",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    add_acl_options(parser)
    parser.add_argument("--add", metavar="FILE", help="ACLs to add, in any notation")
    parser.add_argument("--remove", metavar="FILE", help="ACLs to remove, in any notation")
    parser.add_argument("--delta", metavar="FILE", help='ACLs in JSON with "op": "add" or "remove"')
    parser.add_argument(
        "--to-acls",
        metavar="FILE",
        help="all ACLs as they are afterwards, in place of an edit, in any notation",
    )
    for what in ("topic", "group", "transactional-id"):
        parser.add_argument(
            f"--new-{what}",
            metavar="NAME",
            action="append",
            default=[],
            help="one that does not exist yet; may be repeated",
        )
    for what in ("topics", "groups", "transactional-ids", "principals", "hosts"):
        parser.add_argument(
            f"--{what}", metavar="FILE", help=f"{what.replace('-', ' ')} that exist, one a line"
        )
    parser.add_argument("--requests", metavar="FILE", help="requests whose principals and resources exist")
    add_rule_options(parser)
    group = parser.add_argument_group("the broker afterwards, where it differs")
    group.add_argument("--to-authorizer", metavar="A")
    group.add_argument("--to-kafka-version", metavar="V")
    group.add_argument("--to-super-users", metavar="TEXT")
    group.add_argument("--to-allow-everyone", choices=("true", "false"))
    group.add_argument(
        "--to-literal-only",
        action="store_true",
        help="read by a broker before Kafka 2.0, or a tool, that sees LITERAL ACLs alone",
    )
    group.add_argument(
        "--to-unseen-globs",
        action="store_true",
        help="GLOB ACLs stay where --to-authorizer knows none, and are not seen",
    )
    parser.add_argument(
        "--fail-on",
        metavar="LISTS",
        help=f"lists with commas between; exit 1 if one is not empty: {joined(LISTS)}",
    )
    add_json_option(parser)


def run(given: argparse.Namespace, inputs: Inputs) -> int:
    """Print everything that differs; exit 1 if a list named by --fail-on is not empty."""
    settings = settings_from(given)
    after_settings = _after_settings(given, settings)
    inputs.settings = (
        after_settings if after_settings is not None and _knows_globs(after_settings) else settings
    )
    watched = _watched(given.fail_on)
    index = AclIndex(inputs.bindings(given.acls, given.format))
    delta = _delta(given, inputs, index)
    names = _names(given, inputs)
    inputs.require_good()
    reader = _reader(given, settings, after_settings or settings, delta, index)

    seen = reader.as_seen(delta, index.bindings) if reader is not None else delta
    impact = simulate(seen, index, names, settings, after_settings)
    unseen = reader.warnings(delta, index.bindings) if reader is not None else ()
    warnings = (*unseen, *impact.warnings, *_topics_that_cannot_be(names.new_topics))
    impact = replace(impact, warnings=warnings)

    emit([as_json(impact.as_dict())] if given.json else map(shortened, _in_words(impact)))
    return DID_NOT_HOLD if any(getattr(impact, name) for name in watched) else DONE


def _delta(given: argparse.Namespace, inputs: Inputs, index: AclIndex) -> Delta:
    if given.to_acls is None:
        return inputs.delta(add=given.add, remove=given.remove, delta=given.delta, format=given.format)
    if any(option is not None for option in (given.add, given.remove, given.delta)):
        raise UsageError("--to-acls holds all ACLs afterwards; leave out --add, --remove and --delta.")
    return Delta.between(index.bindings, inputs.bindings(given.to_acls, given.format))


def _after_settings(given: argparse.Namespace, settings: AuthorizerSettings) -> AuthorizerSettings | None:
    said = declared(given)
    wanted = (given.to_authorizer, given.to_kafka_version, given.to_super_users, given.to_allow_everyone)
    if all(option is None for option in wanted):
        return None
    authorizer = given.to_authorizer or settings.authorizer
    stays = authorizer == settings.authorizer
    config = dict(said.config)
    if given.to_super_users is not None:
        config[SUPER_USERS_KEY] = given.to_super_users
    if given.to_allow_everyone is not None:
        config[ALLOW_EVERYONE_KEY] = given.to_allow_everyone == "true"
    try:
        return AuthorizerSettings.read(
            authorizer=authorizer,
            kafka_version=given.to_kafka_version or (settings.kafka_version if stays else None),
            config=config,
        )
    except AclError as error:
        raise UsageError(f"Afterwards: {error}") from error


def _reader(
    given: argparse.Namespace,
    settings: AuthorizerSettings,
    after_settings: AuthorizerSettings,
    delta: Delta,
    index: AclIndex,
) -> Reader | None:
    """Return who reads the ACLs afterwards; None for a broker that knows every pattern type in them."""
    loses_globs = _knows_globs(settings) and not _knows_globs(after_settings)
    if given.to_unseen_globs and not loses_globs:
        raise UsageError(
            "--to-unseen-globs is for going from --authorizer glob to one that knows no GLOB; "
            "give that as --to-authorizer standard or acl, or leave the option out."
        )
    if given.to_literal_only:
        return LITERAL_ONLY
    if given.to_unseen_globs:
        return WITHOUT_GLOBS
    stored = delta.applied_to(index.bindings) if loses_globs else ()
    if any(binding.pattern_type is PatternType.GLOB for binding in stored):
        raise UsageError(
            f"The ACLs hold GLOBs, which the authorizer {after_settings.authorizer!r} does not know; remove or "
            "compile them first, or give --to-unseen-globs for a reader that passes over them."
        )
    return None


def _knows_globs(settings: AuthorizerSettings) -> bool:
    return PatternType.GLOB in matching_of(settings).pattern_types


def _watched(text: str | None) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",")) if text is not None else ()
    for name in names:
        if name not in LISTS:
            raise UsageError(f"--fail-on {shown(name)} is no list of the answer; use {joined(LISTS)}.")
    return names


def _names(given: argparse.Namespace, inputs: Inputs) -> Names:
    requests = inputs.requests(given.requests)

    def named(path: str | None, others: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*inputs.names(path), *others)))

    def resources(resource_type: ResourceType) -> list[str]:
        return [
            request.resource_name
            for request in requests
            if request.resource_type is resource_type and request.resource_name is not None
        ]

    return Names(
        topics=named(given.topics, resources(ResourceType.TOPIC)),
        groups=named(given.groups, resources(ResourceType.GROUP)),
        transactional_ids=named(given.transactional_ids, resources(ResourceType.TRANSACTIONAL_ID)),
        delegation_tokens=named(None, resources(ResourceType.DELEGATION_TOKEN)),
        users=named(None, resources(ResourceType.USER)),
        principals=named(given.principals, [request.principal for request in requests]),
        hosts=named(given.hosts, [request.host for request in requests]),
        new_topics=tuple(given.new_topic),
        new_groups=tuple(given.new_group),
        new_transactional_ids=tuple(given.new_transactional_id),
    )


def _topics_that_cannot_be(names: Sequence[str]) -> Iterator[str]:
    for name in dict.fromkeys(names):
        reason = why_no_topic(name)
        if reason is not None:
            yield f"The new topic {shown(name)} can never be made: {reason}."


def _in_words(impact: Impact) -> Iterator[str]:
    lists = {
        "gains": impact.gains,
        "loses": impact.loses,
        "recovered": impact.recovered,
        "depends": impact.depends,
    }
    for name, effects in lists.items():
        if effects:
            yield f"{TITLES[name]} ({name}):"
            yield from _effects(effects)
    if impact.is_empty:
        yield "No answer about any name would differ."
    yield f"Unchanged: {number_of(impact.unchanged, 'answer')}."
    if impact.resources:
        touched = [
            f"{resource.resource_type.name}:{name_text(resource.name)}"
            for resource in impact.resources[:NAMES_LISTED]
        ]
        rest = len(impact.resources) - len(touched)
        yield f"Given names that a changed pattern matches: {_listed(touched, rest)}."
    for warning in impact.warnings:
        yield f"Warning: {warning}"


@dataclass(frozen=True, slots=True)
class _Line:
    """What one line for people says, in parts."""

    who: str
    operations: str
    names: str
    where: str
    change: str

    def __str__(self) -> str:
        return f"  {self.who} {self.operations} {self.names} from {self.where}: {self.change}"


def _effects(effects: Sequence[Effect]) -> Iterator[str]:
    """Yield a line for effects that are alike but for one part or two, at the place of the first of them."""
    lines = _gathered(_by_operation(effects), "names")
    for part in ("where", "who"):
        lines = _gathered(lines, part)
    yield from map(str, lines)


def _by_operation(effects: Sequence[Effect]) -> Iterator[_Line]:
    """Yield a line for all operations with which the same becomes of one name for the same callers."""
    texts: dict[object, tuple[str, str, str]] = {}
    for _spot, alike in groupby(effects, lambda e: (e.resource_type, e.names_kind, e.names_text)):
        operations: dict[tuple[str, str, str], list[str]] = {}
        for effect in alike:
            # Sides are shared by all names with the same ACLs, so few of them are put into words.
            caller = effect.principal, effect.except_principals, effect.host, effect.except_hosts
            key = *caller, id(effect.before), id(effect.after), effect.reason
            if key not in texts:
                texts[key] = _who(effect), _where(effect), _change(effect)
            operations.setdefault(texts[key], []).append(effect.operation.name)
        for (who, where, change), words in operations.items():
            yield _Line(
                who, joined(words), f"{effect.resource_type.name}:{_resources(effect)}", where, change
            )


def _gathered(lines: Iterable[_Line], part: str) -> Iterator[_Line]:
    """Yield one line for all that are alike but for one part, and so many of these parts as a line holds."""
    texts: dict[_Line, list[str]] = {}
    more: Counter[_Line] = Counter()
    for line in lines:
        text = getattr(line, part)
        # What has exceptions stands alone, or nobody could tell where they end.
        alike = line if text.startswith((EVERYONE, ANYWHERE)) else replace(line, **{part: ""})
        listed = texts.setdefault(alike, [])
        if len(listed) < NAMES_LISTED:
            listed.append(text)
        else:
            more[alike] += 1
    for alike, listed in texts.items():
        yield replace(alike, **{part: _listed(listed, more[alike])})


def _who(effect: Effect) -> str:
    who = EVERYONE if effect.principal == "*" else name_text(effect.principal)
    return who + _except(effect.except_principals)


def _where(effect: Effect) -> str:
    where = ANYWHERE if effect.host == "*" else name_text(effect.host)
    return where + _except(effect.except_hosts)


def _change(effect: Effect) -> str:
    before = "new" if effect.before is None else _side(effect.before)
    reason = f" ({effect.reason})" if effect.reason else ""
    return f"{before} -> {_side(effect.after)}{reason}"


def _except(names: Sequence[str]) -> str:
    listed = [name_text(name) for name in names[:NAMES_LISTED]]
    return f" except {_listed(listed, len(names) - len(listed))}" if names else ""


def _listed(texts: Sequence[str], more: int) -> str:
    return f"{joined(texts)} and {more:,} more" if more else joined(texts)


def _resources(effect: Effect) -> str:
    if effect.resource_name is not None:
        return name_text(effect.resource_name)
    if effect.names_kind == "PREFIX" and effect.names_text:
        return f"{name_text(effect.names_text)}…"
    if effect.names_kind == "PATTERN":
        return f"(names that match {name_text(effect.names_text)})"
    return "(any other name)"


def _side(side: Side) -> str:
    return f"{side.result.value} {side.basis.value}"
