"""glob: how are ACLs said as GLOBs, and how without them?"""

from __future__ import annotations

import argparse

from aclweb.acl.cli.commands.console import (
    DONE,
    UsageError,
    as_json,
    emit,
    emit_text,
    shortened,
    tell,
)
from aclweb.acl.cli.commands.inputs import Inputs
from aclweb.acl.cli.commands.options import add_acl_options, add_json_option
from aclweb.acl.lint import Compiler, Rewriting, as_glob
from aclweb.acl.model import AuthorizerSettings, number_of, shown
from aclweb.acl.notation import OUTPUTS, write_acls
from aclweb.acl.simulate import Names


def add_options(parser: argparse.ArgumentParser) -> None:
    add_acl_options(parser)
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--rewrite", action="store_true", help="write LITERAL and PREFIXED ACLs as GLOBs")
    way.add_argument(
        "--compile", action="store_true", help="write GLOBs as LITERAL and PREFIXED ACLs, for what exists"
    )
    for what in ("topics", "groups", "transactional-ids", "principals", "hosts"):
        parser.add_argument(
            f"--{what}", metavar="FILE", help=f"{what.replace('-', ' ')} that exist, one a line"
        )
    parser.add_argument("--to", choices=OUTPUTS, help="the notation to print; jsonl when not given")
    parser.add_argument("--authorizer", metavar="A", help="only glob, which is the default here")
    add_json_option(parser)


def run(given: argparse.Namespace, inputs: Inputs) -> int:
    """Print the ACLs in other words, and on standard error what these leave out.

    With --json, an object for each ACL that was read: it, the ACLs that say it, whether they do
    so exactly, and remarks.
    """
    if given.authorizer not in (None, "glob"):
        raise UsageError(f"--authorizer {shown(given.authorizer)} has no GLOBs; leave it out, or say glob.")
    if given.json and given.to is not None:
        raise UsageError("Give either --json or --to, not both.")
    inputs.settings = AuthorizerSettings("glob")
    file = inputs.acls(given.acls, given.format)
    names = Names(
        topics=inputs.names(given.topics),
        groups=inputs.names(given.groups),
        transactional_ids=inputs.names(given.transactional_ids),
        principals=inputs.names(given.principals),
        hosts=inputs.names(given.hosts),
    )
    inputs.require_good()
    say = as_glob if given.rewrite else Compiler(names).compile
    found = [say(binding) for binding in dict.fromkeys(file.bindings)]
    if given.json:
        emit(as_json(rewriting.as_dict()) for rewriting in found)
        return DONE
    bindings = dict.fromkeys(binding for rewriting in found for binding in rewriting.acls)
    settings = AuthorizerSettings("glob") if given.rewrite else AuthorizerSettings()
    emit_text(write_acls(bindings, format=given.to or "jsonl", settings=settings))
    tell(*map(shortened, _remarks(found)))
    return DONE


def _remarks(found: list[Rewriting]) -> list[str]:
    remarks = [remark for rewriting in found for remark in rewriting.remarks]
    exact = sum(rewriting.exact for rewriting in found)
    return [*remarks, f"{number_of(len(found), 'ACL')} read; {exact:,} written exactly."]
