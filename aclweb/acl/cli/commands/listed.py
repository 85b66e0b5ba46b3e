"""list: which ACLs would DescribeAcls return for this filter?"""

from __future__ import annotations

import argparse

from aclweb.acl.cli.commands.console import DONE, UsageError, as_json, emit, tell
from aclweb.acl.cli.commands.inputs import Inputs
from aclweb.acl.cli.commands.options import (
    add_acl_options,
    add_json_option,
    add_rule_options,
    settings_from,
)
from aclweb.acl.matching import AclFilter, matching_of
from aclweb.acl.model import AuthorizerSettings, NotationError, PatternType, acl_text
from aclweb.acl.notation import filter_from_dict, parse_object


def add_options(parser: argparse.ArgumentParser) -> None:
    add_acl_options(parser, required=False)
    parser.add_argument(
        "--filter",
        metavar="JSON",
        required=True,
        help="an ACL's keys; null for any text, ANY for any word, MATCH as pattern type",
    )
    parser.add_argument(
        "--check-filter", action="store_true", help="print what Kafka says about the filter; needs no ACLs"
    )
    add_rule_options(parser)
    add_json_option(parser)


def run(given: argparse.Namespace, inputs: Inputs) -> int:
    """Print the ACLs that the filter finds, once each, in the order of the file."""
    settings = inputs.settings = settings_from(given)
    asked = _filter(given.filter, settings)
    if given.check_filter:
        emit([as_json(_checked(asked))])
        return DONE
    if given.acls is None:
        raise UsageError("Give the ACLs to search: --acls FILE.")
    if asked.is_unknown:
        raise UsageError("--filter has an UNKNOWN word, which brokers refuse; name a word, or ANY.")
    bindings = inputs.bindings(given.acls, given.format)
    inputs.require_good()
    found = [binding for binding in dict.fromkeys(bindings) if asked.matches(binding)]
    emit(as_json(binding.as_dict()) if given.json else acl_text(binding) for binding in found)
    if not found:
        tell("No ACL fits this filter.")
    return DONE


def _filter(text: str, settings: AuthorizerSettings) -> AclFilter:
    try:
        asked = filter_from_dict(parse_object(text))
    except NotationError as error:
        raise UsageError(f"--filter: {error}") from error
    known = matching_of(settings).pattern_types
    if asked.pattern_type is PatternType.GLOB and PatternType.GLOB not in known:
        raise UsageError(
            "--filter: pattern_type is 'GLOB', which only the authorizer 'glob' knows; "
            "use ANY, MATCH, LITERAL or PREFIXED."
        )
    return asked


def _checked(asked: AclFilter) -> dict[str, object]:
    return {
        "is_unknown": asked.is_unknown,
        "matches_at_most_one": asked.matches_at_most_one,
        "find_indefinite_field": asked.find_indefinite_field(),
    }
