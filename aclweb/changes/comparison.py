"""How does access differ between two clusters, two dates, or a cluster and itself with a change?

Two sets of ACLs can differ in every line and mean the same, so what is compared is the
answers: the same what-if that shows the effect of a draft, from the one side to the other.
It runs while somebody waits, so a comparison that would take long is not begun; the
settings and the number of ACLs that differ are told all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aclweb.acl.delta import Delta
from aclweb.acl.index import AclIndex
from aclweb.acl.model import ANY_USER, WILDCARD, PatternType, ResourceType
from aclweb.acl.profiles import Rules
from aclweb.acl.whatif import Names, simulate
from aclweb.changes.models import Change
from aclweb.inventory.current import InForce

# About how many differences can be worked out while a page waits; some ten thousand take a second.
MOST_WORK = 25_000

# An ACL for everybody is looked at for each principal that a name's ACLs speak of.
_EVERYBODY = 20

LISTS = ("gains", "loses", "recovered", "depends")


@dataclass(frozen=True)
class Side:
    """One of the two: a cluster now or as it was, with a change written to it or without.

    is_past: whether `here` is a revision of the past.
    """

    here: InForce
    is_past: bool = False
    change: Change | None = None

    @cached_property
    def index(self) -> AclIndex:
        if self._delta is None:
            return self.here.index
        return AclIndex(self._delta.applied_to(self.here.index.bindings))

    @property
    def words(self) -> str:
        """`prod-eu as of revision 3, with CR-7`, as the sentences of a page name this side."""
        number = self.here.revision.number if self.here.revision is not None else 0
        when = f"as of revision {number:,}" if self.is_past else "now"
        change = f", with {self.change.key}" if self.change is not None else ""
        return f"{self.here.cluster.name} {when}{change}"

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What the answer hangs on at this side."""
        revision = self.here.revision
        read = (revision.pk, revision.read_at, revision.digest) if revision is not None else ()
        return (read, self._delta and (self._delta.add, self._delta.remove), self.here.rules)

    @cached_property
    def _delta(self) -> Delta | None:
        return self.change.delta if self.change is not None else None


@dataclass(frozen=True)
class Setting:
    """One thing that answers hang on beside the ACLs, as each side has it."""

    name: str
    left: str
    right: str

    @property
    def differs(self) -> bool:
        return self.left != self.right


