"""What would kafka-acls do with these arguments?

The tool was written in Scala up to 3.9 and is written in Java from 4.0 on; both check in the order kept
here and say the same with few exceptions. Nothing is sent and no file is opened: a plan ends
where the tool would turn to the cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from aclweb.acl.kafka.notes import notes_of
from aclweb.acl.kafka.options import NAME_OPTIONS, OptionError, Options, grammar, read_options
from aclweb.acl.kafka.shell_line import read_shell_line
from aclweb.acl.matching import AclFilter, matching_of
from aclweb.acl.model import (
    CLUSTER_NAME,
    WILDCARD,
    AclBinding,
    AclError,
    AuthorizerSettings,
    Operation,
    PatternType,
    PermissionType,
    ResourcePattern,
    ResourceType,
    shown,
    split_principal,
    tool_operations_of,
)

ACTIONS = ("add", "remove", "list")
# Every name, principal, host and operation of one command meet; more ACLs than this are not worked out.
MOST_ACLS = 100_000
TOOLS = frozenset({"kafka-acls", "kafka-acls.sh", "kafka-acls.bat"})

PRODUCER = {
    ResourceType.TOPIC: (Operation.WRITE, Operation.DESCRIBE, Operation.CREATE),
    ResourceType.TRANSACTIONAL_ID: (Operation.WRITE, Operation.DESCRIBE),
}
CONSUMER = {
    ResourceType.TOPIC: (Operation.READ, Operation.DESCRIBE),
    ResourceType.GROUP: (Operation.READ,),
}

_THE_CLUSTER = ResourcePattern(ResourceType.CLUSTER, CLUSTER_NAME, PatternType.LITERAL)
_SIDES = (("allow", PermissionType.ALLOW), ("deny", PermissionType.DENY))
_JAVA_SPACE = "".join(map(chr, range(0x21)))
_OPERATIONS = {operation.pascal.upper(): operation for operation in Operation}
_PATTERN_TYPES = {
    word.name: word
    for word in (PatternType.ANY, PatternType.MATCH, PatternType.LITERAL, PatternType.PREFIXED)
}
# In Java, these count as I where capital and small letters are compared as equal.
_DOTLESS = str.maketrans("ıİ", "II")


@dataclass(frozen=True, slots=True)
class Plan:
    """What kafka-acls would do, or its own message where it refuses.

    `--add` fills `acls`; `--remove` and `--list` fill `filters`, each in the order of the
    arguments. `action` is None where not exactly one was given, and where the tool only
    prints its version. `notes` are sentences about what the arguments do not say aloud.
    """

    action: str | None
    acls: tuple[AclBinding, ...] = ()
    filters: tuple[AclFilter, ...] = ()
    error: str | None = None
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the promised keys, ready for JSON."""
        return {
            "action": self.action,
            "acls": [acl.as_dict() for acl in self.acls],
            "filters": [_filter_as_dict(asked) for asked in self.filters],
            "error": self.error,
        }


@dataclass(frozen=True, slots=True)
class _Entry:
    """The part of an ACL that says who, from where, and what."""

    principal: str
    host: str
    operation: Operation
    permission_type: PermissionType


# The entries that the tool makes for each resource pattern; in a removal, none means all.
_Work = dict[ResourcePattern, dict[_Entry, None]]


class _Usage(OptionError):
    """A message that the tool prints with its usage."""


def plan(
    arguments: Sequence[str] | str, settings: AuthorizerSettings | None = None, *, most: int = MOST_ACLS
) -> Plan:
    """Return what kafka-acls of the version of `settings` (the newest when None) would do.

    arguments: the words that the tool gets, or the line that a person gives to a shell.
    Raises AclError for a line that no shell reads as one command of kafka-acls, and for
    arguments that stand for more than `most` ACLs or filters.
    """
    settings = settings or AuthorizerSettings()
    remarks: tuple[str, ...] = ()
    if isinstance(arguments, str):
        line = read_shell_line(arguments, TOOLS)
        arguments, remarks = line.words, line.remarks
    _check_characters(arguments)
    options = read_options(arguments, grammar(settings))
    given = [action for action in ACTIONS if options.has(action)]
    action = given[0] if len(given) == 1 else None
    try:
        if options.refusal:
            raise _Usage(options.refusal)
        if not arguments or options.has("help"):
            raise _Usage("This tool helps to manage acls on kafka.")
        if options.has("version"):
            return Plan(None, notes=(*remarks, "kafka-acls prints its version and does nothing else."))
        _check_options(options, settings)
        _check_size(options, most)
        planned = _planned(options, action or "", settings)
    except OptionError as refusal:
        return Plan(action, error=str(refusal), notes=remarks)
    notes = notes_of(options, planned.acls, planned.filters, settings)
    return replace(planned, notes=(*remarks, *notes))


