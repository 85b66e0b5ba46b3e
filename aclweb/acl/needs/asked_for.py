"""Which calls of Kafka's protocol ask for a right?"""

from __future__ import annotations

from aclweb.acl.model import AuthorizerSettings, Operation, ResourceType
from aclweb.acl.needs.calls import Api, checks_of
from aclweb.acl.needs.protocol import APIS


def calls_asking_for(
    operation: Operation, resource_type: ResourceType, settings: AuthorizerSettings, *, any_one: bool = False
) -> tuple[Api, ...]:
    """Return the calls of which a case is checked for this right under these settings, in the protocol's order.

    Those that clients send come first. A call that another right allows as well is among them. any_one: whether the
    right is that on at least one resource, whichever it is, which few calls ask for.
    """

    def asks(api: Api) -> bool:
        return api.span.holds(settings) and any(
            (right.operation, right.resource_type) == (operation, resource_type) and right.any_one >= any_one
            for case in api.cases
            if case.span.holds(settings)
            for check in checks_of(case, settings)
            for right in check.any_of
        )

    return tuple(sorted(filter(asks, APIS.values()), key=lambda api: api.sent_by != "clients"))
