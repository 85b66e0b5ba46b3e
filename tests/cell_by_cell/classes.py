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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from aclweb.acl.authorizer import AclIndex, ResourceShelf
from aclweb.acl.matching import (
    GlobSet,
    SortedNames,
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
    AclBinding,
    AuthorizerSettings,
    Operation,
    PatternType,
    ResourceType,
    operations_of,
    split_principal,
)

EXACT, PREFIX, PATTERN, ANY_OTHER = "EXACT", "PREFIX", "PATTERN", "ANY_OTHER"

_FREE_NAMES = (ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
"""The types whose names may begin with an asterisk."""

_STRANGE = 0xE000
"""The first code point of names that nobody has."""

_LENGTHS_TRIED = 4

_ADDRESSES = ("203.0.113.9", "198.51.100.23", "192.0.2.44", "172.16.77.7", "10.254.3.99")
"""Addresses of which hardly any ACL names all."""


@dataclass(frozen=True)
class Names:
    """What exists: the resources, callers and addresses that answers are wanted for.

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


@dataclass(frozen=True, slots=True)
class Spot:
    """One class of names of a type.

    kind and text: EXACT for one name; PREFIX for the names nobody gave that begin with the
    text and with no longer PREFIXED pattern; PATTERN for those that match the GLOB `text`;
    ANY_OTHER for the names under no prefix.
    sample: a name of the class; for EXACT the name itself.
    """

    resource_type: ResourceType
    kind: str
    text: str
    sample: str
    is_new: bool = False


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
        self._operations = {
            resource_type: tuple(
                operation
                for operation in operations
                if operation in operations_of(resource_type, settings)
                or operation in operations_of(resource_type, after_settings)
            )
            for resource_type, operations in OPERATIONS.items()
        }

    def given(self, resource_type: ResourceType) -> tuple[str, ...]:
        """Return the names of a type that exist before, in the order given."""
        names = self.names
        given = {
            ResourceType.TOPIC: names.topics,
            ResourceType.GROUP: names.groups,
            ResourceType.CLUSTER: (CLUSTER_NAME,),
            ResourceType.TRANSACTIONAL_ID: names.transactional_ids,
            ResourceType.DELEGATION_TOKEN: names.delegation_tokens,
            ResourceType.USER: names.users,
        }
        return given[resource_type]

    def new(self, resource_type: ResourceType) -> dict[str, None]:
        """Return the names of a type that do not exist before, once each."""
        return self._new[resource_type]

    @cached_property
    def principals(self) -> frozenset[str]:
        """The principals with a class of their own; one more class holds everybody else."""
        named = self.index.principals | self.added.principals
        return (
            frozenset(principal for principal in named if split_principal(principal) is not None)
            | self.settings.super_users
            | self.after_settings.super_users
            | frozenset(self.names.principals)
        ) - {ANY_USER}

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

    @cached_property
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

    @cached_property
    def _given_principals(self) -> frozenset[str]:
        return frozenset(self.names.principals) | self.settings.super_users | self.after_settings.super_users

    @cached_property
    def _stranger(self) -> str:
        """A character that no principal and no host holds."""
        return _strange("".join((*self.principals, *self.hosts)))

    @cached_property
    def hosts(self) -> frozenset[str]:
        """The hosts with a class of their own; one more class holds every other address."""
        return (self._hosts | self.added.hosts | frozenset(self.names.hosts)) - {WILDCARD} - self._without

    def operations(self, resource_type: ResourceType) -> tuple[Operation, ...]:
        """Return the operations of a type in either world."""
        return self._operations[resource_type]

    def cells(self) -> int:
        """Return the number of all questions: names x operations x principals x hosts, in classes."""
        callers = (len(self.principals) + 1) * (len(self.hosts) + 1)
        return callers * sum(
            names.count * len(self.operations(resource_type)) for resource_type, names in self._types.items()
        )

    def all_spots(self, resource_type: ResourceType) -> Iterator[Spot]:
        """Yield every class of names of a type."""
        names = self._types[resource_type]
        yield from self.exact_spots(resource_type, names.exact)
        yield from self._spots_to_come(resource_type)

    def _spots_to_come(self, resource_type: ResourceType) -> Iterator[Spot]:
        """Yield every class of names that nobody gave."""
        names = self._types[resource_type]
        yield from self._prefix_spots(resource_type, names.prefixes)
        for text, sample in names.patterns.items():
            yield Spot(resource_type, PATTERN, text, sample)
        if names.has_any_other:
            yield Spot(resource_type, ANY_OTHER, "", names.sample(""))

    def spots_under(
        self, resource_type: ResourceType, literals: Iterable[str], prefixes: Iterable[str]
    ) -> Iterator[Spot]:
        """Yield the classes of names that these literal names and non-empty prefixes cover, once each."""
        names = self._types[resource_type]
        exact = dict.fromkeys(name for name in literals if name in names.exact)
        below: dict[str, None] = {}
        for prefix in prefixes:
            exact |= dict.fromkeys(starting_with(names.sorted_exact, prefix))
            below |= dict.fromkeys(starting_with(names.sorted_prefixes, prefix))
        yield from self.exact_spots(resource_type, exact)
        yield from self._prefix_spots(resource_type, below)

    def spots_covered(self, shelf: ResourceShelf, resource_type: ResourceType) -> Iterator[Spot]:
        """Yield the classes of names that a shelf with globs covers, once each; it has no pattern for all names."""
        yield from self.exact_spots(resource_type, self.exact_under(shelf, resource_type))
        for spot in self._spots_to_come(resource_type):
            if shelf.is_covered(spot.sample, self.after_settings):
                yield spot

    def covered(self, binding: AclBinding, most: int) -> tuple[int, Sequence[str]]:
        """Return how many classes of names a binding covers, and at most so many of their names, spread out."""
        names = self._types[binding.resource_type]
        if binding.pattern_type is PatternType.LITERAL and binding.resource_name != WILDCARD:
            return 1, (binding.resource_name,) if most else ()
        if binding.pattern_type is PatternType.PREFIXED:
            spans = [
                _span(ordered, binding.resource_name)
                for ordered in (names.sorted_exact, names.sorted_prefixes)
            ]
            count = sum(end - start for start, end in spans)
            start, end = spans[0]
        else:
            count, start, end = names.count, 0, len(names.sorted_exact)
        if not most:
            return max(1, count), ()
        step = max(1, (end - start) // most)
        return max(1, count), names.sorted_exact[start:end:step][:most] or (binding.resource_name,)

    def exact_under(self, shelf: ResourceShelf, resource_type: ResourceType) -> dict[str, None]:
        """Return the names that stand for themselves and that the names, prefixes and globs of a shelf cover."""
        names = self._types[resource_type]
        exact = dict.fromkeys(name for name in shelf.literals if name in names.exact)
        for prefix in shelf.chain.prefixes:
            exact |= dict.fromkeys(starting_with(names.sorted_exact, prefix))
        for text in dict.fromkeys(binding.resource_name for binding in shelf.globs):
            exact |= dict.fromkeys(names.sorted_names.matching(glob_shape(text)))
        return exact

    def exact_spots(self, resource_type: ResourceType, names: Iterable[str]) -> Iterator[Spot]:
        """Yield one class for each name."""
        new = self.new(resource_type)
        for name in names:
            yield Spot(resource_type, EXACT, name, name, name in new)

    def _prefix_spots(self, resource_type: ResourceType, prefixes: Iterable[str]) -> Iterator[Spot]:
        sample = self._types[resource_type].sample
        for prefix in prefixes:
            yield Spot(resource_type, PREFIX, prefix, sample(prefix))


class _TypeNames:
    """The classes of names of one resource type."""

    def __init__(self, universe: Universe, resource_type: ResourceType) -> None:
        self.universe, self.resource_type = universe, resource_type
        self.is_cluster = resource_type is ResourceType.CLUSTER

    @cached_property
    def shelves(self) -> list[ResourceShelf]:
        found = (index.shelf(self.resource_type) for index in (self.universe.index, self.universe.added))
        return [shelf for shelf in found if shelf is not None]

    @cached_property
    def exact(self) -> dict[str, None]:
        """The names that stand for themselves, in the order given, then those that a LITERAL names."""
        exact = dict.fromkeys(self.universe.given(self.resource_type))
        if self.is_cluster:
            return exact
        exact |= self.universe.new(self.resource_type)
        for shelf in self.shelves:
            exact |= dict.fromkeys(name for name in shelf.literals if name != WILDCARD)
        # Two names answer unlike their neighbours: the empty one, which an empty prefix alone
        # covers in ZooKeeper mode, and `*` itself, which KRaft's wildcard covers.
        if self._empty_prefix and not (
            self.universe.settings.empty_prefix_covers_all
            and self.universe.after_settings.empty_prefix_covers_all
        ):
            exact[""] = None
        if self.resource_type in _FREE_NAMES and WILDCARD in self.prefixes:
            exact[WILDCARD] = None
        return exact

    @cached_property
    def prefixes(self) -> dict[str, None]:
        prefixes: dict[str, None] = {}
        if self.is_cluster:
            return prefixes
        for shelf in self.shelves:
            prefixes |= dict.fromkeys(shelf.chain.prefixes)
        both = (self.universe.settings, self.universe.after_settings)
        if self._empty_prefix and any(settings.empty_prefix_covers_all for settings in both):
            prefixes[""] = None
        if (
            self.resource_type in _FREE_NAMES
            and any(settings.wildcard_skips_starred_names for settings in both)
            and any(shelf.wildcard for shelf in self.shelves)
        ):
            # KRaft skips the literal `*` for longer names that begin with an asterisk, so
            # these names are a class of their own even where no pattern says so.
            prefixes[WILDCARD] = None
        return prefixes

    @cached_property
    def patterns(self) -> dict[str, str]:
        """Each GLOB pattern with an example that it matches and that nobody gave."""
        if self.is_cluster:
            return {}
        texts = dict.fromkeys(binding.resource_name for shelf in self.shelves for binding in shelf.globs)
        samples = {text: sample_of(glob_shape(text), self._stranger) for text in texts}
        return {text: sample for text, sample in samples.items() if sample not in self.exact}

    @cached_property
    def sorted_names(self) -> SortedNames:
        return SortedNames(self.sorted_exact)

    @cached_property
    def sorted_exact(self) -> list[str]:
        return sorted(self.exact)

    @cached_property
    def sorted_prefixes(self) -> list[str]:
        return sorted(self.prefixes)

    @property
    def has_any_other(self) -> bool:
        """Whether a name can stand under no PREFIXED pattern; an empty one leaves none."""
        return not self.is_cluster and "" not in self.prefixes

    @property
    def count(self) -> int:
        return len(self.exact) + len(self.prefixes) + len(self.patterns) + self.has_any_other

    def sample(self, start: str) -> str:
        """Return a name that nobody gave, that begins with `start` and with no longer prefix.

        Of the names of several lengths it is the first that fewest globs match.
        """
        if self._glob_set is not None:
            samples = (start + self._stranger * length for length in range(1, _LENGTHS_TRIED + 1))
            return min(samples, key=lambda name: len(self._matching(name)))
        code = _STRANGE
        while (name := start + chr(code)) in self.exact or name in self.prefixes:
            code += 1
        return name

    def _matching(self, name: str) -> list[int]:
        return self._glob_set.matching(name) if self._glob_set is not None else []

    @cached_property
    def _glob_set(self) -> GlobSet | None:
        return GlobSet(map(glob_shape, self.patterns)) if self.patterns else None

    @cached_property
    def _stranger(self) -> str:
        """A character that no name and no pattern of this type holds."""
        globs = (binding.resource_name for shelf in self.shelves for binding in shelf.globs)
        return _strange("".join((*self.exact, *self.prefixes, *globs)))

    @property
    def _empty_prefix(self) -> bool:
        return any(shelf.empty_prefix for shelf in self.shelves)


def _strange(taken: str) -> str:
    """Return a character of the private use area, so of nobody's names, that is not among these."""
    characters, code = set(taken), _STRANGE
    while chr(code) in characters:
        code += 1
    return chr(code)


def _span(ordered: Sequence[str], prefix: str) -> tuple[int, int]:
    """Return where the texts of a sorted sequence that start with `prefix` begin and end."""
    start, length = bisect_left(ordered, prefix), len(prefix)
    return start, bisect_left(ordered, True, lo=start, key=lambda text: text[:length] > prefix)


def starting_with(ordered: Sequence[str], prefix: str) -> Iterator[str]:
    """Yield the texts of a sorted sequence that start with `prefix`."""
    place = bisect_left(ordered, prefix)
    while place < len(ordered) and ordered[place].startswith(prefix):
        yield ordered[place]
        place += 1
