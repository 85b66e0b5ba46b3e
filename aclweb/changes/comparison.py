"""How does access differ between two clusters, two dates, or a cluster and itself with a change?

Two sets of ACLs can differ in every line and mean the same, so what is compared is the
answers: the same what-if that shows the effect of a draft, from the one side to the other.
It runs while somebody waits, so it has the budget of any other effect; beyond it the
settings and the number of ACLs that differ are shown all the same, and a worker can compute it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from aclweb.acl.authorizer import AclIndex, Basis, beyond_acls
from aclweb.acl.model import AuthorizerSettings, Delta, ResourceType, computed_once, number_of
from aclweb.acl.simulate import Budget, Impact, Names, TooCostly, Watch, said_of_two, simulate, trimmed
from aclweb.changes.impact import BUDGET, DIFFERENCES
from aclweb.changes.kept import Kept
from aclweb.changes.models import Computation
from aclweb.changes.question import Side as Side
from aclweb.changes.question import comparison, finished
from aclweb.changes.replaying import replay_between
from aclweb.insights.models import Load
from aclweb.insights.replay import Replay
from aclweb.inventory.current import config_rows, not_known


@dataclass(frozen=True)
class Between:
    """What two sides are called. Of two clusters nothing is lost or gained: one allows what the other does not."""

    left: str
    right: str


@dataclass(frozen=True)
class Setting:
    """One thing that answers depend on besides the ACLs, as each side has it."""

    name: str
    left: str
    right: str

    @property
    def differs(self) -> bool:
        return self.left != self.right

    @property
    def noun(self) -> str:
        """Its name within a sentence."""
        return self.name if self.name.startswith("Kafka") else f"{self.name[0].lower()}{self.name[1:]}"

    def told(self, between: Between | None) -> str:
        """Return it as a sentence; between: the clusters, where two are compared."""
        if between is None:
            return f"{self.name}: {self.left} before, {self.right} after."
        return f"{self.name}: {self.left} on {between.left}, {self.right} on {between.right}."


@dataclass(frozen=True)
class Comparison:
    """What differs from `left` to `right`.

    delta: the ACLs that only one side has. impact: the answers that differ; None where they
    were too many to work out, and then `too_much` says so.
    left_out: who is a super user on one side alone and missing from `impact` for that, since
    nearly every answer to them differs; nobody where those can be listed one by one.
    only_left, only_right: how many topics exist on one side alone.
    """

    left: Side
    right: Side
    delta: Delta
    settings: tuple[Setting, ...]
    impact: Impact | None
    too_much: str
    only_left: int
    only_right: int
    left_out: frozenset[str] = frozenset()

    @computed_once
    def between(self) -> Between | None:
        """The clusters, where they are two; None for one of them at two times, or before and after an edit."""
        is_one = self.left.view.cluster.pk == self.right.view.cluster.pk
        return None if is_one else self.called

    @computed_once
    def called(self) -> Between:
        """How the sides are called for short, `prod-eu` or `prod-eu as of revision 3`."""
        left, right = (side.words.removesuffix(" now") for side in (self.left, self.right))
        one, other = self.left.view.cluster, self.right.view.cluster
        if left == right and one.pk != other.pk:
            # Two clusters may have one name, and then only their addresses tell them apart.
            return Between(f"{left} ({one.slug})", f"{right} ({other.slug})")
        return Between(left, right)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The answer first, then what else a reader must know."""
        sentences = [self.too_much or (_but_for_super_users(self._answer) if self.left_out else self._answer)]
        if self.impact is not None and self.delta and not any(self.impact.counts.values()):
            sentences.append(
                f"The ACLs differ in {number_of(len(self.delta.add) + len(self.delta.remove), 'line')}."
            )
        if self.impact is not None:
            sentences += _by_declaration(self, self.impact)
        sentences += self._caveats
        return tuple(sentences)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the impact warns of, in the words of a comparison where two clusters are compared."""
        if self.impact is None:
            return ()
        if (two := self.between) is None:
            return self.impact.warnings
        return tuple(said_of_two(each, two.left, two.right) for each in self.impact.warnings)

    def replay(self, load: Load | None, *, days: int | None = None) -> Replay | None:
        """Return what the requests of the first side's log would be answered on the second; None where none was read.

        load: the newest of that log. days: the last ones of the log; None for all of it.
        """
        left, right = self.left, self.right
        return replay_between(
            load,
            left.view,
            right.view,
            self.delta,
            (lambda: left.index, lambda: None if _is_edit(left, right) else right.index),
            None if self.left_out else self.impact,
            (left.key, right.key),
            days=days,
        )

    @property
    def _answer(self) -> str:
        if self.impact is None:
            return ""
        left, right = self.left.words, self.right.words
        if left == right:
            left, right = self.called.left, self.called.right
        gains, loses, depends = (self.impact.counts[name] for name in ("gains", "loses", "depends"))
        if not (gains or loses or depends):
            return f"Nobody's access differs between {left} and {right}."
        parts = []
        if gains:
            parts.append(f"{right} grants {number_of(gains, 'right')} that {left} does not")
        if loses:
            parts.append(f"{'and' if gains else right} lacks {number_of(loses, 'right')} that {left} grants")
        who = f" ({self._who(self.impact)})"
        text = f"{', '.join(parts)}{who}" if parts else ""
        if depends:
            rights = number_of(depends, "right")
            text = (
                f"{text}; {rights} more cannot be determined"
                if text
                else f"Between {left} and {right}, {rights} cannot be determined{who}"
            )
        return f"{'The ' + text[4:] if text.startswith('the ') else text}."

    def _who(self, impact: Impact) -> str:
        members = impact.principals_of(DIFFERENCES)
        named = len(impact.axes.principals.named(members))
        if not members & impact.axes.principals.others:
            return number_of(named, "principal")
        return f"{number_of(named, 'principal')} and anybody else" if named else "anybody"

    @property
    def _caveats(self) -> Iterable[str]:
        sides = (self.left, self.right)
        for name in dict.fromkeys(side.view.cluster.name for side in sides):
            own = [side for side in sides if side.view.cluster.name == name]
            if when := _undeclared("allow_everyone", own):
                yield f"{when} what {name} does where no ACL exists; here it counts as refusing."
            if any(side.view.revision is None for side in own):
                yield f"{name} was never read, so here it counts as having no ACL."
            if when := _undeclared("super_users", own):
                yield f"{when} the super users of {name}; here it counts as having none."
            yield from dict.fromkeys(
                f"{name}: {sentence}"
                for side in own
                # Of the right side, the impact says it.
                if self.impact is None or side.view.settings.service != self.right.view.settings.service
                for sentence in beyond_acls(side.view.settings)
            )
        for side in (self.left, self.right):
            for sentence in not_known(side.moment) if side.moment is not None else ():
                yield f"{side.view.cluster.name}: {sentence}"


def _but_for_super_users(answer: str) -> str:
    return f"Leaving the super users aside: {answer}"


def _undeclared(setting: str, sides: list[Side]) -> str:
    """Return the beginning of a sentence about a setting that some of a cluster's sides lack; empty for none."""
    lacking = [side for side in sides if setting in side.view.settings.undeclared]
    if not lacking:
        return ""
    moment = lacking[0].moment
    if moment is None or len(lacking) == len(sides) > 1:
        return "Nobody has declared"
    return f"As of {moment.words}, nobody had declared"


