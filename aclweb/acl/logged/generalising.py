"""Which patterns are proposed for names that were used?

No pattern is wider than the pattern that allows its names today. Names of topics are joined to a prefix as the
choices say. Groups and transactional ids come and go with their clients, so the texts that they begin with count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from aclweb.acl.matching import SortedNames, covers, covers_name, shape_of, wildcard_covers
from aclweb.acl.model import (
    WILDCARD,
    AclError,
    AuthorizerSettings,
    PatternType,
    ResourcePattern,
    ResourceType,
    shown,
)

EXACT, MOST_USED, FIRST_DELIMITER = "exact", "most-used", "first-delimiter"
NAMES = (EXACT, MOST_USED, FIRST_DELIMITER)
AS_TODAY, ANY, SEEN = "as-today", "any", "seen"
HOSTS = (AS_TODAY, ANY, SEEN)

_COME_AND_GO = frozenset((ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID))
_SEPARATORS = ".-_"
_JOINED = 2  # names at least, before a prefix takes their place


@dataclass(frozen=True)
class Choices:
    """How wide the proposed ACLs are.

    names: of topics; EXACT names only, MOST_USED a prefix at a delimiter of whose topics at least `percent` % were
    used, FIRST_DELIMITER a prefix up to the first delimiter. by_prefix: whether groups and transactional ids that
    begin alike get one prefix. hosts: AS_TODAY those of the ACL that allows it today, ANY `*`, SEEN the logged
    addresses. existing: all names there are, by resource type; without topics MOST_USED finds no prefix.

    Raises AclError for a word that is none of these.
    """

    names: str = EXACT
    delimiter: str = "."
    by_prefix: bool = True
    hosts: str = AS_TODAY
    percent: int = 75
    existing: Mapping[ResourceType, SortedNames] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what, value, words in (("names", self.names, NAMES), ("hosts", self.hosts, HOSTS)):
            if value not in words:
                raise AclError(f"The {what} are {shown(value)}; use one of {', '.join(words)}.")
        if len(self.delimiter) != 1:
            raise AclError(f"The delimiter is {shown(self.delimiter)}; give one character, such as '.'.")
        if not 1 <= self.percent <= 100:
            raise AclError(f"The share is {self.percent} %; give a whole number from 1 to 100.")


def patterns_for(
    names: Collection[str], source: ResourcePattern, choices: Choices, settings: AuthorizerSettings
) -> dict[str, ResourcePattern]:
    """Return a pattern for each name; the same one for names that it joins.

    names: that were used, all matched by `source`, the pattern that allows them today.
    """
    found: dict[str, ResourcePattern] = {}
    joined = _prefixes(names, source, choices, settings)
    for name in sorted(names):
        prefix = next((prefix for prefix in joined if name.startswith(prefix)), None)
        if prefix is not None:
            found[name] = ResourcePattern(source.resource_type, prefix, PatternType.PREFIXED)
        elif name == WILDCARD:
            # LITERAL `*` would be every name, and not the one that has this text.
            found[name] = source
        else:
            found[name] = ResourcePattern(source.resource_type, name, PatternType.LITERAL)
    return found


def reaches(wide: ResourcePattern, narrow: ResourcePattern, settings: AuthorizerSettings) -> bool:
    """Whether one pattern is sure to match every name that another of its resource type matches."""
    if wide.resource_type is not narrow.resource_type:
        return False
    if wide == narrow:
        return True
    kinds = {wide.pattern_type, narrow.pattern_type}
    if not kinds <= {PatternType.LITERAL, PatternType.PREFIXED, PatternType.GLOB}:
        return False
    if PatternType.GLOB in kinds:
        return bool(covers(shape_of(wide), shape_of(narrow)))
    if narrow.pattern_type is PatternType.LITERAL and not narrow.is_wildcard:
        return covers_name(wide, narrow.name, settings)
    if wide.is_wildcard:
        return bool(narrow.name) and wildcard_covers(f"{narrow.name}a", settings)
    if wide.pattern_type is PatternType.LITERAL:
        return False
    if not wide.name:
        return settings.empty_prefix_covers_all
    return not narrow.is_wildcard and narrow.name.startswith(wide.name)


def _prefixes(
    names: Collection[str], source: ResourcePattern, choices: Choices, settings: AuthorizerSettings
) -> tuple[str, ...]:
    """Return the prefixes that join some of these names, none wider than the source."""
    if source.pattern_type is PatternType.LITERAL and not source.is_wildcard:
        return ()
    if source.resource_type in _COME_AND_GO:
        wanted = list(_of_clients(names, source)) if choices.by_prefix else []
    elif source.resource_type is not ResourceType.TOPIC or choices.names == EXACT:
        wanted = []
    elif choices.names == FIRST_DELIMITER:
        wanted = list(_first_parts(names, source, choices.delimiter))
    else:
        wanted = list(_mostly_used(names, source, choices))
    kept: list[str] = []
    for prefix in sorted(filter(None, set(wanted)), key=lambda text: (len(text), text)):
        pattern = ResourcePattern(source.resource_type, prefix, PatternType.PREFIXED)
        if not any(prefix.startswith(other) for other in kept) and reaches(source, pattern, settings):
            kept.append(prefix)
    return tuple(kept)


def _prefix_of(source: ResourcePattern) -> str:
    return source.name if source.pattern_type is PatternType.PREFIXED else ""


def _of_clients(names: Collection[str], source: ResourcePattern) -> Iterator[str]:
    """Yield what the names of clients begin with: as much as those have in common that begin with one word."""
    today = _prefix_of(source)
    if today and len(names) == 1:
        # One name does not tell which part of it changes.
        yield today
        return
    words: dict[str, list[str]] = {}
    for name in names:
        end = next((place for place, letter in enumerate(name) if letter in _SEPARATORS), len(name))
        words.setdefault(name[: end + 1], []).append(name)
    for alike in words.values():
        if len(alike) >= _JOINED:
            common = _common_start(min(alike), max(alike))
            end = max(common.rfind(letter) for letter in _SEPARATORS)
            yield max(common[: end + 1], today, key=len)


def _common_start(one: str, other: str) -> str:
    length = min(len(one), len(other))
    return one[: next((place for place in range(length) if one[place] != other[place]), length)]


def _first_parts(names: Collection[str], source: ResourcePattern, delimiter: str) -> Iterator[str]:
    """Yield each name up to its first delimiter, or today's prefix where that is longer."""
    today = _prefix_of(source)
    for name in names:
        end = name.find(delimiter)
        if end >= 0:
            yield max(name[: end + 1], today, key=len)


def _mostly_used(names: Collection[str], source: ResourcePattern, choices: Choices) -> Iterator[str]:
    """Yield the prefixes of whose existing names enough were used; today's own prefix is one of those tried."""
    existing = choices.existing.get(source.resource_type)
    if existing is None:
        return
    today = _prefix_of(source)
    used: dict[str, int] = {}
    for name in filter(existing.__contains__, names):
        ends = [place + 1 for place, letter in enumerate(name) if letter == choices.delimiter]
        for prefix in {today, *(name[:end] for end in ends if end >= len(today))}:
            used[prefix] = used.get(prefix, 0) + 1
    for prefix, count in used.items():
        if prefix and count >= _JOINED:
            start, end = existing.range_of(prefix)
            if count * 100 >= choices.percent * (end - start):
                yield prefix
