"""Was everything asked often enough for the comparison to mean something?

Counts questions by what they ask and by which kind of ACL decided them. A generator that
allows nearly everything, or hardly ever meets a kind of name, host, principal, pattern or
operation, proves little, and `lopsided` says so.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping

from aclweb.acl.matching.hosts import read_range
from aclweb.acl.model.vocabulary import ANY_USER, WILDCARD, AclBinding, PatternType, PermissionType
from tests.oracle.targets import Target
from tests.oracle.worlds import FIRST_ACL, World

_LEAST_PER_MILLION = 400
_ENOUGH_TO_JUDGE = 50_000
_ENOUGH_FOR_THE_RARE = 1_000_000

_NAMES = (
    "empty",
    "the asterisk",
    "begins with an asterisk",
    "hardcode",
    "249 letters",
    "32,767 letters",
    "control character",
    "astral or U+FFFF",
    "not ASCII",
    "separator or space",
    "plain",
)
_RARE = {("asked name", "32,767 letters"): 20, ("asked name", "249 letters"): 100}
_SESSIONS = ("User", "another type", "empty part", "with a colon, comma or space", "looks like a wildcard")
_ACL_PRINCIPALS = (*_SESSIONS, "everyone")
_ASKED_HOSTS = ("IPv4", "0.0.0.0", "IPv6", "IPv6 with a scope")
_ACL_HOSTS = (*_ASKED_HOSTS, "anywhere", "IPv4 range", "IPv6 range", "malformed range", "other text")
_PATTERNS = ("LITERAL", "PREFIXED", "LITERAL *", "PREFIXED *", "PREFIXED empty")
_RULES = ("super user", "default allow", "default deny", "ALLOW", "DENY")
_SIZES = ("no ACL", "1 to 3 ACLs", "4 to 20 ACLs", "21 to 60 ACLs")


class Tally:
    """Counts of questions, by (dimension, class)."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.by_type: Counter[str] = Counter()
        self._targets: set[Target] = set()

    @property
    def decisions(self) -> int:
        return self.counts["answer", "allowed"] + self.counts["answer", "denied"]

    @property
    def type_decisions(self) -> int:
        return self.by_type.total()

    @property
    def allowed_share(self) -> float:
        return self.counts["answer", "allowed"] / (self.decisions or 1)

    def add(self, target: Target, world: World, answer: str) -> None:
        """Count the answers that `target` gave to this world."""
        letters, _, type_letters = answer.partition(" ")
        counts = self.counts
        asked = Counter(letters)
        self.by_type.update(type_letters)
        self._targets.add(target)
        self._add_questions(world)
        for letter, count in asked.items():
            if letter >= FIRST_ACL:
                for key in _of_deciding(world.bindings[ord(letter) - ord(FIRST_ACL)]):
                    counts[key] += count
                continue
            allowed = letter in "(*+"
            counts["answer", "allowed" if allowed else "denied"] += count
            rule = {"*": "super user", "(": "default allow", ")": "default deny"}.get(letter)
            if rule:
                counts["rule", rule] += count

    def _add_questions(self, world: World) -> None:
        counts = self.counts
        callers = len(world.principals) * len(world.hosts)
        total = 0
        for resource_type, name, operations in world.actions:
            count = callers * len(operations)
            total += count
            counts["asked type", resource_type.name] += count
            counts["asked name", name_class(name)] += count
            for operation in operations:
                counts["asked operation", operation.name] += callers
        for principal in world.principals:
            counts["asked principal", principal_class(principal)] += total // len(world.principals)
        for host in world.hosts:
            counts["asked host", host_class(host)] += total // len(world.hosts)
        size = len(world.bindings)
        place = 0 if size == 0 else 1 if size <= 3 else 2 if size <= 20 else 3
        counts["world", _SIZES[place]] += total
        counts["world", "default allow" if world.allow_everyone else "default deny"] += total
        for key in {("ACL host in the world", host_class(binding.host)) for binding in world.bindings}:
            counts[key] += total
        for key in {
            ("ACL principal in the world", principal_class(binding.principal)) for binding in world.bindings
        }:
            counts[key] += total

    def report(self) -> str:
        """Return the shares as text, one dimension a line."""
        lines = [
            f"{self.decisions:,} decisions, {self.allowed_share:.1%} allowed; "
            f"{self.type_decisions:,} about whole types, {self.by_type['+'] / (self.type_decisions or 1):.1%} allowed"
        ]
        dimensions = dict.fromkeys(dimension for dimension, _ in sorted(self.counts))
        for dimension in dimensions:
            classes = [(name, count) for (own, name), count in self.counts.items() if own == dimension]
            classes.sort(key=lambda pair: -pair[1])
            lines.append(f"  {dimension}: " + ", ".join(f"{name} {count:,}" for name, count in classes))
        return "\n".join(lines)

    def lopsided(self) -> list[str]:
        """Return what speaks against the questions, one sentence each; nothing if they are balanced or few."""
        found: list[str] = []
        if self.decisions < _ENOUGH_TO_JUDGE:
            return found
        if not 0.2 <= self.allowed_share <= 0.8:
            found.append(
                f"{self.allowed_share:.0%} of the answers are ALLOWED, and 20 % to 80 % would be balanced."
            )
        share = self.by_type["+"] / (self.type_decisions or 1)
        if self.type_decisions and not 0.2 <= share <= 0.8:
            found.append(
                f"{share:.0%} of the answers by type are ALLOWED, and 20 % to 80 % would be balanced."
            )
        for dimension, name in self._wanted():
            rate = _LEAST_PER_MILLION
            if (dimension, name) in _RARE:
                if self.decisions < _ENOUGH_FOR_THE_RARE:
                    continue
                rate = _RARE[dimension, name]
            least = self.decisions * rate // 1_000_000
            if self.counts[dimension, name] <= least:
                found.append(
                    f"{dimension} {name!r} was met {self.counts[dimension, name]:,} times "
                    f"in {self.decisions:,}, and more than {least:,} would be enough."
                )
        return found

    def _wanted(self) -> Iterator[tuple[str, str]]:
        wanted: Mapping[str, tuple[str, ...]] = {
            "asked name": _NAMES,
            "asked principal": _SESSIONS,
            "asked host": _ASKED_HOSTS,
            "asked type": tuple(dict.fromkeys(kind for target in self._targets for kind in target.types)),
            "asked operation": tuple(
                dict.fromkeys(one for target in self._targets for one in target.operations)
            ),
            "world": (*_SIZES, "default allow", "default deny"),
            "ACL host in the world": _ACL_HOSTS,
            "ACL principal in the world": _ACL_PRINCIPALS,
        }
        if any(target.engine == "standard" for target in self._targets):
            wanted = {
                **wanted,
                "rule": _RULES,
                "deciding pattern": _PATTERNS,
                "deciding principal": ("everyone", "the caller"),
                "deciding host": ("anywhere", "the caller's"),
            }
        for dimension, names in wanted.items():
            for name in names:
                yield dimension, name