def _by_declaration(found: Comparison, impact: Impact) -> Iterable[str]:
    """Name what of the difference comes from declarations, whatever the ACLs."""
    left, right = found.left.view.settings, found.right.view.settings
    differing = {setting.name: setting for setting in _settings(left, right) if setting.differs}
    bases: Counter[tuple[Basis | None, Basis]] = Counter()
    for group in impact.groups:
        if group.change in DIFFERENCES:
            before = None if group.before is None else group.before.basis
            bases[before, group.after.basis] += impact.effects_in(group)
    entries = bases.total()
    if differing and entries and not found.delta:
        yield "No ACL differs: all differences are due to what is declared or was found of the brokers."
    if setting := differing.get("Super users"):
        count = sum(n for (before, after), n in bases.items() if (before == _SUPER) != (after == _SUPER))
        yield f"{setting.told(found.between)} {_LEFT_OUT if found.left_out else _from_that(count, entries)}."
    if setting := differing.get("Where no ACL exists"):
        count = sum(n for (before, after), n in bases.items() if {before, after} == _DEFAULTS)
        yield f"{setting.told(found.between)} {_from_that(count, entries)}."
    as_right = replace(left, super_users=right.super_users, allow_everyone=right.allow_everyone)
    read = (
        "Both interpret every ACL alike"
        if as_right.decides_like(right)
        else "The two interpret ACLs differently, which alone may explain differences"
    )
    for name in ("Authorizer", "Kafka version"):
        if setting := differing.get(name):
            yield f"{setting.told(found.between)} {read}."


