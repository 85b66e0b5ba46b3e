"""lint: which ACLs are legal and probably not what their author meant?"""

from __future__ import annotations

import argparse

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.cli.commands.console import (
    DID_NOT_HOLD,
    DONE,
    as_json,
    emit,
    shortened,
    tell,
    with_progress,
)
from aclweb.acl.cli.commands.inputs import Inputs
from aclweb.acl.cli.commands.options import add_acl_options, add_json_option, add_rule_options, settings_from
from aclweb.acl.cli.commands.severities import add_fail_on_option, fails
from aclweb.acl.lint import lint_all
from aclweb.acl.model import number_of


def add_options(parser: argparse.ArgumentParser) -> None:
    add_acl_options(parser)
    add_fail_on_option(parser)
    add_rule_options(parser)
    add_json_option(parser)


def run(given: argparse.Namespace, inputs: Inputs) -> int:
    """Print what each ACL breaks, in the order of the file."""
    settings = inputs.settings = settings_from(given)
    bindings = inputs.bindings(given.acls, given.format)
    inputs.require_good()
    index = AclIndex(bindings)
    found = [*with_progress(lint_all(index, settings), what="Found")]
    if given.json:
        emit(as_json(finding.as_dict()) for finding in found)
    else:
        emit(f"{finding.severity:7}  {finding.rule:28}  {shortened(finding.sentence)}" for finding in found)
    tell(
        f"{number_of(len(found), 'finding')} on {number_of(len(index), 'ACL')}; "
        "each lint rule has a page under docs/lint."
    )
    return DID_NOT_HOLD if fails(given.fail_on, (finding.severity for finding in found)) else DONE
