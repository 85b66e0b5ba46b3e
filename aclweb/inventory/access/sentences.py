"""Which sentences say who can do what with a resource, and why a cell of its matrix is as it is?"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from aclweb.acl.authorizer import beyond_acls, part_words, places_words
from aclweb.acl.model import (
    ANY_USER,
    WORDS,
    AuthorizerSettings,
    Operation,
    ResourceType,
    acl_text,
    name_text,
    resource_text,
)
from aclweb.inventory.access.able import allowed_rows, is_unsure
from aclweb.inventory.access.cells import AccessRow, Cell, ResourceAccess

# What people want to know first of each type, as the end of "12 principals can …".
_FIRST: dict[ResourceType, tuple[tuple[Operation, str], ...]] = {
    ResourceType.TOPIC: ((Operation.READ, "read it"), (Operation.WRITE, "write to it")),
    ResourceType.GROUP: ((Operation.READ, "consume with it"),),
    ResourceType.CLUSTER: ((Operation.ALTER, "change its ACLs"), (Operation.CREATE, "create topics")),
    ResourceType.TRANSACTIONAL_ID: ((Operation.WRITE, "use it"),),
    ResourceType.DELEGATION_TOKEN: ((Operation.DESCRIBE, "describe it"),),
    ResourceType.USER: ((Operation.CREATE_TOKENS, "create tokens for it"),),
}
_NOUNS = {
    ResourceType.TOPIC: "topic",
    ResourceType.GROUP: "group",
    ResourceType.TRANSACTIONAL_ID: "transactional id",
    ResourceType.DELEGATION_TOKEN: "delegation token",
    ResourceType.USER: "user",
    ResourceType.CLUSTER: "cluster",
}
_HOSTS_NAMED = 3
_SECOND_COUNT = re.compile(r"^([0-9,]+) principals?( \(and perhaps others\))? can ")


def asked_first(kind: ResourceType) -> tuple[Operation, ...]:
    """Return the operations that people ask about first, of a resource of this type."""
    return tuple(operation for operation, _ in _FIRST.get(kind, ()))


def resource_sentences(access: ResourceAccess, settings: AuthorizerSettings) -> tuple[str, ...]:
    """Return who can do what with this resource, the most important first."""
    if access.default_applies:
        return (_by_default(access, settings),)
    named = [row for row in access.rows if row.kind == "principal" and not row.is_super_user]
    anybody = next(row for row in access.rows if row.kind == "any-user")
    first = _FIRST.get(access.resource.resource_type, ())
    clauses = [_who_can(named, anybody, operation, words) for operation, words in first]
    if clauses and clauses[0][0].isdigit():  # "12 principals can read it, 4 can write to it"
        clauses[1:] = [_SECOND_COUNT.sub(r"\1\2 can ", text) for text in clauses[1:]]
    separator = "; " if any("," in text for text in clauses) else ", "
    sentences = [_capital(f"{separator.join(clauses)}.")] if clauses else []
    sentences += _deletion(access, named, anybody)
    sentences.append(_unknown_user(anybody))
    sentences += _through_all(access, named, anybody)
    if any(verdict.state == "unknown" for row in access.rows for verdict in row.verdicts):
        sentences.append(
            "Some answers are unknown, because ACLs have values that a newer Kafka wrote and aclweb does not know."
        )
    return tuple(sentences)


def caveats(settings: AuthorizerSettings, *, default_applies: bool) -> tuple[str, ...]:
    """Return what these answers depend on that nobody has declared, or that Kafka does not list."""
    found = [*beyond_acls(settings)]
    if "super_users" in settings.undeclared:
        found.append("Nobody has declared the super users of this cluster; super users may do everything.")
    if default_applies and "allow_everyone" in settings.undeclared:
        found.append(
            "Brokers do not show their default; an administrator of this cluster can declare "
            "allow.everyone.if.no.acl.found."
        )
    return tuple(found)


def cell_sentence(cell: Cell) -> str:
    """Return what one cell says and what settled it."""
    named = cell.kind == "principal"
    who = name_text(cell.principal) if named else "somebody whom no ACL names"
    first = who if named else "Somebody whom no ACL names"
    what = f"{WORDS[cell.operation]} {resource_text(cell.resource.resource_type, cell.resource.name)}"
    dead = (
        f" An ACL names {_hosts(cell.dead_hosts)}, but brokers compare addresses, and no client has that one."
        if cell.dead_hosts
        else ""
    )
    if cell.kind == "super-users":
        return f"Super users may {what}: for them no ACL is looked at."
    if cell.state == "allowed" and not cell.determining:
        return f"{first} may {what}: this is a super user, for whom no ACL is looked at."
    if cell.state == "allowed":
        brings = _brings(cell)
        return f"{first} may {what} from any host. {_settled(cell)}{brings}{dead}"
    if cell.state == "refused":
        return (
            f"{first} may not {what}, from any host. {_settled(cell)} A DENY wins over every ALLOW; "
            "how long or exact a name is plays no part."
        )
    if cell.state == "some-hosts":
        where = "but not" if cell.elsewhere == "allowed" else "only"
        where = f"{where} from {places_words(cell.places)}"
        return f"{first} may {what}, {where}. {_settled(cell)}{_brings(cell)}{dead}"
    if cell.state == "default":
        return f"{first} may {what}: no ACL matches it, and this cluster then allows everyone."
    if cell.state == "unknown" and cell.undeclared_dependencies:
        return (
            f"Whether {who} may {what} is unknown: no ACL matches it, and nobody has declared what this "
            f"cluster does then."
        )
    if cell.state == "unknown":
        return (
            f"Whether {who} may {what} is unknown: it depends on an ACL with a value that a newer Kafka wrote "
            f"and aclweb does not know."
        )
    return f"No ACL allows {who} to {what}.{dead}"


def _by_default(access: ResourceAccess, settings: AuthorizerSettings) -> str:
    noun = _NOUNS.get(access.resource.resource_type, "resource")
    if "allow_everyone" in settings.undeclared:
        return (
            f"No ACL matches this {noun}, so the cluster's default decides. Nobody has declared it: everybody "
            f"can do everything with it, or nobody can do anything."
        )
    if settings.allow_everyone:
        return (
            f"No ACL matches this {noun} and this cluster then allows everyone: everybody can do everything "
            f"with it. The first ACL that matches it ends that for all but those whom it allows."
        )
    return f"No ACL matches this {noun}, so nobody but super users can do anything with it."


def _who_can(named: Sequence[AccessRow], anybody: AccessRow, operation: Operation, words: str) -> str:
    open_to_all = anybody.verdict(operation)
    if open_to_all is not None and open_to_all.is_allowed_somewhere:
        if open_to_all.state != "some-hosts":
            denied = [
                row for row in named if (verdict := row.verdict(operation)) and verdict.state == "refused"
            ]
            less = f" but {_principals(len(denied))} that a DENY names" if denied else ""
            return f"any user can {words}{less}"
        hosts = places_words(open_to_all.places)
        where = f"not from {hosts}" if open_to_all.elsewhere == "allowed" else f"from {hosts}"
        return f"any user can {words} {where}"
    able = allowed_rows(named, operation)
    unsure = is_unsure([*named, anybody], operation)
    if not able:
        return (
            f"whether anybody but super users can {words} is unknown"
            if unsure
            else f"nobody but super users can {words}"
        )
    perhaps = " (and perhaps others)" if unsure else ""
    clause = f"{_principals(len(able))}{perhaps} can {words}"
    limited = [
        verdict for row in able if (verdict := row.verdict(operation)) and verdict.state == "some-hosts"
    ]
    only = [verdict for verdict in limited if verdict.elsewhere != "allowed"]
    if not limited:
        return clause
    if not only:
        return f"{clause}, {_some(limited, able)}not from every host"
    places = {part_words(place): place for verdict in only for place in verdict.places}
    where = places_words([places[words] for words in sorted(places)])
    return f"{clause}, {_some(only, able)}only from {where}"


def _some(part: Collection[object], whole: Collection[object]) -> str:
    """Return `one of them `, `3 of them `, or nothing where it is all of them."""
    if len(part) == len(whole):
        return ""
    return "one of them " if len(part) == 1 else f"{len(part)} of them "


def _deletion(access: ResourceAccess, named: Sequence[AccessRow], anybody: AccessRow) -> list[str]:
    if Operation.DELETE not in access.operations:
        return []
    open_to_all = anybody.verdict(Operation.DELETE)
    by_cluster = [each for each in access.by_cluster if each.operation is Operation.DELETE]
    through_cluster = {who for each in by_cluster for who in each.principals}
    if open_to_all is not None and open_to_all.is_allowed_somewhere:
        return ["Any user can delete it."]
    if ANY_USER in through_cluster:
        return ["Any user can delete it, through a right on the cluster."]
    able = {row.principal for row in allowed_rows(named, Operation.DELETE)} | through_cluster
    unsure = is_unsure([*named, anybody], Operation.DELETE) or any(each.is_unsure for each in by_cluster)
    if not able:
        return [
            "Whether anybody but super users can delete it is unknown."
            if unsure
            else "Nobody but super users can delete it."
        ]
    some = _some(through_cluster, able)
    extra = f", {some}through a right on the cluster" if through_cluster else ""
    perhaps = " (and perhaps others)" if unsure else ""
    return [f"{_capital(_principals(len(able)))}{perhaps} can delete it{extra}."]


def _unknown_user(anybody: AccessRow) -> str:
    able = [WORDS[verdict.operation] for verdict in anybody.verdicts if verdict.is_allowed_somewhere]
    unsure = any(verdict.state == "unknown" for verdict in anybody.verdicts)
    if not able:
        return (
            "What principals without an ACL can do is unknown."
            if unsure
            else "Principals without an ACL have no access."
        )
    return f"Somebody whom no ACL names can {joined(able)}{', and perhaps more' if unsure else ''}."


def _through_all(access: ResourceAccess, named: Sequence[AccessRow], anybody: AccessRow) -> list[str]:
    first = _FIRST.get(access.resource.resource_type, ())
    if not first:
        return []
    operation, words = first[0]
    open_to_all = anybody.verdict(operation)
    if open_to_all is not None and open_to_all.is_allowed_somewhere:
        return []
    able = [row.verdict(operation) for row in allowed_rows(named, operation)]
    wide = sum(verdict is not None and verdict.through == "all" for verdict in able)
    if not wide or len(able) < 2:
        return []
    noun = _NOUNS.get(access.resource.resource_type, "resource")
    if wide == len(able):
        return [f"All that can {words} have that right only through ACLs for every {noun}."]
    has = "has" if wide == 1 else "have"
    return [
        f"{wide} of the {len(able)} that can {words} {has} that right only through ACLs for every {noun}."
    ]


def _settled(cell: Cell) -> str:
    """The first binding that settled it, spelled out, and how many more there are."""
    if not cell.determining:
        return ""
    more = len(cell.determining) - 1
    others = f" (and {more} more ACL{'s' if more > 1 else ''})" if more else ""
    return f"{acl_text(cell.determining[0])}{others}."


def _brings(cell: Cell) -> str:
    if not cell.implied:
        return ""
    givers = sorted({WORDS[binding.operation] for binding in cell.determining if not binding.is_deny})
    return f" In Kafka, {joined(givers, 'or')} brings {WORDS[cell.operation]} with it."


def _hosts(hosts: Iterable[str]) -> str:
    found = [name_text(host) for host in hosts]
    if len(found) > _HOSTS_NAMED:
        return f"{', '.join(found[:_HOSTS_NAMED])} and {len(found) - _HOSTS_NAMED} more"
    return joined(found)


def joined(words: Sequence[str], last: str = "and") -> str:
    """Return `a`, `a and b` or `a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def _principals(count: int) -> str:
    return "1 principal" if count == 1 else f"{count:,} principals"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
