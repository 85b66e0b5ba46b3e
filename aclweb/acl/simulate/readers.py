"""How does access change for a reader that does not know every pattern type?

Brokers before Kafka 2.0, and tools that look below `/kafka-acl` alone, know LITERAL and nothing
else; a reader that goes past the GLOB proposal leaves its ACLs out. To such a reader an ACL that
is stored all the same is as good as removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aclweb.acl.model import AclBinding, Delta, PatternType
from aclweb.acl.simulate.wording import first_said


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who passes over ACLs of some pattern types; `called` says who, as a subject of a sentence."""

    called: str
    unseen: frozenset[PatternType]

    def as_seen(self, delta: Delta, bindings: Iterable[AclBinding]) -> Delta:
        """Return the edit of `bindings` that equals `delta` followed by the change to this reader."""
        return Delta(
            add=tuple(binding for binding in delta.add if not self._passes_over(binding)),
            remove=(*delta.remove, *filter(self._passes_over, bindings)),
        )

    def warnings(self, delta: Delta, bindings: Iterable[AclBinding]) -> Iterator[str]:
        """Yield what this reader does not see although it is stored once `delta` is written."""
        stored = tuple(bindings)
        removed, there = set(delta.remove), set(stored)
        stays = [b for b in dict.fromkeys(stored) if self._passes_over(b) and b not in removed]
        comes = [b for b in delta.add if self._passes_over(b) and b not in there]
        if stays:
            what = "1 ACL, which stays" if len(stays) == 1 else f"{len(stays):,} ACLs, which stay"
            yield f"{self.called} does not see {what} stored: {first_said(stays)}"
        if comes:
            yield f"{self.called} would not see what this edit adds either: {first_said(comes)}"

    def _passes_over(self, binding: AclBinding) -> bool:
        return binding.pattern_type in self.unseen


LITERAL_ONLY = Reader("A reader that knows LITERAL alone", frozenset(PatternType) - {PatternType.LITERAL})
WITHOUT_GLOBS = Reader("A reader that knows no GLOB", frozenset({PatternType.GLOB}))
