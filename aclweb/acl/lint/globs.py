"""How is an ACL said as a GLOB, and which LITERAL and PREFIXED ACLs say what a GLOB says today?

`as_glob` follows the table of the GLOB proposal: a name stands for itself, a prefix gets a `*`
behind it, and LITERAL `*` becomes the empty GLOB. That is right only for names without `?` and
`*`, which a GLOB cannot say otherwise, so all others stay as they are.

A `Compiler` goes the other way, for brokers that know no GLOB: it gives the ACLs that grant the
same on the names, to the principals and from the hosts that exist now, and says what they leave
out. It never grants more than the GLOB does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product

from aclweb.acl.lint.subject import STARRED
from aclweb.acl.matching import (
    EVERYTHING,
    Shape,
    SortedNames,
    glob_shape,
    host_shape,
    is_for,
    is_glob,
    is_host_glob,
    is_principal_glob,
    part_shapes,
    sample_of,
    stranger_to,
)
from aclweb.acl.model import (
    ANY_USER,
    CLUSTER_NAME,
    NOUNS,
    WILDCARD,
    AclBinding,
    AuthorizerSettings,
    PatternType,
    ResourceType,
    acl_text,
    name_text,
    split_principal,
)
from aclweb.acl.simulate import Names

_GLOBS = AuthorizerSettings("glob")


@dataclass(frozen=True)
class Rewriting:
    """One ACL said in other words.

    acls: what says it; the ACL itself where nothing else can. exact: whether that is so for
    everything that can be asked, also about names, principals and hosts to come. remarks: what
    stays otherwise or is left out, in sentences.
    """

    acl: AclBinding
    acls: tuple[AclBinding, ...]
    exact: bool = True
    remarks: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        return {
            "acl": self.acl.as_dict(),
            "acls": [binding.as_dict() for binding in self.acls],
            "exact": self.exact,
            "remarks": list(self.remarks),
        }


def as_glob(binding: AclBinding) -> Rewriting:
    """Return the ACL with a GLOB pattern that covers the same names, or as it is where there is none."""
    if binding.pattern_type is PatternType.GLOB:
        return Rewriting(binding, (binding,))
    name = binding.resource_name
    if binding.pattern.is_wildcard:
        text: str | None = ""
    elif binding.pattern_type is PatternType.PREFIXED:
        text = None if is_glob(name) else f"{name}{WILDCARD}"
    else:
        text = None if is_glob(name) or not name or binding.has_unknown else name
    if text is None or binding.pattern_type is PatternType.UNKNOWN:
        return Rewriting(binding, (binding,), remarks=(f"{acl_text(binding)}: {_why_no_glob(binding)}.",))
    return Rewriting(binding, (replace(binding, pattern_type=PatternType.GLOB, resource_name=text),))


def _why_no_glob(binding: AclBinding) -> str:
    if binding.pattern_type is PatternType.UNKNOWN:
        return "a pattern of a type that aclweb does not know stays as it is"
    if not binding.resource_name:
        return "the empty GLOB means every name, so no GLOB means the empty name; it stays LITERAL"
    return (
        f"the name {name_text(binding.resource_name)} holds a character that a GLOB reads as a wildcard and that "
        f"cannot be written otherwise; it stays {binding.pattern_type.name}"
    )


class Compiler:
    """Says globs in LITERAL and PREFIXED patterns, for what exists now.

    names: the topics, groups, transactional ids, principals and hosts that exist.
    """

    def __init__(self, names: Names) -> None:
        self._names: Mapping[ResourceType, SortedNames] = {
            ResourceType.TOPIC: SortedNames((*names.topics, *names.new_topics)),
            ResourceType.GROUP: SortedNames(names.groups),
            ResourceType.TRANSACTIONAL_ID: SortedNames(names.transactional_ids),
            ResourceType.DELEGATION_TOKEN: SortedNames(names.delegation_tokens),
            ResourceType.USER: SortedNames(names.users),
            ResourceType.CLUSTER: SortedNames((CLUSTER_NAME,)),
        }
        self._principals = tuple(dict.fromkeys(names.principals))
        self._hosts = tuple(dict.fromkeys(names.hosts))

    def compile(self, binding: AclBinding) -> Rewriting:
        """Return ACLs without globs that grant on what exists now what this one grants, and nothing more."""
        patterns, left_out = self._patterns(binding)
        principals, strangers = self._matched_principals(binding.principal)
        hosts, elsewhere = self._places(binding.host)
        acls = tuple(
            replace(binding, pattern_type=pattern_type, resource_name=name, principal=principal, host=host)
            for (pattern_type, name), principal, host in product(patterns, principals, hosts)
        )
        remarks = (*left_out, *strangers, *elsewhere)
        if remarks and binding.is_deny:
            remarks = (*remarks, "It is a DENY, so what is left out is open to whoever has an ALLOW.")
        return Rewriting(
            binding,
            acls,
            exact=not remarks,
            remarks=tuple(f"{acl_text(binding)}: {text}" for text in remarks),
        )

    def _patterns(self, binding: AclBinding) -> tuple[list[tuple[PatternType, str]], list[str]]:
        kind, name = binding.resource_type, binding.resource_name
        is_wildcard = binding.pattern_type is PatternType.LITERAL and name == WILDCARD
        if binding.pattern_type is not PatternType.GLOB and not (is_wildcard and kind in STARRED):
            return [(binding.pattern_type, name)], []
        shape = glob_shape(name)
        known = self._names.get(kind)
        existing = list(known.matching(shape)) if known is not None else []
        if kind is ResourceType.CLUSTER:
            return [(PatternType.LITERAL, found) for found in existing], []
        if shape == EVERYTHING:
            return self._everything(kind, existing)
        if shape.exact is not None:
            return [(PatternType.LITERAL, shape.exact)], []
        if _is_prefix(shape):
            return [(PatternType.PREFIXED, shape.head)], []
        one, many = NOUNS[kind]
        remarks = []
        if not existing:
            remarks.append(f"No {one} that exists matches it.")
        sayable = [found for found in existing if found not in ("", WILDCARD)]
        if len(sayable) < len(existing):
            remarks.append("An empty name, or one that is a single asterisk, cannot be said alone.")
        example = sample_of(shape, stranger_to(shape.characters))
        remarks.append(
            f"{many[:1].upper()}{many[1:]} that do not exist yet do not match, such as {name_text(example)}."
        )
        return [(PatternType.LITERAL, found) for found in sayable], remarks

    def _everything(
        self, kind: ResourceType, existing: Iterable[str]
    ) -> tuple[list[tuple[PatternType, str]], list[str]]:
        patterns = [(PatternType.LITERAL, WILDCARD)]
        if kind not in STARRED:
            return patterns, []
        starred = [name for name in existing if name.startswith(WILDCARD) and len(name) > 1]
        patterns += [(PatternType.LITERAL, name) for name in starred]
        many = NOUNS[kind][1]
        return patterns, [
            f"KRaft's authorizer leaves {many} out of LITERAL * whose name begins with an asterisk and is "
            f"longer; those that do not exist yet do not match."
        ]

    def _matched_principals(self, principal: str) -> tuple[list[str], list[str]]:
        if split_principal(principal) is None or not is_principal_glob(principal):
            return [principal], []
        if part_shapes(principal) == (EVERYTHING, EVERYTHING):
            return [ANY_USER], []
        found = [
            known
            for known in self._principals
            if is_for(principal, known, _GLOBS) and not is_principal_glob(known) and known != ANY_USER
        ]
        few = "" if found else " No principal that is known is among them."
        return found, [
            f"Principals that do not exist yet and match {name_text(principal)} are left out.{few}"
        ]

    def _places(self, host: str) -> tuple[list[str], list[str]]:
        if not is_host_glob(host):
            return [host], []
        shape = host_shape(host)
        if shape == EVERYTHING:
            return [WILDCARD], []
        found = [known for known in self._hosts if shape.matches(known) and not is_glob(known)]
        few = "" if found else " No host that is known is among them."
        return found, [f"Hosts that do not exist yet and match {name_text(host)} are left out.{few}"]


def _is_prefix(shape: Shape) -> bool:
    """Whether the shape is some characters and then anything, as a PREFIXED pattern is."""
    return len(shape.parts) == 2 and not shape.parts[1] and shape.shortest == len(shape.head) > 0
