"""How does a list of ACLs become a file: whole, in order, a thousand at a time?

What a notation cannot hold is never left out silently: CSV refuses the whole file with a
sentence, and among commands a comment replaces an ACL that kafka-acls cannot take.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.http import StreamingHttpResponse

from aclweb.acl.kafka import commands, why_escaped, why_no_command
from aclweb.acl.model import AclBinding, AuthorizerSettings, Delta, Step
from aclweb.acl.notation import why_not_written, write_acls

COMMANDS = "kafka-acls"
# ACLs put into text at once.
_AT_ONCE = 1_000


@dataclass(frozen=True)
class Notation:
    """One kind of file: its word on a button, the ending of its name, and its media type."""

    word: str
    ending: str
    media_type: str


# Media types that no browser shows as a page: a name in an ACL may look like markup.
NOTATIONS = {
    "csv": Notation("CSV", "csv", "text/csv; charset=utf-8"),
    "jsonl": Notation("JSON lines", "jsonl", "application/jsonl"),
    COMMANDS: Notation("kafka-acls commands", "sh", "text/plain; charset=utf-8"),
}


def why_not(bindings: Sequence[AclBinding], format: str, settings: AuthorizerSettings) -> str | None:
    """Return why these ACLs cannot all be put into this notation; None where they can."""
    if format == COMMANDS:
        return None
    reasons = (why_not_written(binding, format, settings) for binding in bindings)
    return next(filter(None, reasons), None)


def written(bindings: Sequence[AclBinding], format: str, settings: AuthorizerSettings) -> Iterator[str]:
    """Yield the text of all these ACLs in one of NOTATIONS, a piece at a time."""
    if format == COMMANDS:
        yield _head(len(bindings))
        for binding in bindings:
            yield f"{command(binding, settings)}\n"
        return
    if not bindings:
        yield write_acls((), format=format, settings=settings)
    for place in range(0, len(bindings), _AT_ONCE):
        text = write_acls(bindings[place : place + _AT_ONCE], format=format, settings=settings)
        # Only the first piece of a CSV has the header.
        yield text.partition("\n")[2] if format == "csv" and place else text


def written_plan(plan: Iterable[Step], settings: AuthorizerSettings) -> Iterator[str]:
    """Yield the commands of an edit in the order in which aclweb would write them."""
    steps = list(plan)
    yield _head(sum(len(step.bindings) for step in steps))
    for step in steps:
        for binding in step.bindings:
            yield f"{command(binding, settings, op=step.op)}\n"


def acls_file(
    bindings: Sequence[AclBinding], format: str, settings: AuthorizerSettings, name: str
) -> StreamingHttpResponse:
    """Return these ACLs as a file to download; format: of NOTATIONS, and one that can hold them (`why_not`)."""
    notation = NOTATIONS[format]
    answer = StreamingHttpResponse(written(bindings, format, settings), content_type=notation.media_type)
    answer["Content-Disposition"] = f'attachment; filename="{name}.{notation.ending}"'
    return answer


def commands_file(delta: Delta, settings: AuthorizerSettings, name: str) -> StreamingHttpResponse:
    """Return all commands of an edit as a file to download."""
    text = written_plan(delta.steps(), settings)
    answer = StreamingHttpResponse(text, content_type=NOTATIONS[COMMANDS].media_type)
    answer["Content-Disposition"] = f'attachment; filename="{name}.sh"'
    return answer


def _head(count: int) -> str:
    acls = "1 ACL" if count == 1 else f"{count:,} ACLs"
    return f"# {acls}. Set BOOTSTRAP to the address of a broker, such as kafka-1:9092.\n"


def command(binding: AclBinding, settings: AuthorizerSettings, *, op: str = "add") -> str:
    """Return the command for this ACL, or a comment with the ACL where the tool cannot express it.

    A comment also precedes a command that writes characters which cannot be seen.
    """
    reason = why_no_command(binding, settings)
    if reason is None:
        escaped = why_escaped(binding)
        return (f"# {escaped}\n" if escaped else "") + commands([binding], op=op, settings=settings)[0]
    return f"# Not a command: {json.dumps({'op': op, **binding.as_dict()})} {reason}"
