"""Which ALLOWs of a whole resource type does one DENY take away wholly?

Kafka compares the texts of patterns. Under the GLOB proposal patterns are compared by the names
that they match, with a bound on the work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aclweb.acl.matching.glob import STEPS_TRIED, Shape, Verdict, covers, sample_of, stranger_to
from aclweb.acl.matching.globset import GlobSet
from aclweb.acl.matching.patterns import shape_of
from aclweb.acl.model import AclBinding, PatternType, PermissionType

STEPS_FOR_ALL = 2_000_000
"""How many steps all comparisons of globs for one question about a whole type may take together."""

_LEAST_STEPS = 2_000


def undominated_by_text(bindings: Sequence[AclBinding]) -> tuple[AclBinding, ...]:
    """Return the ALLOWs that no DENY wholly covers, as Kafka compares them.

    A literal falls to an equal DENY literal; any name falls to a DENY prefix that it starts
    with. An empty DENY prefix covers nothing here, because Kafka compares from the first
    letter on. `*` is the wildcard, which no prefix covers.
    """
    denied_literals = names_of(bindings, PermissionType.DENY, PatternType.LITERAL)
    denied_prefixes = names_of(bindings, PermissionType.DENY, PatternType.PREFIXED)
    lengths = sorted({len(prefix) for prefix in denied_prefixes if prefix})
    found: list[AclBinding] = []
    for binding in bindings:
        if binding.permission_type is not PermissionType.ALLOW:
            continue
        name = binding.resource_name
        if binding.pattern.is_wildcard:
            found.append(binding)
        elif binding.pattern_type is PatternType.LITERAL and name in denied_literals:
            continue
        elif not any(name[:length] in denied_prefixes for length in lengths if length <= len(name)):
            found.append(binding)
    return tuple(found)


def names_of(
    bindings: Iterable[AclBinding], permission: PermissionType, pattern_type: PatternType
) -> set[str]:
    """Return the names in the patterns of this type in ACLs with this permission."""
    return {
        binding.resource_name
        for binding in bindings
        if binding.permission_type is permission and binding.pattern_type is pattern_type
    }


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
