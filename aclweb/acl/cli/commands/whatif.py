"""whatif: what would this edit, other set of ACLs, new name, broker setting or reader change, and for whom?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.cli.commands.console import (
    DID_NOT_HOLD,
    DONE,
    UsageError,
    emit,
    emit_pieces,
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
from aclweb.acl.simulate import (
    LITERAL_ONLY,
    WITHOUT_GLOBS,
    Group,
    Impact,
    Names,
    Reader,
    Side,
    described,
    entries_as_json,
    groups_as_json,
    plain,
    simulate,
    whatever_the_acls,
    where,
    which,
    who,
)

LISTS = ("gains", "loses", "recovered", "depends", "resources", "warnings")
"""What --fail-on can name."""

NAMES_LISTED = 20
"""How many names a line for people spells out; --json lists them all."""

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
    parser.add_argument(
        "--groups",
        metavar="FILE",
        nargs="?",
        action="append",
        default=[],
        help="groups that exist, one a line; without a file: print groups of answers in place of single ones",
    )
    for what in ("topics", "transactional-ids", "principals", "hosts"):
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

    if given.json:
        emit_pieces(groups_as_json(impact) if None in given.groups else entries_as_json(impact))
    else:
        emit(map(shortened, _in_words(impact)))
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
        groups=named(next(filter(None, reversed(given.groups)), None), resources(ResourceType.GROUP)),
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
    groups = whatever_the_acls(impact.groups)
    for name, title in TITLES.items():
        found = [group for group in groups if group.change == name]
        if found:
            yield f"{title} ({name}):"
            yield from (_line(impact, group) for group in found)
    if impact.is_empty:
        yield "No answer about any name would differ."
    yield f"Unchanged: {number_of(impact.unchanged, 'answer')}."
    if impact.covered:
        shown_names = [
            f"{kind.name}:{name_text(name)}"
            for kind, names in impact.covered.items()
            for _, name in islice(impact.axes.names[kind].classes(names), NAMES_LISTED)
        ][:NAMES_LISTED]
        rest = sum(names.bit_count() for names in impact.covered.values()) - len(shown_names)
        yield f"Given names that a changed pattern matches: {_listed(shown_names, rest)}."
    for warning in impact.warnings:
        yield f"Warning: {warning}"


def _line(impact: Impact, group: Group) -> str:
    """Return what people read of one group."""
    sessions = plain(who(impact.axes.principals, group.principals, NAMES_LISTED))
    names = plain(which(described(impact, group), NAMES_LISTED))
    hosts = plain(where(impact.axes.hosts, group.hosts, NAMES_LISTED, reason=group.reason)) or "from anywhere"
    operations = joined([operation.name for operation in group.operations])
    before = "new" if group.before is None else _side(group.before)
    reason = f" ({group.reason})" if group.reason else ""
    return f"  {sessions} {operations} on {names} {hosts}: {before} -> {_side(group.after)}{reason}"


def _listed(texts: Sequence[str], more: int) -> str:
    return f"{joined(texts)} and {more:,} more" if more else joined(texts)


def _side(side: Side) -> str:
    return f"{side.result.value} {side.basis.value}"