def _check_characters(arguments: Iterable[str]) -> None:
    for word in arguments:
        if "\0" in word:
            raise AclError(f"The argument {shown(word)} holds the character NUL, which no command line can.")
        if any("\ud800" <= character <= "\udfff" for character in word):
            raise AclError(f"The argument {shown(word)} holds half a character; write it in UTF-8.")


def _check_options(options: Options, settings: AuthorizerSettings) -> None:
    """Raise _Usage where options do not go together, for the first reason that the tool finds."""
    if settings.version >= (4, 0):
        _check_where(options)
    else:
        _check_where_in_scala(options)
    if sum(options.has(action) for action in ACTIONS) != 1:
        raise _Usage("Command must include exactly one action: --list, --add, --remove. ")
    _check_pairs(options)
    _check_roles(options)


def _check_where(options: Options) -> None:
    """Raise _Usage where the options say not one way to a cluster, as the tool in Java does."""
    if options.has("bootstrap-server") and options.has("bootstrap-controller"):
        raise _Usage("Only one of --bootstrap-server or --bootstrap-controller must be specified")
    if not options.has("bootstrap-server", "bootstrap-controller"):
        raise _Usage("One of --bootstrap-server or --bootstrap-controller must be specified")


def _check_where_in_scala(options: Options) -> None:
    """Raise _Usage where the options say not one way to a cluster, as the tool in Scala does."""
    if options.has("bootstrap-server") and options.has("authorizer"):
        raise _Usage("Only one of --bootstrap-server or --authorizer must be specified")
    if not options.has("bootstrap-server", "authorizer-properties"):
        raise _Usage('Missing required argument "[authorizer-properties]"')
    if options.has("command-config") and not options.has("bootstrap-server"):
        raise _Usage("The --command-config option can only be used with --bootstrap-server option")
    if options.has("authorizer-properties") and options.has("bootstrap-server"):
        raise _Usage("The --authorizer-properties option can only be used with --authorizer option")


_NOT_TOGETHER = {
    "list": ("producer", "consumer", "allow-host", "allow-principal", "deny-host", "deny-principal"),
    "producer": ("operation", "deny-principal", "deny-host"),
    "consumer": ("operation", "deny-principal", "deny-host"),
}


def _check_pairs(options: Options) -> None:
    """Raise _Usage for the first two options that the tool does not take together."""
    for option, others in _NOT_TOGETHER.items():
        other = next((other for other in others if options.has(option) and options.has(other)), None)
        if other is not None:
            raise _Usage(f'Option "[{option}]" can\'t be used with option "[{other}]"')


def _check_roles(options: Options) -> None:
    """Raise _Usage where an option is given without what it needs."""
    if options.has("principal") and not options.has("list"):
        raise _Usage("The --principal option is only available if --list is set")
    if options.has("producer") and not options.has("topic"):
        raise _Usage("With --producer you must specify a --topic")
    if options.has("idempotent") and not options.has("producer"):
        raise _Usage("The --idempotent option is only available if --producer is set")
    is_narrow = options.has("producer") or not options.has("cluster", "transactional-id")
    if options.has("consumer") and not (options.has("topic") and options.has("group") and is_narrow):
        raise _Usage(
            "With --consumer you must specify a --topic and a --group and no --cluster or "
            "--transactional-id option should be specified."
        )


def _check_size(options: Options, most: int) -> None:
    """Raise AclError for options whose values meet in more than `most` ways."""
    patterns = sum(len(options.all(option)) for option in NAME_OPTIONS.values()) or 1
    operations = len(options.all("operation")) or 1
    principals = len(options.all("principal")) + sum(
        len(options.all(f"{side}-principal")) * (len(options.all(f"{side}-host")) or 1) for side, _ in _SIDES
    )
    count = patterns * operations * (principals or 1)
    if count > most:
        raise AclError(
            f"These arguments mean {count:,} ACLs, and at most {most:,} are worked out; "
            "give fewer names, principals, hosts or operations at once."
        )