@dataclass(frozen=True)
class Comparison:
    """What differs from `left` to `right`.

    delta: the ACLs that only one side has. impact: the answers that differ, as the JSON of a
    what-if; None where they were too many to work out, and then `too_much` says so.
    only_left, only_right: how many topics exist on one side alone.
    """

    left: Side
    right: Side
    delta: Delta
    settings: tuple[Setting, ...]
    impact: Mapping[str, Any] | None
    too_much: str
    only_left: int
    only_right: int

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer first, then what else a reader must know."""
        told = [self.too_much or self._answer]
        if self.impact is not None and self.delta and not any(self.impact[name] for name in LISTS):
            told.append(f"The ACLs differ in {_count(len(self.delta.add) + len(self.delta.remove), 'line')}.")
        told += self._caveats
        return tuple(told)

    @property
    def _answer(self) -> str:
        impact = self.impact or {}
        unchanged = _count(impact.get("unchanged", 0), "kind of question", "kinds of question")
        gains, loses, depends = (len(impact.get(name, ())) for name in ("gains", "loses", "depends"))
        if not (gains or loses or depends):
            return (
                f"Nobody's access differs between {self.left.words} and {self.right.words}: "
                f"{unchanged} have the same answer."
            )
        parts = [_count(gains, "gain"), _count(loses, "loss", "losses")]
        if depends:
            parts.append(f"{depends:,} that cannot be told")
        return (
            f"From {self.left.words} to {self.right.words}: {', '.join(parts)}, for {self._who(impact)}; "
            f"{unchanged} have the same answer."
        )

    def _who(self, impact: Mapping[str, Any]) -> str:
        named = {
            entry["principal"] for name in ("gains", "loses", "depends") for entry in impact.get(name, ())
        }
        count = _count(len(named - {WILDCARD}), "principal")
        if WILDCARD not in named:
            return count
        return "anybody" if len(named) == 1 else f"{count} and anybody else"

    @property
    def _caveats(self) -> Iterable[str]:
        for side in dict.fromkeys((self.left.here.cluster.pk, self.right.here.cluster.pk)):
            here = self.left.here if self.left.here.cluster.pk == side else self.right.here
            if "allow_everyone" in here.rules.undeclared:
                yield (
                    f"Nobody has declared what {here.cluster.name} does where no ACL exists; "
                    "here it counts as refusing."
                )
            if here.revision is None:
                yield f"{here.cluster.name} was never read, so here it counts as having no ACL."
            if "super_users" in here.rules.undeclared:
                yield f"Nobody has declared the super users of {here.cluster.name}; here it counts as having none."
        if self.left.is_past or self.right.is_past:
            yield "Super users, default mode and version are those of today: of the past only ACLs and names are kept."


def compare(left: Side, right: Side) -> Comparison:
    """Return what differs in access from the one side to the other."""
    delta, impact = left.here.holdings.remember(
        ("compare", left.key, right.key), lambda: _worked_out(left, right)
    )
    topics = [set(side.here.holdings.names[ResourceType.TOPIC]) for side in (left, right)]
    too_much = ""
    if impact is None:
        settings = "" if left.here.rules.decides_like(right.here.rules) else " and in how ACLs are read"
        too_much = (
            f"{left.words} and {right.words} differ in {_count(len(delta.add) + len(delta.remove), 'ACL')}{settings}: "
            "too much to compare as access while a page waits. "
            "Export both and compare them with python -m aclweb.acl whatif --to-acls."
        )
    return Comparison(
        left=left,
        right=right,
        delta=delta,
        settings=_settings(left.here.rules, right.here.rules),
        impact=impact,
        too_much=too_much,
        only_left=len(topics[0] - topics[1]),
        only_right=len(topics[1] - topics[0]),
    )


def _worked_out(left: Side, right: Side) -> tuple[Delta, Mapping[str, Any] | None]:
    """Return the ACLs that differ and the answers that do, None where those would take long."""
    delta = _delta(left, right)
    if _work(left, right, delta) > MOST_WORK:
        return delta, None
    impact = simulate(delta, left.index, _names(left, right), left.here.rules, right.here.rules)
    return delta, impact.as_dict()


def _delta(left: Side, right: Side) -> Delta:
    if left.index is right.index:
        return Delta()
    return Delta.between(left.index.bindings, right.index.bindings)


def _names(left: Side, right: Side) -> Names:
    """Return the names that exist on either side."""

    def both(kind: ResourceType) -> tuple[str, ...]:
        first, second = (side.here.holdings.names[kind] for side in (left, right))
        return first if first is second else tuple(dict.fromkeys((*first, *second)))

    return Names(topics=both(ResourceType.TOPIC), groups=both(ResourceType.GROUP))


def _work(left: Side, right: Side, delta: Delta) -> int:
    """Return about how many differences there can be, without working them out."""
    held = (left.here.holdings, right.here.holdings)
    work = 0
    if not left.here.rules.decides_like(right.here.rules):
        work += sum(len(holdings.topics) + len(holdings.groups) + len(holdings.index) for holdings in held)
    for binding in (*delta.add, *delta.remove):
        wide = binding.pattern_type is not PatternType.LITERAL or binding.pattern.is_wildcard
        names = max(holdings.covered_now(binding) or 0 for holdings in held) if wide else 0
        work += (1 + names) * (_EVERYBODY if binding.principal == ANY_USER else 1)
        if work > MOST_WORK:
            break
    return work


def _settings(left: Rules, right: Rules) -> tuple[Setting, ...]:
    def both(name: str, told: Mapping[Rules, str]) -> Setting:
        return Setting(name, told[left], told[right])

    sides = (left, right)
    return (
        both("Authorizer", {rules: _AUTHORIZERS[rules.authorizer] for rules in sides}),
        both("Kafka version", {rules: rules.kafka_version for rules in sides}),
        both("Where no ACL exists", {rules: _default(rules) for rules in sides}),
        both("Super users", {rules: _super_users(rules) for rules in sides}),
    )


_AUTHORIZERS = {
    "standard": "KRaft (StandardAuthorizer)",
    "acl": "ZooKeeper (AclAuthorizer)",
    "glob": "the GLOB proposal",
}


def _default(rules: Rules) -> str:
    if "allow_everyone" in rules.undeclared:
        return "not declared"
    return "everyone is allowed" if rules.allow_everyone else "refused"


def _super_users(rules: Rules) -> str:
    if "super_users" in rules.undeclared:
        return "not declared"
    return "; ".join(sorted(rules.super_users)) or "none"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
