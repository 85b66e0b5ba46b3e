"""What is legal and still wrong, or likely not what its author meant?

Every rule has a stable id, a severity and a page under docs/lint. `lint` looks at one ACL
alone, fast enough for every keystroke; `lint_all` also sees how the ACLs of a cluster stand
to one another. A finding says what this ACL does, not what one should think of it.

error: it does not do what it says, or a broker may fail on it. warning: it probably does more
or less than was meant. info: worth knowing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.lint.beside import Others
from aclweb.acl.lint.redundancy import Redundancy
from aclweb.acl.lint.registry import ALONE_CHECKS, BESIDE_CHECKS, UNKNOWN_CHECKS
from aclweb.acl.lint.rule import SEVERITIES, Broken, Example, LintRule
from aclweb.acl.lint.subject import Subject
from aclweb.acl.model import AclBinding, AuthorizerSettings


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One ACL that breaks one lint rule. by: the other ACLs that the sentence speaks of."""

    rule: str
    severity: str
    sentence: str
    acl: AclBinding
    by: tuple[AclBinding, ...] = ()

    def as_dict(self) -> dict[str, object]:
        return {
            "rule": self.rule,
            "severity": self.severity,
            "sentence": self.sentence,
            "acl": self.acl.as_dict(),
            "by": [binding.as_dict() for binding in self.by],
        }


def lint(binding: AclBinding, settings: AuthorizerSettings | None = None) -> tuple[LintFinding, ...]:
    """Return what one ACL alone breaks, errors first."""
    return _alone(Subject(binding, settings or AuthorizerSettings()))


def lint_all(
    index: AclIndex, settings: AuthorizerSettings | None = None, *, wasted: Iterable[Redundancy] | None = None
) -> Iterator[LintFinding]:
    """Yield what each ACL breaks alone and beside the others, ACL by ACL in the order of `index`.

    wasted: what `redundant` yields for the same, if it was worked out already.
    """
    settings = settings or AuthorizerSettings()
    others = Others(index, settings, wasted)
    checks = [(rule, beside(others)) for rule, beside in BESIDE_CHECKS]
    for binding in index:
        acl = Subject(binding, settings)
        yield from _alone(acl)
        if binding.has_unknown:
            continue
        for rule, check in checks:
            for broken in check(acl):
                yield _finding(rule, broken, binding)


def findings_in(example: Example) -> tuple[LintFinding, ...]:
    """Return what the ACL of an example breaks: alone, and beside the others if there is nothing to find alone."""
    alone = lint(example.acl, example.settings)
    if alone:
        return alone
    index = AclIndex((example.acl, *example.others))
    return tuple(found for found in lint_all(index, example.settings) if found.acl == example.acl)


def _alone(acl: Subject) -> tuple[LintFinding, ...]:
    checks = UNKNOWN_CHECKS if acl.binding.has_unknown else ALONE_CHECKS
    found = [_finding(rule, broken, acl.binding) for rule, check in checks for broken in check(acl)]
    return tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity)))


def _finding(rule: LintRule, broken: Broken, binding: AclBinding) -> LintFinding:
    return LintFinding(rule.id, broken.severity or rule.severity, broken.sentence, binding, broken.by)
