"""Which lint rules are there? Every module of `rules` holds one, and this finds them by walking the folder.

The order is that of the findings: by the part of the ACL that a rule looks at first, its rank and its id.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import aclweb.acl.lint.rules as folder
from aclweb.acl.lint.rule import SEVERITIES, About, Alone, Beside, LintRule

_BESIDE = len(About)


class RuleError(Exception):
    """A file of `rules` that holds no rule, or an incomplete one."""


def read_rules() -> Mapping[str, LintRule]:
    """Return the rule of each file by its id, in the order of findings."""
    found = [_rule_in(name) for name in sorted(_names())]
    return MappingProxyType({rule.id: rule for rule in sorted(found, key=_place)})


def _names() -> Iterator[str]:
    # pkgutil also finds the modules of a package in a zip, as Spark's executors get it.
    return (module.name for module in pkgutil.iter_modules(folder.__path__))


def _rule_in(name: str) -> LintRule:
    rule = getattr(importlib.import_module(f"{folder.__name__}.{name}"), "RULE", None)
    if not isinstance(rule, LintRule):
        raise RuleError(f"lint/rules/{name}.py has no RULE; write RULE = LintRule(...).")
    if problem := why_incomplete(rule, name):
        raise RuleError(f"lint/rules/{name}.py: {problem}")
    return rule


def why_incomplete(rule: LintRule, name: str) -> str | None:
    """Return what a rule file lacks, as a sentence; None where it is complete."""
    if rule.id != name.replace("_", "-"):
        return f"the id {rule.id!r} differs from the file name; write {name.replace('_', '-')!r}."
    if rule.severity not in SEVERITIES:
        return f"the severity {rule.severity!r} is none of {', '.join(SEVERITIES)}."
    if not (rule.title and rule.why and rule.instead):
        return "title, why and instead are its page; none of them may be empty."
    if bool(rule.alone) == (rule.beside is not None):
        return "give either `alone` or `beside`."
    if bool(rule.bad) == bool(rule.why_no_bad_example):
        return "give a bad example, or say in `why_no_bad_example` why there is none."
    if not rule.good:
        return "give a good example."
    return None


def _place(rule: LintRule) -> tuple[int, int, str]:
    return min(rule.alone, default=_BESIDE), rule.rank, rule.id


RULES: Mapping[str, LintRule] = read_rules()
"""Every rule by its id."""


def _alone() -> Iterator[tuple[About, LintRule, Alone]]:
    found = [(about, rule, check) for rule in RULES.values() for about, check in rule.alone.items()]
    # Python keeps the order of RULES among those about the same part, where ranks count first.
    found.sort(key=lambda each: (each[0], each[1].rank, each[1].id))
    return iter(found)


UNKNOWN_CHECKS: tuple[tuple[LintRule, Alone], ...] = tuple(
    (rule, check) for about, rule, check in _alone() if about is About.UNKNOWN
)
"""The checks of an ACL with a value that aclweb does not know."""

ALONE_CHECKS: tuple[tuple[LintRule, Alone], ...] = tuple(
    (rule, check) for about, rule, check in _alone() if about is not About.UNKNOWN
)
"""The checks of every other ACL, in the order of findings of one severity."""

BESIDE_CHECKS: tuple[tuple[LintRule, Beside], ...] = tuple(
    (rule, rule.beside) for rule in RULES.values() if rule.beside is not None
)
"""The checks of an ACL beside the others, in the order of their findings."""
