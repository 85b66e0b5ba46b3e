"""Which kafka-acls command adds, or removes, exactly this ACL?

One command for each ACL, on one line, for a POSIX shell. What the tool would change on its
way (white space that it cuts off) or refuse is a sentence, and there is no command.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from aclweb.acl.kafka.options import NAME_OPTIONS, grammar
from aclweb.acl.kafka.shell_line import bytes_of, hidden_in, spelled
from aclweb.acl.kafka.texts import why_no_text
from aclweb.acl.matching import matching_of
from aclweb.acl.model import (
    CLUSTER_NAME,
    AclBinding,
    AclError,
    AuthorizerSettings,
    Operation,
    PatternType,
    ResourceType,
    shown,
    split_principal,
    tool_operations_of,
)

# How many of the characters that cannot be seen are named one by one.
_MOST_NAMED = 4
_ACTIONS = {"add": ("--add",), "remove": ("--remove", "--force")}


def commands(
    bindings: Iterable[AclBinding],
    *,
    op: str = "add",
    bootstrap: str = '"$BOOTSTRAP"',
    settings: AuthorizerSettings | None = None,
) -> list[str]:
    """Return one kafka-acls command for each ACL, quoted for a POSIX shell.

    op: "add", or "remove", which removes exactly these ACLs and does not ask back.
    bootstrap: put after --bootstrap-server as it is, so it may name a shell variable.
    Raises AclError for an ACL that the tool cannot say, under `settings` (the newest Kafka
    when None).
    """
    lines = []
    for binding in bindings:
        reason = why_no_command(binding, settings or AuthorizerSettings())
        if reason:
            raise AclError(reason)
        lines.append(_command(binding, op, bootstrap))
    return lines


def why_escaped(binding: AclBinding) -> str | None:
    """Return a sentence about the characters that its command writes as bytes; None where all can be seen."""
    hidden = hidden_in(binding.principal + binding.host + binding.resource_name)
    if not hidden:
        return None
    characters = [
        f"{_printf_word(letter)} for U+{ord(letter):04X}"
        + (f" ({name})" if (name := unicodedata.name(letter, "")) else "")
        for letter in hidden[:_MOST_NAMED]
    ]
    more = f" and {len(hidden) - _MOST_NAMED} more" if len(hidden) > _MOST_NAMED else ""
    return f"The command holds characters that cannot be seen; it writes {', '.join(characters)}{more}."


def _printf_word(letter: str) -> str:
    return "\\n" if letter == "\n" else bytes_of(letter)


def _command(binding: AclBinding, op: str, bootstrap: str) -> str:
    side = binding.permission_type.name.lower()
    words = [
        *_ACTIONS[op],
        *_option(f"{side}-principal", binding.principal),
        *_option(f"{side}-host", binding.host),
        *_option("operation", binding.operation.pascal),
    ]
    if binding.resource_type is ResourceType.CLUSTER:
        words.append("--cluster")
    else:
        words += _option(NAME_OPTIONS[binding.resource_type], binding.resource_name)
        if binding.pattern_type is not PatternType.LITERAL:
            words += ("--resource-pattern-type", binding.pattern_type.name.lower())
    return f"kafka-acls --bootstrap-server {bootstrap} {' '.join(map(spelled, words))}"


def _option(name: str, value: str) -> tuple[str, ...]:
    # A value that looks like an option is tied to its name, or it could be taken for one.
    return (f"--{name}={value}",) if value.startswith("-") else (f"--{name}", value)


def why_no_command(binding: AclBinding, settings: AuthorizerSettings) -> str | None:
    """Return why kafka-acls cannot say this ACL, as a sentence; None if it can."""
    reasons = (check(binding, settings) for check in _CHECKS)
    return next((reason for reason in reasons if reason is not None), None)


def _why_no_words(binding: AclBinding, settings: AuthorizerSettings) -> str | None:
    if binding.has_unknown:
        return "kafka-acls has no word for UNKNOWN; name the type, pattern type, operation and permission."
    if binding.pattern_type not in matching_of(settings).pattern_types:
        return f"kafka-acls cannot add an ACL of pattern type {binding.pattern_type.name}; use LITERAL or PREFIXED."
    return None


def _why_no_principal(binding: AclBinding, _settings: AuthorizerSettings) -> str | None:
    if split_principal(binding.principal) is not None:
        return None
    return (
        f"Principal {shown(binding.principal)} has no colon, which kafka-acls refuses; "
        f"write it as {shown('User:' + binding.principal)}."
    )


def _why_no_resource(binding: AclBinding, settings: AuthorizerSettings) -> str | None:
    is_the_cluster = binding.resource_name == CLUSTER_NAME and binding.pattern_type is PatternType.LITERAL
    if binding.resource_type is ResourceType.CLUSTER and not is_the_cluster:
        return (
            f"kafka-acls can only name the cluster as LITERAL {CLUSTER_NAME!r}, "
            f"not as {binding.pattern_type.name} {shown(binding.resource_name)}."
        )
    option = NAME_OPTIONS.get(binding.resource_type)
    if option and option not in grammar(settings).valued:
        return (
            f"kafka-acls of Kafka {settings.kafka_version} has no option for {binding.resource_type.name}; "
            "that of 3.3 and later has."
        )
    if not binding.resource_name:
        return "The resource name is empty, which kafka-acls refuses; name a resource."
    return None


def _why_no_operation(binding: AclBinding, settings: AuthorizerSettings) -> str | None:
    operations = (Operation.ALL, *tool_operations_of(binding.resource_type, settings))
    if binding.operation in operations:
        return None
    return (
        f"kafka-acls refuses {binding.operation.name} on {binding.resource_type.name}; "
        f"it takes {', '.join(operation.name for operation in operations)}."
    )


def _why_no_argument(binding: AclBinding, _settings: AuthorizerSettings) -> str | None:
    """Return why a text of the ACL cannot be the argument of any command."""
    for text in (binding.principal, binding.host, binding.resource_name):
        if "\0" in text:
            return f"{shown(text)} holds the character NUL, which no command line can."
        if (reason := why_no_text(text)) is not None:
            return reason
    return None


def _why_not_kept(binding: AclBinding, _settings: AuthorizerSettings) -> str | None:
    """Return which text the tool, or the shell, would shorten."""
    trimmed = [binding.principal, binding.host]
    if binding.resource_type is not ResourceType.TRANSACTIONAL_ID:
        trimmed.append(binding.resource_name)
    for text in trimmed:
        if text and (text[0] <= " " or text[-1] <= " "):
            return f"{shown(text)} begins or ends with white space, which kafka-acls would cut off."
    if binding.resource_name.endswith("\n"):
        return f"{shown(binding.resource_name)} ends in a line break, which no single line of a shell can."
    return None


# In this order: what is said first is what has to be mended first.
_CHECKS = (
    _why_no_words,
    _why_no_principal,
    _why_no_resource,
    _why_no_operation,
    _why_no_argument,
    _why_not_kept,
)
