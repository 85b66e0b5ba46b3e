"""convert: how are these ACLs written in another notation?"""

from __future__ import annotations

import argparse

from aclweb.acl.cli.commands.console import DONE, as_json, emit, emit_text
from aclweb.acl.cli.commands.inputs import Inputs
from aclweb.acl.cli.commands.options import add_acl_options, add_json_option, add_rule_options, settings_from
from aclweb.acl.notation import OUTPUTS, write_acls

JSON_OUTPUTS = ("jsonl", "zk")
"""The notations that are one JSON object a line by themselves."""


def add_options(parser: argparse.ArgumentParser) -> None:
    add_acl_options(parser)
    parser.add_argument("--to", choices=OUTPUTS, required=True, help="the notation to print")
    add_rule_options(parser)
    add_json_option(parser)


def run(given: argparse.Namespace, inputs: Inputs) -> int:
    """Print the ACLs in another notation, or nothing where it cannot hold them all.

    With --json, a notation that is no JSON comes as the text of one object.
    """
    settings = inputs.settings = settings_from(given)
    file = inputs.acls(given.acls, given.format)
    inputs.require_good()
    text = write_acls(file.bindings, format=given.to, settings=settings, source=given.acls, lines=file.lines)
    if given.json and given.to not in JSON_OUTPUTS:
        emit([as_json({"notation": given.to, "text": text})])
    else:
        emit_text(text)
    return DONE