_SUPER = Basis.SUPER_USER
_LEFT_OUT = "Principals that are super users on only one side are left out: they differ on nearly everything"
_DEFAULTS = {Basis.DEFAULT_ALLOW, Basis.DEFAULT_DENY}


def _from_that(count: int, entries: int) -> str:
    if count == 0:
        return "No answer differs by that"
    if count == entries:
        return "Every gain and loss is due to that" if count > 1 else "The one difference is due to that"
    return f"{count:,} of these differences {'comes' if count == 1 else 'come'} from that"


def compare(left: Side, right: Side, *, computed: Computation | None = None) -> Comparison:
    """Return what differs in access from the one side to the other.

    computed: what a worker has done of exactly this, whose impact is the answer; looked up if left out.
    """
    asked = (left.view.cluster.pk, left.key, right.view.cluster.pk, right.key, computed and computed.pk)
    delta, impact, left_out = _kept.remember(asked, lambda: _worked_out(left, right, computed))
    if impact is None and (done := finished(comparison(left, right))):
        impact, left_out = done.impact, frozenset(done.left_out)
    return told(left, right, delta, impact, left_out)


def told(
    left: Side, right: Side, delta: Delta, impact: Impact | None, left_out: frozenset[str]
) -> Comparison:
    """Return what differs, of which the impact is worked out already; None where it was too much."""
    only_left, only_right = _topics_apart(left, right)
    settings = _settings(left.view.settings, right.view.settings)
    too_much = ""
    if impact is None:
        others = [each.noun for each in settings if each.differs]
        otherwise = f" and otherwise ({', '.join(others)})" if others else ""
        too_much = (
            f"{left.words} and {right.words} differ in "
            f"{number_of(len(delta.add) + len(delta.remove), 'ACL')}{otherwise}: "
            "too much to compare as access while a page waits."
        )
    return Comparison(
        left=left,
        right=right,
        delta=delta,
        settings=settings,
        impact=impact,
        too_much=too_much,
        only_left=only_left,
        only_right=only_right,
        left_out=left_out,
    )


def _topics_apart(left: Side, right: Side) -> tuple[int, int]:
    """Return how many topics only the one has, and how many only the other."""

    def counted() -> tuple[int, int]:
        before, after = (set(side.view.loaded.names[ResourceType.TOPIC]) for side in (left, right))
        return len(before - after), len(after - before)

    if left.view.loaded is right.view.loaded:
        return 0, 0
    return left.view.loaded.remember(("topics apart", right.key), counted)


