"""What is the SHA-256 of what an impact means, whatever ACLs settle its answers and however its cells are grouped?

Each kind of answer is laid out session by session, and name by name: from which hosts a session has the
answer. What all sessions have in common is written once; of each other session is written what it has
beyond that and what it lacks. Groups do not overlap, so a walk over the names in their order is enough: where
the names of a group begin or end, its hosts begin or end to count. So the cost follows the runs of names.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from aclweb.acl.model import WILDCARD, ResourceType
from aclweb.acl.simulate.axes import Renumbering, TextAxis
from aclweb.acl.simulate.collecting import without_cycle_search
from aclweb.acl.simulate.impact import Group, Impact
from aclweb.acl.simulate.sets import Windowed, places_in, run, runs_of, set_of_runs

_MANY = 256
"""Names in more runs are joined and written as one number: thousands of sessions may have them alike."""

_MANY_TOGETHER = 8
"""More such sets for one session would part the names too often; then they are walked over too."""

_Run = tuple[int, int]

_Answer = tuple[str, str, str, str | None, str]
"""List, operation, resource type, and the results before and after; before: None for new names."""


class _Names(NamedTuple):
    """Names by their places among all names that differ. members: the same as a set, 0 where the runs are few."""

    runs: Sequence[_Run]
    members: int


class _Piece(NamedTuple):
    """Names of a session. hosts: from which it has an answer there or, shifted by their number, lacks it."""

    hosts: int
    names: _Names


@without_cycle_search
def digest_of(impact: Impact, changes: Collection[str]) -> str:
    """Return the SHA-256 of what an impact means. changes: the lists that count."""
    axes = impact.axes
    groups = [group for group in impact.groups if group.change in changes]
    whole = impact.differing_names(changes)
    lines = [json.dumps([kind.name, list(axes.names[kind].classes(names))]) for kind, names in whole.items()]
    words = _Words(axes.hosts)
    for answer, found in _by_answer(groups, whole).items():
        told: dict[tuple[int, ...], list[str]] = {}
        for principal, pieces in _by_principal(axes.principals, found, words.width):
            # Thousands of sessions may lack the same of what all others have.
            key = tuple(map(id, pieces))
            if key not in told:
                told[key] = list(words.of(pieces))
            head = json.dumps([*answer, principal])
            lines += [f"{head} {each}" for each in told[key]]
    return hashlib.sha256("\n".join(sorted(lines)).encode("ascii")).hexdigest()


def _by_answer(
    groups: Iterable[Group], whole: Mapping[ResourceType, int]
) -> dict[_Answer, list[tuple[int, _Piece]]]:
    """Return the principals and pieces of each kind of answer."""
    numbers = {kind: Renumbering(names) for kind, names in whole.items()}
    known: dict[ResourceType, dict[int, _Names]] = {kind: {} for kind in whole}
    lists: dict[tuple[object, ...], list[list[tuple[int, _Piece]]]] = {}
    found: dict[_Answer, list[tuple[int, _Piece]]] = {}
    for group in groups:
        of_type = known[group.resource_type]
        names = of_type.get(id(group.compact_names))
        if names is None:
            runs = list(numbers[group.resource_type].runs(group.compact_names))
            names = _Names(runs, set_of_runs(runs) if len(runs) > _MANY else 0)
            of_type[id(group.compact_names)] = names
        key = (
            group.change,
            group.resource_type._value_,
            group.operations,
            None if group.before is None else group.before.result._value_,
            group.after.result._value_,
        )
        own = lists.get(key)
        if own is None:
            rest = (group.resource_type.name, *key[3:])
            own = lists[key] = [
                found.setdefault((group.change, operation.name, *rest), []) for operation in group.operations
            ]
        piece = (group.principals, _Piece(group.hosts, names))
        for each in own:
            each.append(piece)
    return found


def _by_principal(
    axis: TextAxis, found: Iterable[tuple[int, _Piece]], width: int
) -> Iterator[tuple[str, list[_Piece]]]:
    """Yield what all principals without answers of their own have, under `*`; and for each other what is different."""
    rest: list[_Piece] = []
    told: dict[int, list[_Piece]] = {}
    for principals, piece in found:
        if not principals & axis.others:
            for place in places_in(principals):
                told.setdefault(place, []).append(piece)
            continue
        rest.append(piece)
        lacked = _Piece(piece.hosts << width, piece.names)
        for place in places_in(axis.all & ~principals):
            told.setdefault(place, []).append(lacked)
    yield WILDCARD, rest
    for place, own in told.items():
        yield axis.texts[place], own


class _Words:
    """Puts the pieces of a session into words that are the same for equal impacts."""

    def __init__(self, hosts: TextAxis) -> None:
        self._hosts = hosts
        self.width = hosts.all.bit_length()
        self._nets: dict[int, str] = {}
        self._texts: dict[int, str] = {}

    def of(self, pieces: Sequence[_Piece]) -> Iterator[str]:
        """Yield from which hosts a session has answers of its own, or lacks them, with the names of each."""
        large = [piece for piece in pieces if piece.names.members]
        if 0 < len(large) <= _MANY_TOGETHER:
            return self._by_sets([piece for piece in pieces if not piece.names.members], large)
        return self._by_runs(pieces)

    def _by_runs(self, pieces: Sequence[_Piece]) -> Iterator[str]:
        for net, runs in self._gathered(_walked(pieces)).items():
            yield f"{net} {_told(runs)}"

    def _by_sets(self, small: Sequence[_Piece], large: Iterable[_Piece]) -> Iterator[str]:
        """Yield the same where some names are in many runs: of these sets the few names of others are cut out."""
        parts: dict[int, int] = {}
        for piece in large:
            parts = _parted(parts, piece)
        few = list(_walked(small))
        rest = ~set_of_runs((start, end) for _, start, end in few)
        found: dict[str, int] = {}
        for hosts, names in parts.items():
            if net := self._net(hosts):
                found[net] = found.get(net, 0) | names & rest
        among = _among(few, [(hosts, Windowed(names)) for hosts, names in parts.items()])
        runs = self._gathered(sorted(among, key=itemgetter(1)))
        for net, own in runs.items():
            if net not in found:
                yield f"{net} {_told(own)}"
        for net, rest_of_names in found.items():
            names = rest_of_names | set_of_runs(_in_pairs(runs.get(net, ())))
            if (names & ~(names << 1)).bit_count() > _MANY:
                yield f"{net} {_hashed(names)}"
            elif names:
                yield f"{net} {_told([place for run in runs_of(names) for place in run])}"

    def _gathered(self, found: Iterable[tuple[int, int, int]]) -> dict[str, list[int]]:
        """Return the ends of the runs of names of each set of hosts, in words, neighbours as one."""
        gathered: dict[str, list[int]] = {}
        for hosts, start, end in found:
            if net := self._net(hosts):
                runs = gathered.setdefault(net, [])
                if runs and runs[-1] == start:
                    runs[-1] = end
                else:
                    runs += (start, end)
        return gathered

    def _net(self, hosts: int) -> str:
        """Return in words which hosts are had alone, and which are lacked alone; "" where there are none."""
        found = self._nets.get(hosts)
        if found is None:
            lacked = hosts >> self.width
            had = hosts ^ lacked << self.width
            both = had & lacked
            found = "" if had == lacked else f"{self._text(had ^ both)} {self._text(lacked ^ both)}"
            self._nets[hosts] = found
        return found

    def _text(self, hosts: int) -> str:
        found = self._texts.get(hosts)
        if found is None:
            text = json.dumps(self._hosts.described(hosts)).encode("ascii")
            found = self._texts[hosts] = hashlib.sha256(text).hexdigest()
        return found


def _walked(pieces: Sequence[_Piece]) -> Iterator[tuple[int, int, int]]:
    """Yield all that some pieces hold, in the order of the names: hosts, and start and end of a run of names."""
    if len(pieces) == 1:
        yield from ((pieces[0].hosts, start, end) for start, end in pieces[0].names.runs)
        return
    found = [(start, end, hosts) for hosts, names in pieces for start, end in names.runs]
    found.sort()
    # Most names have answers from one set of hosts alone: only where runs overlap are their hosts sorted.
    near: list[tuple[int, int, int]] = []
    reach = 0
    for each in found:
        start, end, _ = each
        if start >= reach:
            yield from _parted_by_hosts(near)
            near.clear()
        near.append(each)
        reach = max(reach, end)
    yield from _parted_by_hosts(near)


def _parted_by_hosts(runs: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield the names of some runs that overlap with all hosts of each."""
    if len(runs) == 1:
        ((start, end, hosts),) = runs
        yield hosts, start, end
        return
    turned: dict[int, int] = {}
    for start, end, own in runs:
        # The hosts of one name do not overlap, so that what is there twice ends where it begins.
        turned[start] = turned.get(start, 0) ^ own
        turned[end] = turned.get(end, 0) ^ own
    hosts = before = 0
    for place in sorted(turned):
        if hosts:
            yield hosts, before, place
        hosts ^= turned[place]
        before = place