def _planned(options: Options, action: str, settings: AuthorizerSettings) -> Plan:
    """Return the plan for options that go together; raise OptionError with what the tool prints instead."""
    is_scala = settings.version < (4, 0)
    if is_scala and not options.has("bootstrap-server"):
        options.one("authorizer")
    acls: tuple[AclBinding, ...] = ()
    filters: tuple[AclFilter, ...] = ()
    try:
        # Only the tool in Scala works out what to add before it connects.
        if not (is_scala and action == "add"):
            _check_connection(options)
        if action == "add":
            acls = _to_add(options, settings)
        elif action == "remove":
            filters = _to_remove(options, settings)
        else:
            filters = _to_list(options, settings)
        _check_connection(options)
    except _Usage:
        raise
    except OptionError as failure:
        raise OptionError(f"Error while executing ACL command: {failure}") from failure
    return Plan(action, acls, filters)


def _check_connection(options: Options) -> None:
    """Raise OptionError for options that may be given once only and are looked at when the tool connects."""
    if options.has("bootstrap-server", "bootstrap-controller"):
        for option in ("command-config", "bootstrap-server", "bootstrap-controller"):
            options.one(option)
        return
    for setting in options.all("authorizer-properties"):
        key, _, value = setting.partition("=")
        if not value:
            raise OptionError(f"Missing value for key {key}}}")
    options.one("zk-tls-config-file")


def _to_add(options: Options, settings: AuthorizerSettings) -> tuple[AclBinding, ...]:
    pattern_type = _pattern_type(options, settings)
    if pattern_type in (PatternType.ANY, PatternType.MATCH):
        raise _Usage(
            f"A '--resource-pattern-type' value of '{pattern_type.name}' is not valid when adding acls."
        )
    work = _worked_out(options, settings)
    if not all(work.values()):
        raise _Usage("You must specify one of: --allow-principal, --deny-principal when trying to add ACLs.")
    return tuple(_binding(pattern, entry) for pattern, entries in work.items() for entry in entries)


def _to_remove(options: Options, settings: AuthorizerSettings) -> tuple[AclFilter, ...]:
    """Return one filter for each entry, and one for all ACLs of a pattern without entries."""
    work = _worked_out(options, settings)
    return tuple(_filter(pattern, entry) for pattern, entries in work.items() for entry in entries or (None,))


def _to_list(options: Options, settings: AuthorizerSettings) -> tuple[AclFilter, ...]:
    """Return one filter for each resource and each principal that is asked for."""
    patterns = _patterns(options, settings)
    principals: list[str | None] = [*_principals(options, "principal")]
    anything = ResourcePattern(ResourceType.ANY, "", PatternType.ANY)
    return tuple(
        AclFilter(
            pattern.resource_type,
            None if pattern is anything else pattern.name,
            pattern.pattern_type,
            principal,
            None,
            Operation.ANY,
            PermissionType.ANY,
        )
        for pattern, principal in product(patterns or [anything], principals or [None])
    )


def _worked_out(options: Options, settings: AuthorizerSettings) -> _Work:
    """Return the entries for each resource pattern, without which a removal takes all there are."""
    work: _Work = {}
    if not options.has("producer", "consumer"):
        entries = _entries(options, map(_operation, options.all("operation") or ("All",)))
        for pattern in _named_patterns(options, settings):
            work[pattern] = dict(entries)
    if options.has("producer"):
        _add_role(work, PRODUCER, options, settings)
        if options.has("idempotent"):
            work[_THE_CLUSTER] = _entries(options, [Operation.IDEMPOTENT_WRITE])
    if options.has("consumer"):
        _add_role(work, CONSUMER, options, settings)
    _check_operations(work, settings)
    return work


def _add_role(
    work: _Work,
    role: Mapping[ResourceType, tuple[Operation, ...]],
    options: Options,
    settings: AuthorizerSettings,
) -> None:
    for pattern in _named_patterns(options, settings):
        if pattern.resource_type in role:
            work.setdefault(pattern, {}).update(_entries(options, role[pattern.resource_type]))