def _of_deciding(binding: AclBinding) -> Iterator[tuple[str, str]]:
    allows = binding.permission_type is PermissionType.ALLOW
    yield "answer", "allowed" if allows else "denied"
    yield "rule", binding.permission_type.name
    yield "deciding pattern", pattern_class(binding)
    yield "deciding principal", "everyone" if binding.principal == ANY_USER else "the caller"
    yield (
        "deciding host",
        "anywhere" if binding.host == WILDCARD else "a range" if read_range(binding.host) else "the caller's",
    )
    yield "deciding operation", binding.operation.name


def pattern_class(binding: AclBinding) -> str:
    if binding.resource_name == WILDCARD:
        return f"{binding.pattern_type.name} *"
    if binding.pattern_type is PatternType.PREFIXED and not binding.resource_name:
        return "PREFIXED empty"
    return binding.pattern_type.name


def name_class(name: str) -> str:
    """Return the first of the classes that fits."""
    fits = {
        "empty": not name,
        "the asterisk": name == WILDCARD,
        "begins with an asterisk": name.startswith(WILDCARD),
        "hardcode": name.startswith("hardc"),
        "249 letters": 200 < len(name) < 1000,
        "32,767 letters": len(name) >= 1000,
    }
    for found, holds in fits.items():
        if holds:
            return found
    if any(unicodedata.category(letter) == "Cc" for letter in name):
        return "control character"
    if any(letter >= "\ue000" for letter in name):
        return "astral or U+FFFF"
    if not name.isascii():
        return "not ASCII"
    return "separator or space" if any(letter in ":,=/ " for letter in name) else "plain"


def principal_class(principal: str) -> str:
    kind, _, name = principal.partition(":")
    if principal == ANY_USER:
        return "everyone"
    if "*" in principal:
        return "looks like a wildcard"
    if not kind or not name:
        return "empty part"
    if kind != "User":
        return "another type"
    return "with a colon, comma or space" if any(letter in ":, " for letter in name) else "User"


def host_class(host: str) -> str:
    if host == WILDCARD:
        return "anywhere"
    if "/" in host:
        bits = read_range(host)
        return "malformed range" if bits is None else "IPv4 range" if bits[0] == 32 else "IPv6 range"
    if host == "0.0.0.0":
        return host
    groups = host.partition("%")[0].split(":")
    if len(groups) == 8 and all(group == group.lstrip("0").lower() or group == "0" for group in groups):
        return "IPv6 with a scope" if "%" in host else "IPv6"
    parts = host.split(".")
    plain = len(parts) == 4 and all(part.isdigit() and str(int(part)) == part for part in parts)
    return "IPv4" if plain else "other text"
