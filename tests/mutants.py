"""Mistakes that somebody could make in the matcher, each as a change to the text of one module."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import aclweb.acl

# In the order in which they import each other.
MODULES = {
    "profiles": "aclweb.acl.model.authorizers",
    "patterns": "aclweb.acl.matching.patterns",
    "hosts": "aclweb.acl.matching.hosts",
    "domination": "aclweb.acl.matching.domination",
    "strategy": "aclweb.acl.matching.strategy",
    "masks": "aclweb.acl.authorizer.masks",
    "scan_order": "aclweb.acl.authorizer.scan_order",
    "shelf": "aclweb.acl.authorizer.shelf",
    "mask_table": "aclweb.acl.authorizer.mask_table",
    "glob_table": "aclweb.acl.authorizer.glob_table",
    "index": "aclweb.acl.authorizer.index",
    "answers": "aclweb.acl.authorizer.answers",
    "by_type": "aclweb.acl.authorizer.by_type",
    "hazards": "aclweb.acl.authorizer.hazards",
    "findings": "aclweb.acl.authorizer.findings",
    "authorizer": "aclweb.acl.authorizer.decision",
    "wording": "aclweb.acl.model.wording",
    "near_misses": "aclweb.acl.authorizer.near_misses",
    "remedies": "aclweb.acl.authorizer.remedies",
    "broker_log": "aclweb.acl.authorizer.broker_log",
    "explain": "aclweb.acl.authorizer.explanation",
}
SOURCES = {
    name: Path(aclweb.acl.__path__[0], *full.split(".")[2:]).with_suffix(".py").read_text(encoding="utf-8")
    for name, full in MODULES.items()
}


@dataclass(frozen=True)
class Mutant:
    """One mistake: what it is, and the text of a module before and after it."""

    mistake: str
    module: str
    before: str
    after: str


ENGINE = re.compile(r"return self\.is_(?:standard|kraft)\b")


def property_of(name: str) -> str:
    """The text of one property of AuthorizerSettings from its name to its return."""
    start = SOURCES["profiles"].index(f"def {name}(self)")
    found = ENGINE.search(SOURCES["profiles"], start)
    assert found is not None
    return SOURCES["profiles"][start : found.end()]


def turned(name: str, value: bool) -> tuple[str, str]:
    """One property of AuthorizerSettings before and after it is the same for both authorizers."""
    return property_of(name), ENGINE.sub(f"return {value}", property_of(name))


MUTANTS = [
    # DENY, ALLOW, super users and the default.
    Mutant(
        "an ALLOW wins over a DENY",
        "authorizer",
        "    bit = 1 << request.operation._value_\n",
        "    bit = 1 << request.operation._value_\n    if mask & bit:\n        return BY_ALLOW_ACL\n",
    ),
    Mutant(
        "an ALLOW wins in the findings",
        "answers",
        "    if denied:\n        return BY_DENY_ACL\n    perhaps_denied = ",
        "    if denied and not allowed:\n        return BY_DENY_ACL\n    perhaps_denied = ",
    ),
    Mutant(
        "a super user is looked up after the ACLs",
        "authorizer",
        "    if request.principal in settings.super_users:\n        return BY_SUPER_USER\n    name = ",
        "    name = ",
    ),
    Mutant(
        "super users are no matter of the findings",
        "authorizer",
        "        return BY_SUPER_USER\n    if request.resource_name is None:\n",
        "        pass\n    if request.resource_name is None:\n",
    ),
    Mutant(
        "the default speaks beside ACLs for others",
        "answers",
        "    if covering.covers(name, settings):\n        return BY_NO_ALLOW_ACL\n",
        "",
    ),
    Mutant(
        "the default speaks in the findings",
        "answers",
        "default_allows = settings.allow_everyone and not covered",
        "default_allows = settings.allow_everyone",
    ),
    Mutant(
        "where a type has no ACL everyone is refused",
        "authorizer",
        "    if table is None:\n        return settle_known(denied=False, allowed=False, covered=False",
        "    if table is None:\n        return settle_known(denied=False, allowed=False, covered=True",
    ),
    # Principals.
    Mutant(
        "User:* is a user that nobody is",
        "mask_table",
        "            if own == ANY_USER:\n                return mask\n",
        "            return mask\n",
    ),
    Mutant(
        "User:* is for the type User only",
        "mask_table",
        "            if own == ANY_USER:\n",
        '            if own == ANY_USER or not own.startswith("User:"):\n',
    ),
    Mutant(
        "User:* is for the type User only in the findings",
        "strategy",
        "        if acl_principal == ANY_USER:\n            return True\n",
        '        if acl_principal == ANY_USER:\n            return principal.startswith("User:")\n',
    ),
    Mutant(
        "Group:* is a wildcard",
        "mask_table",
        "            own = ANY_USER\n",
        '            own = ANY_USER if own.endswith(":*") else own.partition(":")[0] + ":*"\n',
    ),
    Mutant(
        "Group:* is a wildcard in the findings",
        "strategy",
        "return acl_principal == principal and",
        'return acl_principal in (principal, principal.partition(":")[0] + ":*") and',
    ),
    Mutant(
        "a principal without a colon is somebody",
        "strategy",
        "return acl_principal == principal and split_principal(principal) is not None",
        "return acl_principal == principal",
    ),
    Mutant(
        "a principal without a colon has masks",
        "mask_table",
        "                    names.update(*by_host.values())\n                continue\n",
        "                    names.update(*by_host.values())\n",
    ),
    # Hosts.
    Mutant(
        "hosts are compared without case",
        "hosts",
        "if acl_host in (WILDCARD, host):",
        "if acl_host.lower() in (WILDCARD, host.lower()):",
    ),
    Mutant("the session's own host is not looked up", "mask_table", "hosts.get(host)", "None"),
    Mutant("any host is not looked up", "mask_table", "hosts.get(WILDCARD)", "None"),
    Mutant(
        "0.0.0.0 lies in ranges", "mask_table", "address is None or address == UNRANGED", "address is None"
    ),
    Mutant("0.0.0.0 lies in ranges in the findings", "hosts", " or address == UNRANGED", ""),
    Mutant("ranges are read before 4.4", "profiles", "self.version >= (4, 4)", "self.version >= (4, 3)"),
    Mutant("ranges are never read", "profiles", "self.version >= (4, 4)", "self.version >= (4, 5)"),
    Mutant("a range may be /33", "hosts", "length > 32", "length > 33"),
    Mutant("an octet may be 256", "hosts", "max(octets) > 255", "max(octets) > 256"),
    Mutant("three digits are a length", "hosts", "/([0-9]{1,2})", "/([0-9]{1,3})"),
    Mutant(
        "a mapped range is a range",
        "hosts",
        " or _is_mapped(address):\n        return None",
        ":\n        return None",
    ),
    Mutant("an empty scope is a scope", "hosts", "if percent and not (scope", "if scope and not (scope"),
    Mutant("no sign before a length", "hosts", "([+-]?)", "(-?)"),
    Mutant("IPv6 lengths end at 127", "hosts", "0 <= length <= 128", "0 <= length < 128"),
    Mutant(
        "a range is one address shorter",
        "hosts",
        "shift = bits - length",
        "shift = max(bits - length - 1, 0)",
    ),
    Mutant(
        "a range is filed one bit short",
        "mask_table",
        "starts.get(value >> bits - length",
        "starts.get(value >> max(bits - length - 1, 0)",
    ),
    # Operations.
    Mutant("READ brings no DESCRIBE", "masks", "    Operation.READ: Operation.DESCRIBE,\n", ""),
    Mutant("DELETE brings no DESCRIBE", "masks", "    Operation.DELETE: Operation.DESCRIBE,\n", ""),
    Mutant(
        "ALTER_CONFIGS brings no DESCRIBE_CONFIGS",
        "masks",
        "    Operation.ALTER_CONFIGS: Operation.DESCRIBE_CONFIGS,\n",
        "",
    ),
    Mutant(
        "CREATE brings DESCRIBE",
        "masks",
        "    Operation.READ: Operation.DESCRIBE,\n",
        "    Operation.READ: Operation.DESCRIBE,\n    Operation.CREATE: Operation.DESCRIBE,\n",
    ),
    Mutant("a DENY implies", "masks", "return exact << DENY_SHIFT", "return allowing << DENY_SHIFT"),
    Mutant("ALL leaves out the youngest operation", "masks", "ALL_BITS = 0xFFFF", "ALL_BITS = 0x7FFF"),
    # Patterns.
    Mutant(
        "a prefix may stand anywhere",
        "strategy",
        "return name.startswith(own) if own",
        "return own in name if own",
    ),
    Mutant(
        "PREFIXED * is a wildcard",
        "strategy",
        "return name.startswith(own) if own",
        'return own == "*" or name.startswith(own) if own',
    ),
    Mutant(
        "PREFIXED * is a wildcard in masks",
        "mask_table",
        "self.wild = self.literals.get(WILDCARD, 0)",
        "self.wild = self.literals.get(WILDCARD, 0) | prefixed.get(WILDCARD, 0)",
    ),
    Mutant(
        "literals are compared without case",
        "strategy",
        "return own == name or",
        "return own.lower() == name.lower() or",
    ),
    Mutant(
        "a prefix does not cover itself",
        "mask_table",
        "place = bisect_right(prefixes, name) - 1",
        "place = bisect_left(prefixes, name) - 1",
    ),
    Mutant(
        "a prefix does not count itself as covered",
        "mask_table",
        "left = bisect_right(prefixes, name) - 1",
        "left = bisect_left(prefixes, name) - 1",
    ),
    Mutant(
        "an empty prefix hides the others where it covers nothing",
        "mask_table",
        "last = prefix or None",
        "last = prefix",
    ),
    Mutant(
        "the longest prefixes are kept of those that cover",
        "mask_table",
        "for prefix in sorted(prefixes):",
        "for prefix in sorted(prefixes, key=len, reverse=True):",
    ),
    Mutant(
        "a longer prefix hides the shorter ones",
        "mask_table",
        "prefixed[prefix] | (masks[parent] if parent >= 0 else 0)",
        "prefixed[prefix]",
    ),
    Mutant(
        "a climb stops at a sibling",
        "patterns",
        "while parent >= 0 and not prefix.startswith(ordered[parent]):\n                parent = parents[parent]",
        "if parent >= 0 and not prefix.startswith(ordered[parent]):\n                parent = -1",
    ),
    Mutant(
        "a jump goes too far",
        "mask_table",
        "place = jump if jump >= 0 and not name",
        "place = jump if jump >= 0 and name",
    ),
    Mutant(
        "a jump goes too far in the findings",
        "patterns",
        "place = jump if jump >= 0 and not name",
        "place = jump if jump >= 0 and name",
    ),
    # What differs between the authorizers.
    Mutant("KRaft's wildcard covers *team", "profiles", *turned("wildcard_skips_starred_names", False)),
    Mutant(
        "ZooKeeper's wildcard leaves out *team", "profiles", *turned("wildcard_skips_starred_names", True)
    ),
    Mutant(
        "KRaft's empty prefix covers the empty name only",
        "profiles",
        *turned("empty_prefix_covers_all", False),
    ),
    Mutant("ZooKeeper's empty prefix covers all", "profiles", *turned("empty_prefix_covers_all", True)),
    Mutant("KRaft tries no made-up name", "profiles", *turned("by_type_tries_hardcode", False)),
    Mutant("ZooKeeper tries the made-up name", "profiles", *turned("by_type_tries_hardcode", True)),
    Mutant(
        "a default that allows does not settle a type",
        "profiles",
        "return self.allow_everyone and not self.by_type_tries_hardcode",
        "return False",
    ),
    # Whole types.
    Mutant("another made-up name", "by_type", 'HARDCODE = "hardcode"', 'HARDCODE = "hardcoded"'),
    Mutant(
        "a DENY on * does not refuse a type",
        "by_type",
        "    if any(binding.has_wildcard_pattern and binding.is_deny for binding in entries):\n        return False\n",
        "",
    ),
    Mutant(
        "a literal DENY takes a prefix away",
        "domination",
        "if is_literal and name in self._literals:",
        "if name in self._literals:",
    ),
    Mutant(
        "an equal DENY prefix takes nothing away",
        "domination",
        "self._lengths if length <= len(name))",
        "self._lengths if length < len(name))",
    ),
    Mutant(
        "an empty DENY prefix takes all away",
        "domination",
        "{len(prefix) for prefix in self._prefixes if prefix}",
        "{len(prefix) for prefix in self._prefixes}",
    ),
    Mutant(
        "a DENY prefix takes the wildcard away",
        "domination",
        "        if is_literal and name == WILDCARD:\n            return False\n",
        "",
    ),
    Mutant(
        "operations imply in a whole type",
        "by_type",
        "        binding.operation in (request.operation, Operation.ALL)\n        and matching",
        "        (binding.operation in (request.operation, Operation.ALL) or request.operation is Operation.DESCRIBE)\n"
        "        and matching",
    ),
    Mutant(
        "a whole type ignores hosts",
        "by_type",
        "        and matching.comes_from(binding.host, request.host)\n    )\n",
        "    )\n",
    ),
    Mutant(
        "one ALLOW is enough beside a DENY",
        "by_type",
        "if not own_by_type(request, others, settings) and any(",
        "if any(",
    ),
    # Values that aclweb does not know.
    Mutant(
        "an unknown value is read as it suits",
        "answers",
        "    if can_be_allowed and can_be_denied:\n",
        "    if False:\n",
    ),
    Mutant(
        "an unknown value of a type is read as it suits",
        "by_type",
        "    if len(results) > 1 or None in results:\n",
        "    if False:\n",
    ),
    Mutant(
        "an unknown operation may deny",
        "masks",
        "return 0 if permission is PermissionType.DENY else ALL_BITS << MAYBE_SHIFT",
        "return ALL_BITS << (DENY_SHIFT if permission is PermissionType.DENY else MAYBE_SHIFT)",
    ),
    Mutant(
        "an unknown operation of an ALLOW does nothing",
        "masks",
        "return 0 if permission is PermissionType.DENY else ALL_BITS << MAYBE_SHIFT",
        "return 0",
    ),
    Mutant(
        "an unknown permission allows",
        "masks",
        "return (allowing | exact << DENY_SHIFT) << MAYBE_SHIFT",
        "return allowing",
    ),
    Mutant(
        "an unknown pattern covers nothing",
        "authorizer",
        "    if mask >> MAYBE_SHIFT or table.unknown_patterns:\n",
        "    if mask >> MAYBE_SHIFT:\n",
    ),
    Mutant(
        "an unknown pattern of another principal is nothing to the default",
        "answers",
        "any(vote is not Vote.ALLOW for vote in unknown_patterns)",
        "any(vote is Vote.DENY for vote in unknown_patterns)",
    ),
    # Hazards.
    Mutant(
        "a session User:* is a hazard in 3.9", "profiles", "self.version >= (4, 0)", "self.version >= (3, 9)"
    ),
    Mutant(
        "a name that begins with an asterisk is a hazard",
        "hazards",
        "name[0] < WILDCARD",
        "name[0] <= WILDCARD",
    ),
    Mutant(
        "ZooKeeper fails on a principal without a colon",
        "profiles",
        *turned("principals_without_colon_are_a_hazard", True),
    ),
    Mutant(
        "a super user meets hazards",
        "hazards",
        "    if request.principal in settings.super_users:\n        return ()\n",
        "",
    ),
    # Configuration.
    Mutant(
        "super users are parted at commas",
        "profiles",
        'value.split(";")',
        'value.replace(",", ";").split(";")',
    ),
    Mutant(
        "super users are not trimmed", "profiles", "if part]", "if part]\n        parts = value.split(';')"
    ),
    Mutant(
        "ZooKeeper ignores an empty super user",
        "profiles",
        "        while parts and not parts[-1]:\n            parts.pop()\n",
        "        parts = [part for part in parts if part]\n",
    ),
    Mutant("any word allows everyone", "profiles", 'return word == "TRUE"', 'return word != "FALSE"'),
    # Reasons.
    Mutant(
        "the first ALLOW is reported",
        "broker_log",
        "return met[0] if decision.basis is Basis.DENY_ACL else met[-1]",
        "return met[0]",
    ),
    Mutant(
        "the last DENY is reported",
        "broker_log",
        "return met[0] if decision.basis is Basis.DENY_ACL else met[-1]",
        "return met[-1]",
    ),
    Mutant(
        "names are walked upwards",
        "scan_order",
        "ordered.sort(key=_name_order, reverse=True)",
        "ordered.sort(key=_name_order)",
    ),
    Mutant(
        "PREFIXED comes before LITERAL",
        "scan_order",
        "        binding.pattern_type._value_,\n        binding",
        "        -binding.pattern_type._value_,\n        binding",
    ),
    Mutant(
        "principals come before operations",
        "scan_order",
        "        binding.operation._value_,\n        code_units(binding.principal),\n",
        "        code_units(binding.principal),\n        binding.operation._value_,\n",
    ),
    Mutant(
        "texts are sorted by code points",
        "patterns",
        'if text.isascii() or max(text) <= "\\uffff":',
        "if text:",
    ),
    Mutant(
        "the wildcard is never leapt over",
        "broker_log",
        "first = [binding for binding in first if not binding.pattern.is_wildcard]",
        "pass",
    ),
    Mutant(
        "only one DENY is determining",
        "authorizer",
        "return self._counted(PermissionType.DENY)",
        "return self._counted(PermissionType.DENY)[:1]",
    ),
    Mutant(
        "the reported ACL would also decide",
        "explain",
        "for binding in decision.determining if binding != named)",
        "for binding in decision.determining)",
    ),
    Mutant("why not forgets the host", "findings", '        why_not.append("host")\n', "        pass\n"),
    # Ways out.
    Mutant(
        "the fix is for ALL",
        "remedies",
        "            operation=request.operation,\n",
        "            operation=type(request.operation).ALL,\n",
    ),
    Mutant(
        "the fix is for any host",
        "remedies",
        "            host=request.host,\n",
        "            host=WILDCARD,\n",
    ),
    Mutant(
        "the fix is a prefix",
        "remedies",
        "        yield PatternType.LITERAL, name\n    yield",
        "        yield PatternType.PREFIXED, name\n    yield",
    ),
    Mutant(
        "the fix of * is the wildcard",
        "remedies",
        "        yield PatternType.PREFIXED, name\n",
        "        yield PatternType.LITERAL, name\n",
    ),
    Mutant(
        "a type is fixed under a DENY",
        "remedies",
        "name in literals or name.startswith(prefixes) or any(",
        "any(",
    ),
    Mutant(
        "any way to remove will do",
        "remedies",
        "for removed in sorted(removable, key=len):",
        "for removed in sorted(removable, key=len, reverse=True):",
    ),
    Mutant("ALLOWs on the made-up name stay", "remedies", "            holding |= dict", "            dict"),
    # Near misses.
    Mutant(
        "near misses come farthest first", "near_misses", "return len(why_not), ", "return -len(why_not), "
    ),
    Mutant(
        "case is no near miss",
        "near_misses",
        "_same_start(own.casefold(), name.casefold(), prefixed)",
        "False",
    ),
    Mutant("one letter off is no near miss", "near_misses", "_one_off(own, name, prefixed):", "False:"),
    Mutant("a literal meant as a prefix is no near miss", "near_misses", "_parts_at(own, name):", "False:"),
    Mutant(
        "another type is no near miss",
        "near_misses",
        "if own and _entry_fits(binding, request, settings):",
        "if False:",
    ),
    Mutant(
        "a counted ALLOW misses a tick",
        "near_misses",
        "return decision.basis is not Basis.DENY_ACL",
        "return False",
    ),
]
