"""affecting: which ACLs can influence access to this resource?"""

from __future__ import annotations

import argparse

from aclweb.acl.authorizer import AclIndex
from aclweb.acl.cli.commands.console import DONE, UsageError, as_json, emit, joined, shortened, tell
from aclweb.acl.cli.commands.inputs import Inputs
from aclweb.acl.cli.commands.options import (
    add_acl_options,
    add_json_option,
    add_rule_options,
    settings_from,
)
from aclweb.acl.model import AclError, Resource, ResourceType, acl_text, resource_text, shown


def add_options(parser: argparse.ArgumentParser) -> None:
    add_acl_options(parser)
    parser.add_argument("--resource", metavar="TYPE:NAME", help="for example TOPIC:orders")
    parser.add_argument("--new-topic", metavar="NAME", help="the same as --resource TOPIC:NAME")
    add_rule_options(parser)
    add_json_option(parser)


def run(given: argparse.Namespace, inputs: Inputs) -> int:
    """Print the ACLs whose pattern covers the resource, once each, in the order of Kafka's scan."""
    settings = inputs.settings = settings_from(given)
    resource = _resource(given)
    index = AclIndex(inputs.bindings(given.acls, given.format))
    inputs.require_good()
    bindings = index.affecting(resource, settings)
    emit(as_json(binding.as_dict()) if given.json else acl_text(binding) for binding in bindings)
    if not bindings:
        tell(f"No ACL matches {shortened(resource_text(resource.resource_type, resource.name))}.")
    return DONE


def _resource(given: argparse.Namespace) -> Resource:
    if (given.resource is None) == (given.new_topic is None):
        raise UsageError("Give one resource: --resource TYPE:NAME, or --new-topic NAME.")
    if given.new_topic is not None:
        return Resource(ResourceType.TOPIC, given.new_topic)
    word, colon, name = given.resource.partition(":")
    if not colon:
        raise UsageError(
            f"--resource {shown(given.resource)} has no type; write TYPE:NAME, such as TOPIC:orders."
        )
    try:
        resource_type = ResourceType.parse(word)
    except AclError:
        resource_type = ResourceType.UNKNOWN
    if resource_type in (ResourceType.ANY, ResourceType.UNKNOWN):
        types = joined(
            [kind.name for kind in ResourceType if kind not in (ResourceType.ANY, ResourceType.UNKNOWN)]
        )
        raise UsageError(
            f"--resource {shown(given.resource)} names no type that resources have; use one of {types}."
        )
    return Resource(resource_type, name)
