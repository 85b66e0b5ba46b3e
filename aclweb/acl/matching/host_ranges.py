"""Which host of an ACL admits every address that another admits, and which glob admits none?

A session's host is an address as Java prints it, and only such texts count: `10.*` admits all
that `10.0.0.0/8` admits, and `b?oker` nobody. A glob and a range are compared by reading the
addresses letter by letter in both at once, with a bound on the work; what is given up counts
as not covered, and as admitting somebody.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address
from typing import Any, Protocol

from aclweb.acl.matching.glob import Places, covers, shape_of_name, stranger_to
from aclweb.acl.matching.hosts import UNRANGED, in_range, range_within, read_address, read_range
from aclweb.acl.matching.sessions import glob_admits, host_shape, is_host_glob
from aclweb.acl.model import WILDCARD

STEPS = 4_000
"""After so many places in the texts a comparison is given up; hosts that people write need hundreds."""

SIGNATURE_STEPS = 40_000
"""The same where many hosts are compared at once."""


def admits_all(wide: str, narrow: str) -> bool:
    """Whether a host with `wide`, globs and ranges read, admits every address that `narrow` admits.

    A glob that admits nobody is within its own text and within globs that match all its texts.
    """
    return compared(wide, narrow)[0]


def compared(wide: str, narrow: str) -> tuple[bool, int]:
    """Return the same with the work that it takes, in places where two texts were looked at."""
    if wide in (WILDCARD, narrow):
        return True, 0
    if is_host_glob(wide) or is_host_glob(narrow):
        return _with_globs(wide, narrow)
    outer, inner = read_range(wide), read_range(narrow)
    if inner is None:
        return in_range(wide, narrow), 0
    if outer is None:
        return is_one_address(narrow) and read_address(wide) == inner[:2] and ":" not in wide, 0
    return range_within(narrow, wide), 0


def is_one_address(host: str) -> bool:
    """Whether this is a range of one IPv4 address; one of IPv6 is also for its every interface."""
    span = read_range(host)
    return span is not None and span[0] == span[2] == 32 and span[:2] != UNRANGED


@lru_cache(maxsize=4_096)
def reaches_somebody(glob: str) -> bool:
    """Whether a host that is a glob matches the text of some address."""
    shape = host_shape(glob)
    return any(_find(_Addresses(bits, 0, 0), Places(shape), None, shape.characters)[0] for bits in (32, 128))


@lru_cache(maxsize=65_536)
def _with_globs(wide: str, narrow: str) -> tuple[bool, int]:
    inner, outer = read_range(narrow), read_range(wide)
    if inner is not None:
        beyond, work = _find(_Addresses(*inner), None, Places(host_shape(wide)), host_shape(wide).characters)
        return not beyond, work
    if narrow != WILDCARD and not is_host_glob(narrow):
        return host_shape(wide).matches(narrow), 1
    shape = host_shape(narrow)
    if not reaches_somebody(narrow):
        return is_host_glob(wide) and bool(covers(host_shape(wide), shape)), STEPS
    if outer is not None and shape.matches(str(IPv4Address(UNRANGED[1]))):
        return False, 1
    total = 0
    for bits in (32, 128):
        outside: _Reader | None = Places(host_shape(wide))
        if outer is not None:
            outside = _Addresses(*outer) if outer[0] == bits else None
        named = shape.characters | host_shape(wide).characters
        beyond, work = _find(_Addresses(bits, 0, 0), Places(shape), outside, named)
        total += work
        if beyond:
            return False, total
    return True, total


def signatures(hosts: Sequence[str]) -> tuple[dict[frozenset[str], str], bool]:
    """Return each set of these hosts that admit one address together, and no other of them, with the address.

    Globs and ranges are read. The second value is whether these are all; False where the work
    was given up. 0.0.0.0, which no client has, is found only where it is one of the hosts.
    """
    unranged = str(IPv4Address(UNRANGED[1]))
    found: dict[frozenset[str], str] = {}
    if unranged in hosts:
        found[_admitting(hosts, unranged)] = unranged
    readers = [*filter(None, map(_reader, hosts)), Places(shape_of_name(unranged))]
    named = frozenset[str]().union(*(set(host) for host in hosts)) | {"0", "."}
    complete = True
    for bits in (32, 128):
        complete &= _find_signatures(_Addresses(bits, 0, 0), readers, named, hosts, found)
    return found, complete


def _find_signatures(
    addresses: _Addresses,
    readers: Sequence[_Reader],
    named: frozenset[str],
    hosts: Sequence[str],
    found: dict[frozenset[str], str],
) -> bool:
    """Add to `found` what these addresses give, and return whether every one of them was read."""
    beyond = sorted({*addresses.letters, *named, stranger_to({*addresses.letters, *named})})
    start = (addresses.start, *(reader.start for reader in readers))
    texts: dict[tuple[Any, ...], str] = {start: ""}
    waiting = deque([start])
    ends: set[tuple[bool, ...]] = set()
    while waiting and len(texts) < SIGNATURE_STEPS:
        state = waiting.popleft()
        address, *within = state
        text = texts[state]
        if addresses.is_end(address):
            end = tuple(bool(one) and reader.is_end(one) for reader, one in zip(readers, within, strict=True))
            if not end[-1] and end not in ends:
                ends.add(end)
                found.setdefault(_admitting(hosts, text), text)
        for letter in beyond if address[1] == () else addresses.letters:
            next_address = addresses.after(address, letter)
            if next_address is None:
                continue
            step = (
                next_address,
                *(
                    reader.after(one, letter) if one else one
                    for reader, one in zip(readers, within, strict=True)
                ),
            )
            if step not in texts:
                texts[step] = text + letter
                waiting.append(step)
    return not waiting


def _reader(host: str) -> _Reader | None:
    if is_host_glob(host):
        return Places(host_shape(host))
    span = read_range(host)
    if span is not None:
        return _Addresses(*span)
    return Places(shape_of_name(host))


def _admitting(hosts: Iterable[str], address: str) -> frozenset[str]:
    return frozenset(host for host in hosts if glob_admits(host, address))


class _Reader(Protocol):
    """Reads a text letter by letter; in a state that is false it takes nothing more."""

    @property
    def start(self) -> Any: ...
    def after(self, state: Any, character: str) -> Any: ...
    def is_end(self, state: Any) -> bool: ...


_Residual = tuple[tuple[int, int] | None, ...]
"""For each number of digits that may follow, the least and the greatest number that they may be."""


class _Addresses:
    """Reads the texts of the addresses in one range, as Java prints them.

    A state is the number of the octet or group and what may follow in it; behind the last
    group of an IPv6 address comes the interface, of which any text is one.
    """

    def __init__(self, bits: int, address: int, length: int) -> None:
        width = 8 if bits == 32 else 16
        self._base, self._separator = (10, ".") if bits == 32 else (16, ":")
        self.letters = "0123456789." if bits == 32 else "0123456789abcdef:%"
        free = (1 << bits - length) - 1
        lowest, highest, group = address & ~free, address | free, (1 << width) - 1
        self._fresh = [
            self._unread(lowest >> place & group, highest >> place & group)
            for place in range(bits - width, -1, -width)
        ]
        self.start: tuple[int, _Residual] = 0, self._fresh[0]

    def after(self, state: tuple[int, _Residual], character: str) -> tuple[int, _Residual] | None:
        place, residual = state
        last = len(self._fresh)
        if place >= last:
            return last + 1, ()
        if character not in self.letters:
            return None
        if character == self._separator:
            return (place + 1, self._fresh[place + 1]) if residual[0] and place + 1 < last else None
        if character == "%":
            return (last, ()) if residual[0] and place + 1 == last else None
        found = self._less_a_digit(residual, int(character, self._base))
        return (place, found) if any(found) else None

    def is_end(self, state: tuple[int, _Residual]) -> bool:
        place, residual = state
        return place > len(self._fresh) or (place == len(self._fresh) - 1 and bool(residual[0]))

    def _unread(self, lowest: int, highest: int) -> _Residual:
        """Return what may follow where a number from `lowest` to `highest` begins; no zero leads a longer one."""
        found: list[tuple[int, int] | None] = [None]
        for digits in range(1, 4 if self._base == 10 else 5):
            low = max(lowest, self._base ** (digits - 1) if digits > 1 else 0)
            high = min(highest, self._base**digits - 1)
            found.append((low, high) if low <= high else None)
        return tuple(found)

    def _less_a_digit(self, residual: _Residual, digit: int) -> _Residual:
        found: list[tuple[int, int] | None] = []
        for more, bounds in enumerate(residual[1:]):
            size = self._base**more
            low, high = (bounds[0] - digit * size, bounds[1] - digit * size) if bounds else (0, -1)
            low, high = max(low, 0), min(high, size - 1)
            found.append((low, high) if low <= high else None)
        return tuple(found)


def _find(
    addresses: _Addresses, inside: Places | None, outside: _Reader | None, named: frozenset[str]
) -> tuple[bool, int]:
    """Return whether some of these addresses that `inside` takes are none that `outside` takes, and the work.

    named: the characters of the globs, which may be in the name of an interface. Given up
    means True.
    """
    alphabet = {*addresses.letters, *named, stranger_to({*addresses.letters, *named})}
    start = addresses.start, inside.start if inside else 1, outside.start if outside else None
    waiting, seen = [start], {start}
    while waiting and len(seen) < STEPS:
        address, within, beyond = waiting.pop()
        taken = outside and beyond and outside.is_end(beyond)
        if addresses.is_end(address) and (inside is None or inside.is_end(within)) and not taken:
            return True, len(seen)
        for letter in alphabet if address[1] == () else addresses.letters:
            next_address = addresses.after(address, letter)
            next_within = inside.after(within, letter) if inside else 1
            if next_address is None or not next_within:
                continue
            step = next_address, next_within, outside.after(beyond, letter) if outside and beyond else None
            if step not in seen:
                seen.add(step)
                waiting.append(step)
    return bool(waiting), len(seen)