def compute(
    left: Side, right: Side, *, budget: Budget, watch: Watch | None = None, with_acls: bool = True
) -> tuple[Impact, frozenset[str]]:
    """Return the answers that differ, and who is left out of them; raises TooCostly beyond the budget.

    with_acls: whether the answers have the ACLs that settle them.
    """
    return _impact(left, right, between(left, right), budget, watch, with_acls=with_acls)


_Worked = tuple[Delta, Impact | None, frozenset[str]]


def _weight(worked: _Worked) -> int:
    """Return about how many bytes a comparison takes."""
    delta, impact, _ = worked
    size = impact.weight if impact is not None else 0
    return 10_000 + 300 * (len(delta.add) + len(delta.remove)) + size


_kept: Kept[_Worked] = Kept(_weight, TooCostly)


def _worked_out(left: Side, right: Side, computed: Computation | None = None) -> _Worked:
    """Return the ACLs that differ and the answers that do, None where those would take long, and who is left out."""
    delta = between(left, right)
    computed = computed or finished(comparison(left, right))
    if computed is not None and computed.impact is not None:
        return delta, computed.impact, frozenset(computed.left_out)
    try:
        # The page tells by how many ACLs the sides differ, and not which of them costs most.
        return delta, *_impact(left, right, delta, replace(BUDGET, names_costliest=False))
    except TooCostly:
        return delta, None, frozenset()


def _impact(
    left: Side,
    right: Side,
    delta: Delta,
    budget: Budget,
    watch: Watch | None = None,
    *,
    with_acls: bool = True,
) -> tuple[Impact, frozenset[str]]:
    """Return the answers that differ: to everybody, or without super users of one side alone, who are the second."""
    settings = (left.view.settings, right.view.settings)
    either = settings[0].super_users | settings[1].super_users
    one_sided = settings[0].super_users ^ settings[1].super_users

    def found(settings: tuple[AuthorizerSettings, AuthorizerSettings]) -> Impact:
        names = _names(left, right)
        return trimmed(
            simulate(
                delta,
                left.index,
                names,
                *settings,
                met_only=True,
                merge_equal_hosts=True,
                with_acls=with_acls,
                budget=budget,
                watch=watch,
            )
        )

    try:
        return found(settings), frozenset()
    except TooCostly:
        if not one_sided:
            raise
    alike = (replace(settings[0], super_users=either), replace(settings[1], super_users=either))
    return found(alike), one_sided


def between(left: Side, right: Side) -> Delta:
    """Return the ACLs that only one side has, as the delta that leads from left to right."""
    if left.index is right.view.index:
        return _with_an_effect(right.delta, left.index) if right.delta is not None else Delta()
    return Delta.between_distinct(left.index.bindings, right.index.bindings)


def _is_edit(left: Side, right: Side) -> bool:
    """Whether the ACLs of the right side are those of the left with an edit: to file them all takes long."""
    return right.delta is not None and left.index is right.view.index


def _with_an_effect(delta: Delta, index: AclIndex) -> Delta:
    """Return what of an edit is not so already."""
    return Delta(
        tuple(binding for binding in delta.add if binding not in index),
        tuple(binding for binding in delta.remove if binding in index),
    )


def _names(left: Side, right: Side) -> Names:
    """Return the names that exist on either side, and those that count as if they did."""

    def both(kind: ResourceType, more: tuple[str, ...] = ()) -> tuple[str, ...]:
        first, second = (side.view.loaded.names[kind] for side in (left, right))
        return first if first is second and not more else tuple(dict.fromkeys((*first, *second, *more)))

    fresh = (*left.new_topics, *right.new_topics)
    return Names(topics=both(ResourceType.TOPIC, fresh), groups=both(ResourceType.GROUP))


def _settings(left: AuthorizerSettings, right: AuthorizerSettings) -> tuple[Setting, ...]:
    both = zip(config_rows(left), config_rows(right), strict=True)
    return tuple(Setting(name, one, other) for (name, one), (_, other) in both)