def _check_operations(work: _Work, settings: AuthorizerSettings) -> None:
    for pattern, entries in work.items():
        legal = (Operation.ALL, *tool_operations_of(pattern.resource_type, settings))
        if all(entry.operation in legal for entry in entries):
            continue
        # In either language the order is that of a set, which is to say any.
        if settings.version < (4, 0):
            words = ", ".join(operation.pascal for operation in legal)
        else:
            words = f"[{', '.join(operation.name for operation in legal)}]"
        raise _Usage(f"ResourceType {pattern.resource_type.name} only supports operations {words}")


def _entries(options: Options, operations: Iterable[Operation]) -> dict[_Entry, None]:
    """Return every principal with every operation from every host, first what is allowed, then what is denied."""
    operations = tuple(operations)
    principals = {side: _principals(options, f"{side}-principal") for side, _ in _SIDES}
    entries: dict[_Entry, None] = {}
    for side, permission_type in _SIDES:
        hosts = [_trimmed(host) for host in options.all(f"{side}-host")] or [WILDCARD]
        for principal, operation, host in product(principals[side], operations, hosts):
            if operation is Operation.ANY:
                raise OptionError("operation must not be ANY")
            entries[_Entry(principal, host, operation, permission_type)] = None
    return entries


def _principals(options: Options, option: str) -> list[str]:
    principals = [_trimmed(text) for text in options.all(option)]
    for text in principals:
        if split_principal(text) is None:
            raise OptionError(f"expected a string in format principalType:principalName but got {text}")
    return list(dict.fromkeys(principals))


def _operation(word: str) -> Operation:
    return _OPERATIONS.get(_trimmed(word).upper(), Operation.UNKNOWN)


def _pattern_type(options: Options, settings: AuthorizerSettings) -> PatternType:
    words = _PATTERN_TYPES | {known.name: known for known in matching_of(settings).pattern_types}
    for text in options.all("resource-pattern-type"):
        if text.translate(_DOTLESS).upper() not in words:
            raise OptionError(f"Cannot parse argument '{text}' of option resource-pattern-type")
    return words[(options.one("resource-pattern-type") or "LITERAL").translate(_DOTLESS).upper()]


def _named_patterns(options: Options, settings: AuthorizerSettings) -> Sequence[ResourcePattern]:
    patterns = _patterns(options, settings)
    if not patterns:
        raise _Usage(
            "You must provide at least one resource: --topic <topic> or --cluster or --group <group> or "
            "--delegation-token <Delegation Token ID>"
        )
    return patterns


def _patterns(options: Options, settings: AuthorizerSettings) -> Sequence[ResourcePattern]:
    """Return the resource patterns that are named, with ANY or MATCH for a pattern type where that was given."""
    pattern_type = _pattern_type(options, settings)
    patterns = [
        # Of all names, only transactional ids keep the white space around them.
        ResourcePattern(
            resource_type,
            name if resource_type is ResourceType.TRANSACTIONAL_ID else _trimmed(name),
            pattern_type,
        )
        for resource_type, option in NAME_OPTIONS.items()
        for name in options.all(option)
    ]
    if pattern_type is PatternType.LITERAL and options.has("cluster", "idempotent"):
        patterns.append(_THE_CLUSTER)
    return list(dict.fromkeys(patterns))


def _trimmed(text: str) -> str:
    return text.strip(_JAVA_SPACE)


def _binding(pattern: ResourcePattern, entry: _Entry) -> AclBinding:
    return AclBinding(
        pattern.resource_type,
        pattern.name,
        pattern.pattern_type,
        entry.principal,
        entry.host,
        entry.operation,
        entry.permission_type,
    )


def _filter(pattern: ResourcePattern, entry: _Entry | None) -> AclFilter:
    if entry is not None:
        return AclFilter.exactly(_binding(pattern, entry))
    return AclFilter(
        pattern.resource_type,
        pattern.name,
        pattern.pattern_type,
        None,
        None,
        Operation.ANY,
        PermissionType.ANY,
    )


def _filter_as_dict(asked: AclFilter) -> dict[str, str | None]:
    return {
        "resource_type": asked.resource_type.name,
        "resource_name": asked.resource_name,
        "pattern_type": asked.pattern_type.name,
        "principal": asked.principal,
        "host": asked.host,
        "operation": asked.operation.name,
        "permission_type": asked.permission_type.name,
    }
