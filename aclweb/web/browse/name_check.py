"""Does anything know the names in a question, or are they perhaps typing errors?

Kafka keeps no list of its principals: one is known once an ACL, the declared super users or
the log name it. A topic is known where all topics of the cluster are read. Consumers make
their groups themselves, so a group that does not exist yet is no error.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from aclweb.acl.model import AccessRequest, ResourceType, name_text
from aclweb.clusters import Known
from aclweb.insights.principals import knows_principal
from aclweb.inventory.current import ClusterView
from aclweb.web.shell import links

__all__ = ["UnknownName", "knows_principal", "unknown_names"]


@dataclass(frozen=True)
class UnknownName:
    """A name of a question that nothing on the cluster knows.

    is_certain: whether no fix is offered for it. next_url, next_word: what to do if it is meant all the same.
    """

    sentence: str
    is_certain: bool = True
    next_url: str = ""
    next_word: str = ""


def unknown_names(view: ClusterView, asked: AccessRequest) -> tuple[UnknownName, ...]:
    """Return the names of the question that are unknown on its cluster."""
    found = []
    if not knows_principal(view, asked.principal):
        form = links.encoded(
            principal=asked.principal,
            operation=asked.operation.name,
            resource_type=asked.resource_type.name,
            resource_name=asked.resource_name or "",
        )
        found.append(
            UnknownName(
                f"No ACL, no declared super user and no log line on {view.cluster.name} names "
                f"{name_text(asked.principal)}. Check the spelling: capital letters and spaces count.",
                next_url=f"{_what_if(view)}?{form}",
                next_word="Give a new client access",
            )
        )
    if asked.resource_type is ResourceType.TOPIC and asked.resource_name is not None:
        found += _unknown_topic(view, asked.resource_name)
    return tuple(found)


def _unknown_topic(view: ClusterView, name: str) -> list[UnknownName]:
    known = view.known(ResourceType.TOPIC)
    if known is Known.UNKNOWN or view.loaded.topic(name) is not None:
        return []
    if known is Known.VISIBLE:
        return [
            UnknownName(
                f"aclweb sees no topic {name_text(name)} on {view.cluster.name}, but it may not see every topic.",
                is_certain=False,
            )
        ]
    return [
        UnknownName(
            f"There is no topic {name_text(name)} on {view.cluster.name}.",
            next_url=f"{_what_if(view)}?{links.encoded(new_topic=name)}",
            next_word="Check it as a new topic",
        )
    ]


def _what_if(view: ClusterView) -> str:
    return reverse("what-if", args=[view.cluster.slug])
