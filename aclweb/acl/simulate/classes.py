"""Which questions can be asked of two worlds of ACLs, sorted into classes that get one answer?

Names, principals and hosts are infinitely many, but for LITERAL and PREFIXED patterns they
fall into finitely many classes:

* a name that was given or that a LITERAL names, by itself; the names nobody gave that begin
  with a prefix and with no longer one; every other name;
* a principal that an ACL or the super users name, by itself; everybody else;
* a host that was given or that an ACL names, by itself; every other address.

Of GLOB patterns, and of the globs among principals and hosts, each makes one class more: what
nobody gave and it matches. Such classes overlap, so the answer for one of them is the answer
for one example.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from aclweb.acl.authorizer import AclIndex, ResourceShelf
from aclweb.acl.matching import (
    GlobSet,
    glob_shape,
    host_shape,
    in_range,
    matching_of_either,
    sample_of,
)
from aclweb.acl.model import (
    ANY_USER,
    CLUSTER_NAME,
    OPERATIONS,
    WILDCARD,
    AuthorizerSettings,
    Operation,
    ResourceType,
    computed_once,
    operations_of,
)
from aclweb.acl.simulate.axes import EXACT, PATTERN, NameAxis
from aclweb.acl.simulate.sets import set_of
from aclweb.acl.simulate.spelled_names import SpelledNames, spelled_names

FREE_NAMES = (ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
"""The types whose names may be any text, so that they may begin with an asterisk."""

_STRANGE = 0xE000
"""The first code point of names that nobody has."""

_LENGTHS_TRIED = 4

_ADDRESSES = ("203.0.113.9", "198.51.100.23", "192.0.2.44", "172.16.77.7", "10.254.3.99")
"""Addresses of which hardly any ACL names all."""


@dataclass(frozen=True)
class Names:
    """What exists: the resources, principals and addresses that answers are wanted for.

    Those that ACLs and super users name are looked at anyway. New ones do not exist
    before, so that nobody has access to them before.
    """

    topics: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    transactional_ids: tuple[str, ...] = ()
    delegation_tokens: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    principals: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    new_topics: tuple[str, ...] = ()
    new_groups: tuple[str, ...] = ()
    new_transactional_ids: tuple[str, ...] = ()

    def new(self, resource_type: ResourceType) -> tuple[str, ...]:
        """Return those of a type that do not exist before."""
        new = {
            ResourceType.TOPIC: self.new_topics,
            ResourceType.GROUP: self.new_groups,
            ResourceType.TRANSACTIONAL_ID: self.new_transactional_ids,
        }
        return new.get(resource_type, ())

    def given(self, resource_type: ResourceType) -> tuple[str, ...]:
        """Return those of a type that exist before, in the order given."""
        given = {
            ResourceType.TOPIC: self.topics,
            ResourceType.GROUP: self.groups,
            ResourceType.CLUSTER: (CLUSTER_NAME,),
            ResourceType.TRANSACTIONAL_ID: self.transactional_ids,
            ResourceType.DELEGATION_TOKEN: self.delegation_tokens,
            ResourceType.USER: self.users,
        }
        return given[resource_type]


@lru_cache(maxsize=64)
def _operations_in_either(
    settings: AuthorizerSettings, after_settings: AuthorizerSettings
) -> dict[ResourceType, tuple[Operation, ...]]:
    """Return the operations of each type in either world."""
    found: dict[ResourceType, tuple[Operation, ...]] = {}
    for resource_type, operations in OPERATIONS.items():
        either = {*operations_of(resource_type, settings), *operations_of(resource_type, after_settings)}
        found[resource_type] = tuple(operation for operation in operations if operation in either)
    return found


class Universe:
    """All classes of the two worlds: those of `index`, and those that `added` brings."""

    def __init__(
        self,
        index: AclIndex,
        added: AclIndex,
        names: Names,
        settings: AuthorizerSettings,
        after_settings: AuthorizerSettings,
        hosts: frozenset[str],
        without: frozenset[str] = frozenset(),
    ) -> None:
        """hosts: those in ACLs of `index` that are to have a class of their own. without: those that get none."""
        self.index, self.added, self.names = index, added, names
        self._hosts, self._without = hosts, without
        self.settings, self.after_settings = settings, after_settings
        self.matching = matching_of_either(settings, after_settings)
        self._new = {kind: dict.fromkeys(names.new(kind)) for kind in OPERATIONS}
        self._types = {resource_type: _TypeNames(self, resource_type) for resource_type in OPERATIONS}
        self._operations = _operations_in_either(settings, after_settings)

    def given(self, resource_type: ResourceType) -> tuple[str, ...]:
        """Return the names of a type that exist before, in the order given."""
        return self.names.given(resource_type)

    def new(self, resource_type: ResourceType) -> dict[str, None]:
        """Return the names of a type that do not exist before, once each."""
        return self._new[resource_type]

    @computed_once
    def principals(self) -> frozenset[str]:
        """The principals with a class of their own; one more class holds everybody else."""
        return self.index.typed_principals.union(
            self.added.typed_principals,
            self.settings.super_users,
            self.after_settings.super_users,
            self.names.principals,
        ) - {ANY_USER}

    @computed_once
    def has_globs(self) -> bool:
        """Whether an ACL of one of the worlds has a GLOB pattern."""
        return self.index.first_glob is not None or self.added.first_glob is not None

    @property
    def judges_by_example(self) -> bool:
        """Whether a glob is there, so that answers beyond the given names are those of examples."""
        return any(names.patterns for names in self._types.values()) or bool(
            self.matching.principal_globs(self.principals) or self.matching.host_globs(self.hosts)
        )

    def session(self, principal: str | None) -> str:
        """Return the session that stands for a class of principals; None asks for everybody else."""
        if principal is None:
            # Where principals are texts, only ACLs for everybody match a session that nobody names.
            return ANY_USER if self.matching.is_nested else f"User:{self._stranger}"
        if not self.matching.is_principal_glob(principal) or principal in self._given_principals:
            return principal
        return self.matching.example_session(principal, self._stranger)

    def address(self, host: str) -> str:
        """Return the address that stands for a class of hosts."""
        if not self.matching.is_host_glob(host) or host in self.names.hosts:
            return host
        return self.matching.example_address(host, self._stranger)

    @computed_once
    def other_address(self) -> str:
        """An address that nobody names, in no range and, where there is one, under no glob; "" without globs."""
        if self.matching.is_nested:
            return ""
        free = [
            address
            for address in _ADDRESSES
            if address not in self.hosts and not any(in_range(host, address) for host in self.hosts)
        ]
        globs = list(map(host_shape, self.matching.host_globs(self.hosts)))
        apart = (address for address in free if not any(shape.matches(address) for shape in globs))
        return next(apart, free[0] if free else f"elsewhere{self._stranger}")

    @computed_once
    def _given_principals(self) -> frozenset[str]:
        return frozenset(self.names.principals) | self.settings.super_users | self.after_settings.super_users

    @computed_once
    def _stranger(self) -> str:
        """A character that no principal and no host holds."""
        return _strange("".join((*self.principals, *self.hosts)))

    @computed_once
    def hosts(self) -> frozenset[str]:
        """The hosts with a class of their own; one more class holds every other address."""
        return (self._hosts | self.added.hosts | frozenset(self.names.hosts)) - {WILDCARD} - self._without

    def operations(self, resource_type: ResourceType) -> tuple[Operation, ...]:
        """Return the operations of a type in either world."""
        return self._operations[resource_type]

    def cells(self) -> int:
        """Return the number of all questions: names x operations x principals x hosts, in classes."""
        sessions = (len(self.principals) + 1) * (len(self.hosts) + 1)
        return sessions * sum(
            names.count * len(self.operations(resource_type)) for resource_type, names in self._types.items()
        )

    @property
    def size(self) -> int:
        """How many ACLs and names there are."""
        return len(self.index) + len(self.added) + sum(names.count for names in self._types.values())

    def count(self, resource_type: ResourceType) -> int:
        """Return how many classes of names of a type there are."""
        return self._types[resource_type].count

    def axis(self, resource_type: ResourceType) -> NameAxis:
        """Return the classes of names of a type."""
        return self._types[resource_type].axis

    def sample(self, resource_type: ResourceType, place: int) -> str:
        """Return a name of the class at a place; for an exact name the name itself."""
        return self._types[resource_type].sample_at(place)


class _TypeNames:
    """The classes of names of one resource type."""

    def __init__(self, universe: Universe, resource_type: ResourceType) -> None:
        self.universe, self.resource_type = universe, resource_type
        self.is_cluster = resource_type is ResourceType.CLUSTER

    @computed_once
    def shelves(self) -> list[ResourceShelf]:
        found = (index.shelf(self.resource_type) for index in (self.universe.index, self.universe.added))
        return [shelf for shelf in found if shelf is not None]

    @computed_once
    def spelled(self) -> SpelledNames:
        """The names that were given, and those that a LITERAL in force names."""
        shelf = None if self.is_cluster else self.universe.index.shelf(self.resource_type)
        return spelled_names(shelf, self.universe.given(self.resource_type))

    @computed_once
    def more(self) -> set[str]:
        """The other names that are classes of their own: new ones, and those of LITERALs that come."""
        if self.is_cluster:
            return set()
        found = set(self.universe.new(self.resource_type))
        if not self.shelves:
            return found - self.spelled.given
        added = self.universe.added.shelf(self.resource_type)
        if added is not None:
            found |= added.literals.keys() - {WILDCARD}
        # Two names answer unlike their neighbours: the empty one, which an empty prefix alone
        # covers in ZooKeeper mode, and `*` itself, which KRaft's wildcard covers.
        if self._empty_prefix and not (
            self.universe.settings.empty_prefix_covers_all
            and self.universe.after_settings.empty_prefix_covers_all
        ):
            found.add("")
        if self.resource_type in FREE_NAMES and _holds(self.prefixes, WILDCARD):
            found.add(WILDCARD)
        return found - self.spelled.given - self.spelled.ungiven

    def has_exact(self, name: str) -> bool:
        """Whether a name is a class of its own."""
        return name in self.spelled.given or name in self.spelled.ungiven or name in self.more

    @computed_once
    def prefixes(self) -> tuple[str, ...]:
        """The texts of the PREFIXED patterns, and of two more where settings need them, in order."""
        if self.is_cluster or not self.shelves:
            return ()
        in_force, added = (
            index.shelf(self.resource_type) for index in (self.universe.index, self.universe.added)
        )
        there = in_force.chain.prefixes if in_force is not None else ()
        more = set(added.chain.prefixes) if added is not None else set()
        both = (self.universe.settings, self.universe.after_settings)
        if self._empty_prefix and any(settings.empty_prefix_covers_all for settings in both):
            more.add("")
        if (
            self.resource_type in FREE_NAMES
            and any(settings.wildcard_skips_starred_names for settings in both)
            and any(shelf.wildcard for shelf in self.shelves)
        ):
            # KRaft skips the literal `*` for longer names that begin with an asterisk, so
            # these names are a class of their own even where no pattern says so.
            more.add(WILDCARD)
        more = {text for text in more if not _holds(there, text)}
        return tuple(sorted([*there, *sorted(more)])) if more else there

    @computed_once
    def patterns(self) -> dict[str, str]:
        """Each GLOB pattern with an example that it matches and that nobody gave."""
        if self.is_cluster or not self.universe.has_globs:
            return {}
        texts = dict.fromkeys(binding.resource_name for shelf in self.shelves for binding in shelf.globs)
        samples = {text: sample_of(glob_shape(text), self._stranger) for text in texts}
        return {text: sample for text, sample in samples.items() if not self.has_exact(sample)}

    @computed_once
    def axis(self) -> NameAxis:
        exact, given = self.spelled.with_more(self.more)
        new = (name for name in self.universe.new(self.resource_type) if self.has_exact(name))
        return NameAxis(
            exact,
            self.prefixes,
            sorted(self.patterns),
            self.has_any_other,
            given=given,
            new=set_of(bisect_left(exact, name) for name in new),
        )

    def sample_at(self, place: int) -> str:
        """Return a name of the class at a place."""
        kind, text = self.axis.name_class(place)
        if kind == EXACT:
            return text
        return self.patterns[text] if kind == PATTERN else self.sample(text)

    @property
    def has_any_other(self) -> bool:
        """Whether a name can stand under no PREFIXED pattern; an empty one leaves none."""
        return not self.is_cluster and not _holds(self.prefixes, "")

    @property
    def count(self) -> int:
        spelled = len(self.spelled.given) + len(self.spelled.ungiven) + len(self.more)
        return spelled + len(self.prefixes) + len(self.patterns) + self.has_any_other

    def sample(self, start: str) -> str:
        """Return a name that nobody gave, that begins with `start` and with no longer prefix.

        Of the names of several lengths it is the first that fewest globs match.
        """
        if self._glob_set is not None:
            samples = (start + self._stranger * length for length in range(1, _LENGTHS_TRIED + 1))
            return min(samples, key=lambda name: len(self._matching(name)))
        code = _STRANGE
        while self.has_exact(name := start + chr(code)) or _holds(self.prefixes, name):
            code += 1
        return name

    def _matching(self, name: str) -> list[int]:
        return self._glob_set.matching(name) if self._glob_set is not None else []

    @computed_once
    def _glob_set(self) -> GlobSet | None:
        return GlobSet(map(glob_shape, self.patterns)) if self.patterns else None

    @computed_once
    def _stranger(self) -> str:
        """A character that no name and no pattern of this type holds."""
        globs = (binding.resource_name for shelf in self.shelves for binding in shelf.globs)
        spelled = (*self.spelled.given, *self.spelled.ungiven, *self.more)
        return _strange("".join((*spelled, *self.prefixes, *globs)))

    @property
    def _empty_prefix(self) -> bool:
        return any(shelf.empty_prefix for shelf in self.shelves)


def _holds(ordered: Sequence[str], text: str) -> bool:
    """Whether a text is among some that are in order."""
    place = bisect_left(ordered, text)
    return place < len(ordered) and ordered[place] == text


def _strange(taken: str) -> str:
    """Return a character of the private use area, so of nobody's names, that is not among these."""
    characters, code = set(taken), _STRANGE
    while chr(code) in characters:
        code += 1
    return chr(code)
