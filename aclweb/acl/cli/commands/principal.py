"""principal: what do these names map to, and by which mapping rule?"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from aclweb.acl.cli.commands.console import DONE, UsageError, as_json, emit, one_line, tell, with_progress
from aclweb.acl.cli.commands.inputs import STANDARD_INPUT, Inputs, decoded
from aclweb.acl.model import name_text
from aclweb.acl.principals import InvalidRules, KerberosRules, MappedName, SslRules


def add_options(parser: argparse.ArgumentParser) -> None:
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--ssl-rules", metavar="R", help="as in ssl.principal.mapping.rules")
    kind.add_argument("--kerberos-rules", metavar="R", help="as in sasl.kerberos.principal.to.local.rules")
    parser.add_argument("--realm", help="the default realm; without it the Kerberos DEFAULT never applies")
    parser.add_argument(
        "file", metavar="FILE", nargs="?", default=STANDARD_INPUT, help="one name a line; default -"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, one object a line")


def run(given: argparse.Namespace, inputs: Inputs) -> int:
    """Print what each name maps to, in the order of the file."""
    mapping = _mapping(given)
    names = _names(given.file, inputs)

    def answers() -> Iterator[str]:
        for name in with_progress(names, what="Names"):
            found = mapping(name)
            yield as_json(found.as_dict()) if given.json else _said(found)

    emit(answers())
    return DONE


def _names(path: str, inputs: Inputs) -> list[str]:
    """Return every line, in order, repeated ones and empty ones too: a subject may be empty."""
    text, problems = decoded(inputs.read_bytes(path), path)
    problems.raise_if_any()
    lines = text.removeprefix("\ufeff").split("\n")
    if not lines[-1]:
        del lines[-1]
    if any(line.endswith("\r") for line in lines):
        tell(
            f"{one_line(path)}: Names end in a carriage return, which counts as a part of them; "
            "if it should not, save the file with LF line ends."
        )
    return lines


def _mapping(given: argparse.Namespace) -> Callable[[str], MappedName]:
    try:
        if given.kerberos_rules is not None:
            return KerberosRules.read(given.kerberos_rules, realm=given.realm).map
        if given.realm is not None:
            raise UsageError("--realm is for --kerberos-rules; mapping rules for certificates have no realm.")
        return SslRules.read(given.ssl_rules).map
    except InvalidRules as error:
        option = "--ssl-rules" if given.kerberos_rules is None else "--kerberos-rules"
        raise UsageError(f"{option}: {error}") from error


def _said(found: MappedName) -> str:
    if found.name is None:
        return f"{name_text(found.input)} has no name: {found.whole_error}"
    by = "no rule is needed" if found.rule is None else f"by {name_text(found.rule)}"
    return f"{name_text(found.input)} is User:{name_text(found.name)} ({by})"
