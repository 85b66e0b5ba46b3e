"""What should somebody hear beside the differences: first and last ACLs, names that are not there, no-ops?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from aclweb.acl.authorizer import in_scan_order
from aclweb.acl.matching import read_range, why_no_topic
from aclweb.acl.model import (
    OPERATIONS,
    WILDCARD,
    ResourceType,
    name_text,
    number_of,
    resource_text,
    split_principal,
)
from tests.cell_by_cell.classes import Spot
from tests.cell_by_cell.wording import first_said, it_or_them, listed
from tests.cell_by_cell.worlds import Worlds


class CoverChanges:
    """The classes of names for which it changes whether any ACL covers them, and new ones that none covers."""

    def __init__(self) -> None:
        self.opened: list[Spot] = []
        self.closed: list[Spot] = []
        self.bare: list[Spot] = []
        self.no_longer_read: list[Spot] = []
        self.newly_read: list[Spot] = []

    def note(self, spot: Spot, *, before: bool, after: bool, reread: bool) -> None:
        """Keep a class of names. reread: whether its ACLs stay and the settings read their patterns otherwise."""
        if spot.is_new:
            if not after:
                self.bare.append(spot)
        elif before and not after:
            (self.no_longer_read if reread else self.opened).append(spot)
        elif after and not before:
            (self.newly_read if reread else self.closed).append(spot)


class Warnings:
    """The sentences, the same for the same edit in whatever order its ACLs and those in force are given."""

    def __init__(self, worlds: Worlds, changes: CoverChanges) -> None:
        self.worlds, self.changes = worlds, changes

    def said(self) -> Iterator[str]:
        """Yield what a person should hear beside the differences."""
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
        for binding in in_scan_order(self.worlds.add):
            if split_principal(binding.principal) is None:
                yield (
                    f"The principal {binding.principal!r} has no type, so this ACL matches nobody and "
                    f"brokers may refuse it or fail on it; write 'User:{binding.principal}'."
                )
            if (
                self.worlds.after_settings.names_below_asterisk_are_a_hazard
                and binding.resource_name[:1]
                and binding.resource_name[0] < WILDCARD
            ):
                yield (
                    f"The name {name_text(binding.resource_name)} begins with a character for which a KRaft "
                    "broker may fail to answer; choose one that begins with a letter or a digit."
                )

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
        condition = (
            "if this cluster allows everyone where no ACL exists, which nobody has declared, "
            if unsure
            else ""
        )
        if self.changes.closed and (self.worlds.settings.allow_everyone or unsure):
            yield (
                f"These are the first ACLs on {self._spots(self.changes.closed)}: {condition}everyone may use "
                f"{it_or_them(self.changes.closed)} today, and from then on only those whom an ACL allows."
            )
        if self.changes.opened and (opens or unsure):
            yield (
                f"These are the last ACLs on {self._spots(self.changes.opened)}: {condition}everyone may use "
                f"{it_or_them(self.changes.opened)} once these no longer count."
            )
        elif self.changes.opened:
            yield (
                f"These are the last ACLs on {self._spots(self.changes.opened)}: without them only super users may use "
                f"{it_or_them(self.changes.opened)}."
            )
        yield from self._patterns_read_otherwise(condition)
        if self.changes.bare:
            who = "everyone may use" if opens else "only super users may use"
            yield f"Without an ACL: {self._spots(self.changes.bare)}; {who} {it_or_them(self.changes.bare)}."

    def _spots(self, spots: Iterable[Spot]) -> str:
        """Return all classes of names, where the product says them in words (`classes_listed`)."""
        return str(sorted((spot.resource_type.name, spot.kind, spot.text) for spot in spots))

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
                f"{why}. These have no ACL any longer: {self._spots(self.changes.no_longer_read)}; "
                f"{who} may use {it_or_them(self.changes.no_longer_read)} from then on."
            )
        if self.changes.newly_read and (self.worlds.settings.allow_everyone or condition):
            why = (
                "Only KRaft's authorizer skips LITERAL * for longer names that begin with an asterisk"
                if self.worlds.settings.wildcard_skips_starred_names
                else "KRaft's authorizer lets the empty prefix match every name"
            )
            yield (
                f"{why}, so ACLs now match {self._spots(self.changes.newly_read)}: {condition}everyone may use "
                f"{it_or_them(self.changes.newly_read)} today, and from then on only those whom an ACL allows."
            )

    def _names_nobody_has(self) -> Iterator[str]:
        for resource_type in OPERATIONS:
            given, shelf = self.worlds.universe.given(resource_type), self.worlds.added.shelf(resource_type)
            if shelf is None or not given:
                continue
            known = {*given, WILDCARD, *self.worlds.universe.new(resource_type)}
            missing = sorted(name for name in shelf.literals if name not in known)
            if resource_type is ResourceType.TOPIC:
                nobodys = [name for name in missing if why_no_topic(name) is not None]
                missing = [name for name in missing if why_no_topic(name) is None]
                if nobodys and not self.worlds.met_only:
                    yield f"No topic can be called {listed(list(map(name_text, nobodys)), 'name')}."
            if missing:
                texts = [resource_text(resource_type, name) for name in missing]
                its = "Its ACLs count once it is" if len(texts) == 1 else "Their ACLs count once they are"
                yield f"Not known yet: {listed(texts, 'name')}. {its} made."
        for resource_type in OPERATIONS:
            there = set(self.worlds.universe.given(resource_type))
            doubled = sorted(name for name in self.worlds.universe.new(resource_type) if name in there)
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
