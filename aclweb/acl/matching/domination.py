"""Which ALLOWs of a whole resource type does one DENY take away wholly?

Kafka compares the texts of patterns. Under the GLOB proposal patterns are compared by the names
that they match, with a bound on the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aclweb.acl.matching.glob import STEPS_TRIED, Shape, Verdict, covers, sample_of, stranger_to
from aclweb.acl.matching.globset import GlobSet
from aclweb.acl.matching.patterns import shape_of
from aclweb.acl.model import WILDCARD, AclBinding, PatternType, PermissionType

STEPS_FOR_ALL = 2_000_000
"""How many steps all comparisons of globs for one question about a whole type may take together."""

_LEAST_STEPS = 2_000


def undominated_by_text(bindings: Sequence[AclBinding]) -> tuple[AclBinding, ...]:
    """Return the ALLOWs that no DENY wholly covers, as Kafka compares them."""
    denied = DeniedTexts(binding for binding in bindings if binding.permission_type is PermissionType.DENY)
    return tuple(
        binding
        for binding in bindings
        if binding.permission_type is PermissionType.ALLOW and not denied.cover(binding)
    )


class DeniedTexts:
    """The texts of some DENYs, which take one ALLOW after the other away.

    A literal falls to an equal DENY literal; any name falls to a DENY prefix that it starts
    with. An empty DENY prefix covers nothing here, because Kafka compares from the first
    letter on. `*` is the wildcard, which no prefix covers.
    """

    def __init__(self, denies: Iterable[AclBinding]) -> None:
        self._literals: set[str] = set()
        self._prefixes: set[str] = set()
        for binding in denies:
            if binding.pattern_type is PatternType.LITERAL:
                self._literals.add(binding.resource_name)
            elif binding.pattern_type is PatternType.PREFIXED:
                self._prefixes.add(binding.resource_name)
        self._lengths = sorted({len(prefix) for prefix in self._prefixes if prefix})

    def cover(self, allow: AclBinding) -> bool:
        """Whether one of them covers the ALLOW wholly."""
        name, is_literal = allow.resource_name, allow.pattern_type is PatternType.LITERAL
        if is_literal and name == WILDCARD:
            return False
        if is_literal and name in self._literals:
            return True
        return any(name[:length] in self._prefixes for length in self._lengths if length <= len(name))


class ShapeDomination:
    """Which ALLOWs one DENY is at least as wide as, by the names that both match."""

    def __init__(self, bindings: Sequence[AclBinding]) -> None:
        self.allows = [b for b in bindings if b.permission_type is PermissionType.ALLOW]
        shapes = {shape_of(b) for b in bindings if b.permission_type is PermissionType.DENY}
        self._denies = GlobSet(sorted(shapes, key=repr))
        named = {character for shape in shapes for character in shape.characters}
        self._stranger = stranger_to(named.union(*(shape_of(allow).characters for allow in self.allows)))
        pairs = max(1, len(shapes) * len(set(map(shape_of, self.allows))))
        self._verdicts: dict[Shape, Verdict] = {}
        self._steps = min(STEPS_TRIED, max(STEPS_FOR_ALL // pairs, _LEAST_STEPS))

    @property
    def undominated(self) -> tuple[AclBinding, ...]:
        """The ALLOWs that for certain no DENY wholly covers."""
        return tuple(allow for allow in self.allows if self._of(allow) is Verdict.NO)

    @property
    def leaves_some(self) -> bool | None:
        """Whether an ALLOW is not wholly covered by one DENY; None where that is too hard to tell."""
        verdicts = {Verdict.YES}
        for allow in self.allows:
            verdicts.add(self._of(allow))
            if Verdict.NO in verdicts:
                return True
        return None if Verdict.UNKNOWN in verdicts else False

    def _of(self, allow: AclBinding) -> Verdict:
        """Return whether one DENY covers all names that this ALLOW covers."""
        shape = shape_of(allow)
        if shape not in self._verdicts:
            self._verdicts[shape] = self._compare(shape)
        return self._verdicts[shape]

    def _compare(self, shape: Shape) -> Verdict:
        found = Verdict.NO
        # Only a DENY that matches a name with something unheard of in place of each wildcard can cover all.
        for place in self._denies.matching(sample_of(shape, self._stranger)):
            verdict = covers(self._denies.shapes[place], shape, steps=self._steps).verdict
            if verdict is Verdict.YES:
                return verdict
            if verdict is Verdict.UNKNOWN:
                found = verdict
        return found
