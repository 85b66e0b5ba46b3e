"""Which ACLs can be removed without changing a decision?

`redundant` looks at each ACL alone: `implied`, `shadowed` and `dead` mean that removing this
one and no other changes no decision for any name, principal or host, and `by` holds the ACLs
one of which counts wherever it counts. `removable` says which of them can go together. The
same holds for questions about a whole resource type, but for one oddity of Kafka: there a
DENY on the empty prefix, which brokers have not taken since 3.5, outweighs nothing.

ACLs with a value that aclweb does not know are neither found nor taken as a proof. Globs are
compared one by one with a bound on the work (see `subsumption`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from aclweb.acl.authorizer import IMPLIED, AclIndex
from aclweb.acl.lint.existing_names import Existing
from aclweb.acl.lint.wider_acls import WiderAcls
from aclweb.acl.matching import (
    why_no_client,
    why_no_resource,
    why_unmatchable,
)
from aclweb.acl.model import (
    AclBinding,
    AuthorizerSettings,
    Operation,
    PermissionType,
    acl_text,
)
from aclweb.acl.simulate import Effect, Names

IMPLIED_RULE = "implied"
SHADOWED = "shadowed"
DEAD = "dead"
HARMLESS_DUPLICATE = "harmless-duplicate"
UNREACHABLE = "unreachable"
ORPHAN = "orphan"


@dataclass(frozen=True)
class Redundancy:
    """One ACL that could go, or (for a consolidation) the ACL that could replace several.

    acl: the ACL; a proposed one for a consolidation. by: the proof; for a consolidation the
    ACLs that would go. extra: what a consolidation would change beside that, empty for an
    exact one; None for every other rule. keeps_covered: an ACL that covers the names of a dead
    one, needed where everyone is allowed while no ACL exists.
    """

    rule: str
    severity: str
    sentence: str
    acl: AclBinding
    by: tuple[AclBinding, ...] = ()
    extra: tuple[Effect, ...] | None = None
    keeps_covered: AclBinding | None = None

    @property
    def rests_on(self) -> tuple[AclBinding, ...]:
        """The ACLs without which the finding would not hold."""
        return self.by if self.keeps_covered is None else (*self.by, self.keeps_covered)

    def as_dict(self) -> dict[str, object]:
        answer: dict[str, object] = {
            "rule": self.rule,
            "severity": self.severity,
            "sentence": self.sentence,
            "acl": self.acl.as_dict(),
            "by": [binding.as_dict() for binding in self.by],
        }
        if self.extra is not None:
            answer["extra"] = [effect.as_dict() for effect in self.extra]
        return answer


def redundant(
    index: AclIndex,
    settings: AuthorizerSettings | None = None,
    names: Names | None = None,
    *,
    limits: list[str] | None = None,
) -> Iterator[Redundancy]:
    """Yield what is redundant, ACL by ACL in the order of `index`.

    names: the topics, groups and transactional ids that exist, for `orphan`; a type without
    a single given name is not looked at. limits: takes a sentence where the search stopped early.
    """
    settings = settings or AuthorizerSettings()
    wider = WiderAcls(index, settings)
    existing = Existing(names or Names(), settings)
    for binding in index:
        if not binding.has_unknown:
            yield from _findings(binding, wider, existing, settings)
    if limits is not None and wider.stopped_early:
        limits.append(
            "Globs are compared with a bound on the work, which was reached: "
            "what is found holds, and more may be redundant."
        )


def removable(findings: Iterable[Redundancy]) -> tuple[AclBinding, ...]:
    """Return ACLs that can all be removed at once without changing a decision.

    A proof still holds where what it rests on goes too, as long as the proof of that leads to
    an ACL that stays: whatever covers a cover covers. Only ACLs whose proofs lead back to
    themselves, which say the same in other words, cannot all go.
    """
    gone: dict[AclBinding, tuple[AclBinding, ...]] = {}
    for finding in findings:
        proven = finding.rule in (IMPLIED_RULE, SHADOWED, DEAD) and finding.acl not in gone
        if proven and not _leads_back(finding.acl, finding.rests_on, gone):
            gone[finding.acl] = finding.rests_on
    return tuple(gone)


def _leads_back(
    binding: AclBinding, proof: Sequence[AclBinding], gone: dict[AclBinding, tuple[AclBinding, ...]]
) -> bool:
    waiting, seen = list(proof), set(proof)
    while waiting:
        one = waiting.pop()
        if one == binding:
            return True
        fresh = [other for other in gone.get(one, ()) if other not in seen]
        seen.update(fresh)
        waiting += fresh
    return False


"""Whether it is LITERAL, and the name."""


def _findings(
    binding: AclBinding, wider: WiderAcls, existing: Existing, settings: AuthorizerSettings
) -> Iterator[Redundancy]:
    alike = wider.find(
        binding, binding.permission_type, tuple(dict.fromkeys((binding.operation, Operation.ALL)))
    )
    if alike is not None:
        sentence = f"{acl_text(binding)}: another ACL already says the same. {acl_text(alike)}."
        yield Redundancy(IMPLIED_RULE, "info", sentence, binding, (alike,))
    denies = _shadow(binding, wider)
    if denies:
        sentence = (
            f"{acl_text(binding)}: this has no effect, because a DENY overrides all that it allows. "
            f"{' '.join(f'{acl_text(deny)}.' for deny in denies)}"
        )
        yield Redundancy(SHADOWED, "warning", sentence, binding, denies)
    dead = why_unmatchable(binding, settings)
    cover = wider.also_covering(binding) if dead is not None and settings.allow_everyone else None
    if dead is not None and (cover is not None or not settings.allow_everyone):
        severity = "error" if binding.is_deny else "warning"
        meaning = "it denies nobody anything" if binding.is_deny else "it allows nobody anything"
        sentence = f"{acl_text(binding)}: {dead}, so {meaning}."
        yield Redundancy(DEAD, severity, sentence, binding, keeps_covered=cover)
    if alike is None and not denies and binding.permission_type is PermissionType.ALLOW:
        stronger = wider.find(binding, PermissionType.ALLOW, _IMPLYING.get(binding.operation, ()))
        if stronger is not None:
            sentence = f"{acl_text(binding)}: another ACL already implies this. {acl_text(stronger)}."
            yield Redundancy(HARMLESS_DUPLICATE, "info", sentence, binding, (stronger,))
    unreachable = why_no_client(binding, settings) or why_no_resource(binding)
    if unreachable is not None:
        sentence = f"{acl_text(binding)}: {unreachable}."
        yield Redundancy(UNREACHABLE, "error" if binding.is_deny else "warning", sentence, binding)
    elif existing.has_none_under(binding):
        what = binding.resource_type.name.lower().replace("_", " ")
        sentence = f"{acl_text(binding)}: no {what} that exists matches it now; one that is made later may."
        yield Redundancy(ORPHAN, "info", sentence, binding)


_IMPLYING: dict[Operation, tuple[Operation, ...]] = {
    implied: tuple(operation for operation, other in IMPLIED.items() if other is implied)
    for implied in set(IMPLIED.values())
}


def _shadow(binding: AclBinding, wider: WiderAcls) -> tuple[AclBinding, ...]:
    """Return DENYs one of which counts wherever this ALLOW counts; none if there is room left."""
    if binding.permission_type is not PermissionType.ALLOW:
        return ()
    everything = wider.find(binding, PermissionType.DENY, (Operation.ALL,))
    if everything is not None:
        return (everything,)
    allowed = (binding.operation, IMPLIED.get(binding.operation))
    denies: dict[AclBinding, None] = {}
    for operation in allowed:
        if operation is None:
            continue
        deny = wider.find(binding, PermissionType.DENY, (operation,))
        if deny is None:
            return ()
        denies[deny] = None
    return tuple(denies)
