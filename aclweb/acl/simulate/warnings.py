"""What should somebody hear beside the differences: first and last ACLs, names that are not there, no-ops?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aclweb.acl.authorizer import edit_caveats, in_scan_order
from aclweb.acl.matching import read_range, why_no_topic
from aclweb.acl.model import (
    OPERATIONS,
    WILDCARD,
    AclBinding,
    ResourceType,
    name_text,
    number_of,
    resource_text,
    split_principal,
)
from aclweb.acl.simulate.axes import NameAxis
from aclweb.acl.simulate.coverage import Coverage
from aclweb.acl.simulate.describing import describe
from aclweb.acl.simulate.sentences import plain, which
from aclweb.acl.simulate.wording import first_said, listed
from aclweb.acl.simulate.worlds import Worlds

# Of an edit, and of two clusters of which nobody edits one. Answers are kept and sent as text, so what is said of an
# edit is read again by the same words.
_FIRST = (
    "These are the first ACLs on {names}: {condition}everyone may use {it} today, and from then on only those whom an "
    "ACL allows."
)
_LAST_OF_AN_OPEN = (
    "These are the last ACLs on {names}: {condition}everyone may use {it} once these no longer count."
)
_LAST = "These are the last ACLs on {names}: without them only super users may use {it}."
_OF_TWO = {
    _FIRST: "Only {right} has ACLs on {names}, and only those whom one allows may use {it} there. "
    "On {left}, {condition}everyone may use {it}.",
    _LAST_OF_AN_OPEN: "Only {left} has ACLs on {names}. On {right}, {condition}everyone may use {it}.",
    _LAST: "Only {left} has ACLs on {names}. On {right}, only super users may use {it}.",
}
_UNDECLARED = "if this cluster allows everyone where no ACL exists, which nobody has declared, "
_READ = {"names": "(?P<names>.+)", "condition": f"(?P<condition>(?:{_UNDECLARED})?)", "it": "(?P<it>it|them)"}


def said_of_two(warning: str, left: str, right: str) -> str:
    """Return what an impact warns of when somebody edits a cluster, said of two that nobody edits, by their names."""
    for of_edit, of_two in _OF_TWO.items():
        if found := re.fullmatch(of_edit.replace(".", r"\.").format(**_READ), warning):
            return of_two.format(left=left, right=right, **found.groupdict())
    return f"If {left} had the ACLs and settings of {right}: {warning}"


NamesByType = dict[ResourceType, int]
"""Sets of classes of names, by type."""


class CoverChanges:
    """The classes of names for which it changes whether any ACL covers them, and new ones that none covers.

    no_longer_read, newly_read: those whose ACLs stay, and whose patterns the settings read otherwise.
    """

    def __init__(self) -> None:
        self.opened: NamesByType = {}
        self.closed: NamesByType = {}
        self.bare: NamesByType = {}
        self.no_longer_read: NamesByType = {}
        self.newly_read: NamesByType = {}

    def note(self, coverage: Coverage, **found: int) -> None:
        """Keep sets of classes of one type, by the attribute that holds them."""
        for attribute, names in found.items():
            if names:
                getattr(self, attribute)[coverage.resource_type] = names


class Warnings:
    """The sentences, the same for the same edit in whatever order its ACLs and those in force are given."""

    def __init__(self, worlds: Worlds, changes: CoverChanges) -> None:
        self.worlds, self.changes = worlds, changes

    def said(self) -> Iterator[str]:
        """Yield what a person should hear beside the differences."""
        if not self.worlds.with_acls:
            yield (
                "So many answers differ that the ACLs which settle them are left out. "
                "The principals, operations, names and hosts are exact."
            )
        yield from edit_caveats(self.worlds.after_settings)
        yield from self._no_ops()
        yield from self._default_mode()
        yield from self._names_nobody_has()
        yield from self._hosts_that_are_text()
        if self.worlds.universe.judges_by_example:
            yield (
                "Globs are worked out exactly for the names, principals and hosts that were given or that ACLs "
                "spell out. Beyond these, one example stands in for each glob; another name that it matches "
                "may get another answer."
            )
        unknown = [binding for binding in self.worlds.touching if binding.has_unknown]
        if unknown:
            yield (
                f"{number_of(len(unknown), 'ACL')} of this edit have values that aclweb does not know; what "
                f"they do is unknown, and no client can write them."
            )
        odd = (
            binding
            for binding in self.worlds.add
            if self._has_no_type(binding) or self._is_hazardous(binding)
        )
        for binding in in_scan_order(odd):
            if self._has_no_type(binding):
                yield (
                    f"The principal {binding.principal!r} has no type, so this ACL matches nobody and "
                    f"brokers may refuse it or fail on it; write 'User:{binding.principal}'."
                )
            if self._is_hazardous(binding):
                yield (
                    f"The name {name_text(binding.resource_name)} begins with a character for which a KRaft "
                    "broker may fail to answer; choose one that begins with a letter or a digit."
                )

    @staticmethod
    def _has_no_type(binding: AclBinding) -> bool:
        return split_principal(binding.principal) is None

    def _is_hazardous(self, binding: AclBinding) -> bool:
        """Whether the name begins with a character for which a KRaft broker may fail to answer."""
        is_below_asterisk = "" < binding.resource_name[:1] < WILDCARD
        return is_below_asterisk and self.worlds.after_settings.names_below_asterisk_are_a_hazard

    def _no_ops(self) -> Iterator[str]:
        there = in_scan_order(binding for binding in self.worlds.asked.add if binding in self.worlds.index)
        missing = in_scan_order(
            binding for binding in self.worlds.asked.remove if binding not in self.worlds.index
        )
        if there:
            yield f"Already in force, so adding it changes nothing: {first_said(there)}"
        if missing:
            yield f"Not in force, so removing it changes nothing: {first_said(missing)}"

    def _default_mode(self) -> Iterator[str]:
        opens = self.worlds.after_settings.allow_everyone
        unsure = "allow_everyone" in self.worlds.after_settings.undeclared
        condition = _UNDECLARED if unsure else ""
        if self.changes.closed and (self.worlds.settings.allow_everyone or unsure):
            yield self._of_classes(_FIRST, self.changes.closed, condition)
        if self.changes.opened:
            words = _LAST_OF_AN_OPEN if opens or unsure else _LAST
            yield self._of_classes(words, self.changes.opened, condition)
        yield from self._patterns_read_otherwise(condition)
        if self.changes.bare:
            who = "everyone may use" if opens else "only super users may use"
            yield f"Without an ACL: {self._classes(self.changes.bare)}; {who} {self._it_or_them(self.changes.bare)}."

    def _of_classes(self, words: str, found: NamesByType, condition: str) -> str:
        return words.format(names=self._classes(found), it=self._it_or_them(found), condition=condition)

    def _classes(self, found: NamesByType) -> str:
        """Return classes of names in words, type after type."""
        return " and ".join(
            plain(
                which(describe(kind, self._axis(kind), found[kind], self.worlds.starts(kind)), is_typed=True)
            )
            for kind in OPERATIONS
            if kind in found
        )

    def _it_or_them(self, found: NamesByType) -> str:
        is_one = sum(names.bit_count() for names in found.values()) == 1
        return "it" if is_one and all(found[kind] & self._axis(kind).all_exact for kind in found) else "them"

    def _axis(self, resource_type: ResourceType) -> NameAxis:
        return self.worlds.universe.axis(resource_type)

    def _patterns_read_otherwise(self, condition: str) -> Iterator[str]:
        """Yield what comes of patterns that stay and that cover other names under the settings afterwards."""
        if self.changes.no_longer_read:
            why = (
                "KRaft's authorizer skips LITERAL * for longer names that begin with an asterisk"
                if self.worlds.after_settings.wildcard_skips_starred_names
                else "AclAuthorizer takes the empty prefix for the empty name alone"
            )
            opens = self.worlds.after_settings.allow_everyone or bool(condition)
            who = f"{condition}everyone" if opens else "only super users"
            yield (
                f"{why}. These have no ACL any longer: {self._classes(self.changes.no_longer_read)}; "
                f"{who} may use {self._it_or_them(self.changes.no_longer_read)} from then on."
            )
        if self.changes.newly_read and (self.worlds.settings.allow_everyone or condition):
            why = (
                "Only KRaft's authorizer skips LITERAL * for longer names that begin with an asterisk"
                if self.worlds.settings.wildcard_skips_starred_names
                else "KRaft's authorizer lets the empty prefix match every name"
            )
            yield (
                f"{why}, so ACLs now match {self._classes(self.changes.newly_read)}: {condition}everyone may use "
                f"{self._it_or_them(self.changes.newly_read)} today, and from then on only those whom an ACL allows."
            )

    def _names_nobody_has(self) -> Iterator[str]:
        for resource_type in OPERATIONS:
            shelf = self.worlds.added.shelf(resource_type)
            if shelf is None or not self.worlds.universe.given(resource_type):
                continue
            axis = self.worlds.universe.axis(resource_type)
            known = axis.given | axis.new
            unknown = axis.matching(name for name in shelf.literals if name != WILDCARD) & ~known
            missing = [name for _, name in axis.classes(unknown)]
            if resource_type is ResourceType.TOPIC:
                nobodys = [name for name in missing if why_no_topic(name) is not None]
                missing = [name for name in missing if name not in set(nobodys)] if nobodys else missing
                if nobodys and not self.worlds.met_only:
                    yield f"No topic can be called {listed(list(map(name_text, nobodys)), 'name')}."
            if missing:
                texts = [resource_text(resource_type, name) for name in missing]
                its = "Its ACLs count once it is" if len(texts) == 1 else "Their ACLs count once they are"
                yield f"Not known yet: {listed(texts, 'name')}. {its} made."
        for resource_type in OPERATIONS:
            if not self.worlds.universe.new(resource_type):
                continue
            axis = self.worlds.universe.axis(resource_type)
            doubled = [name for _, name in axis.classes(axis.new & axis.given)]
            if doubled:
                names = [resource_text(resource_type, name) for name in doubled]
                it = "it were" if len(doubled) == 1 else "they were"
                yield (
                    f"Not new but there already: {listed(names, 'name')}. The gains are shown as if {it} new."
                )

    def _hosts_that_are_text(self) -> Iterator[str]:
        ranges = sorted({binding.host for binding in self.worlds.add if "/" in binding.host})
        if ranges and not self.worlds.after_settings.cidr_hosts:
            yield (
                f"This Kafka reads no address ranges, so {listed(ranges, 'host')} matches nobody "
                "(it takes effect with an upgrade to 4.4)."
            )
        if self.worlds.after_settings.cidr_hosts != self.worlds.settings.cidr_hosts:
            stored = sorted(host for host in self.worlds.index.hosts if read_range(host) is not None)
            what = (
                "From Kafka 4.4 on, hosts written as address ranges take effect"
                if self.worlds.after_settings.cidr_hosts
                else "Before Kafka 4.4 hosts written as address ranges are text, which matches nobody"
            )
            if stored:
                yield f"{what}: {listed(stored, 'host')}."