def _among(
    found: Iterable[tuple[int, int, int]], parts: Sequence[tuple[int, Windowed]]
) -> Iterator[tuple[int, int, int]]:
    """Yield runs of names with all hosts of each. parts: other names by their hosts, once each."""
    for hosts, start, end in found:
        whole = left = run(0, end - start)
        for own, names in parts:
            inside = left and names.part(start, end - start) & left
            if inside:
                yield from (
                    (hosts | own, start + first, start + last) for first, last in _runs(inside, whole)
                )
                left ^= inside
        if left:
            yield from ((hosts, start + first, start + last) for first, last in _runs(left, whole))


def _runs(members: int, whole: int) -> Iterable[_Run]:
    """Return the runs of a set, of which the largest is one run."""
    return ((0, whole.bit_length()),) if members == whole else runs_of(members)


def _told(ends: Sequence[int]) -> str:
    """Return the runs of some names in words, by their ends; many as a hash."""
    if len(ends) <= 2 * _MANY:
        return " ".join(map(str, ends))
    return _hashed(set_of_runs(_in_pairs(ends)))


def _in_pairs(ends: Sequence[int]) -> Iterable[_Run]:
    return zip(ends[::2], ends[1::2], strict=True)


def _parted(parts: Mapping[int, int], piece: _Piece) -> dict[int, int]:
    """Return names by their hosts, with those of one more piece."""
    found: dict[int, int] = {}
    rest = piece.names.members
    for hosts, names in parts.items():
        for own, part in ((hosts | piece.hosts, names & rest), (hosts, names & ~rest)):
            if part:
                found[own] = found.get(own, 0) | part
        rest &= ~names
    if rest:
        found[piece.hosts] = found.get(piece.hosts, 0) | rest
    return found


def _hashed(names: int) -> str:
    return hashlib.sha256(names.to_bytes((names.bit_length() + 7) // 8, "little")).hexdigest()
