"""redundant: which ACLs can be removed without changing a decision, and which can be combined?"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

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
from aclweb.acl.cli.commands.options import (
    add_acl_options,
    add_json_option,
    add_rule_options,
    settings_from,
)
from aclweb.acl.cli.commands.severities import add_fail_on_option, fails
from aclweb.acl.lint import Redundancy, consolidations, redundant, removable
from aclweb.acl.model import number_of
from aclweb.acl.simulate import Names


def add_options(parser: argparse.ArgumentParser) -> None:
    add_acl_options(parser)
    what = parser.add_argument_group(
        "what exists, one name a line; finds orphaned ACLs, and what a prefix would open"
    )
    what.add_argument("--topics", metavar="FILE")
    what.add_argument("--groups", metavar="FILE")
    what.add_argument("--transactional-ids", metavar="FILE")
    add_fail_on_option(parser)
    add_rule_options(parser)
    add_json_option(parser)


def run(given: argparse.Namespace, inputs: Inputs) -> int:
    """Print what is redundant in the order of the file, then proposals to consolidate."""
    settings = inputs.settings = settings_from(given)
    bindings = inputs.bindings(given.acls, given.format)
    names = Names(
        topics=inputs.names(given.topics),
        groups=inputs.names(given.groups),
        transactional_ids=inputs.names(given.transactional_ids),
    )
    inputs.require_good()
    index = AclIndex(bindings)
    limits: list[str] = []
    found = [*with_progress(redundant(index, settings, names, limits=limits), what="Found")]
    proposals = [*with_progress(consolidations(index, settings, names, limits=limits), what="Compared")]
    if given.json:
        emit(as_json(finding.as_dict()) for finding in (*found, *proposals))
    else:
        emit(_lines(found, proposals))
    can_go = len(removable(found))
    together = f"{number_of(can_go, 'ACL')} can be removed" + ("" if can_go == 1 else " together")
    counts = f"{number_of(len(found), 'finding')} and {number_of(len(proposals), 'proposal')}"
    tell(f"{counts} on {number_of(len(index), 'ACL')}; {together}.", *limits)
    return (
        DID_NOT_HOLD if fails(given.fail_on, (finding.severity for finding in (*found, *proposals))) else DONE
    )


def _lines(found: Sequence[Redundancy], proposals: Sequence[Redundancy]) -> Iterator[str]:
    for finding in (*found, *proposals):
        yield f"{finding.severity:7}  {finding.rule:22}  {shortened(finding.sentence)}"
