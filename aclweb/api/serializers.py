"""The shapes that programs send and get: Kafka's words, exactly as the file formats have them.

Texts are taken letter by letter (no trimming): a trailing space makes another name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from rest_framework import serializers

from aclweb.acl.authorizer import PARTS, Basis, HostResult, Result, beyond_acls
from aclweb.acl.matching import topic_fault
from aclweb.acl.model import (
    AccessRequest,
    AclBinding,
    AclError,
    Operation,
    PatternType,
    PermissionType,
    ResourceType,
)
from aclweb.acl.notation import binding_from_dict, request_from_dict
from aclweb.clusters import Known
from aclweb.inventory.current import broker_settings, settings_of
from aclweb.inventory.lists import paused_sentence
from aclweb.inventory.models import Cluster

Value = TypeVar("Value")

# More items than this belong in a file: bounded work for one request.
MOST_ITEMS = 5_000


RESULTS = [result.name for result in Result]
HOST_RESULTS = [result.name for result in HostResult]
NAMES_KNOWN = [known.value for known in Known]


class ExactText(serializers.CharField):
    """Any text, not trimmed; may be empty."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, allow_blank=True, max_length=32_767, **options)


class AclSerializer(serializers.Serializer[AclBinding]):
    """One ACL with its seven promised keys."""

    resource_type = serializers.ChoiceField(
        choices=[t.name for t in ResourceType if t is not ResourceType.ANY]
    )
    resource_name = ExactText()
    pattern_type = serializers.ChoiceField(
        choices=[
            t.name for t in PatternType if t not in (PatternType.ANY, PatternType.MATCH, PatternType.GLOB)
        ]
    )
    principal = ExactText()
    host = ExactText()
    operation = serializers.ChoiceField(choices=[o.name for o in Operation if o is not Operation.ANY])
    permission_type = serializers.ChoiceField(
        choices=[p.name for p in PermissionType if p is not PermissionType.ANY]
    )

    def to_internal_value(self, data: Any) -> AclBinding:
        binding = _read(binding_from_dict, data)
        if binding.pattern_type is PatternType.GLOB:
            raise serializers.ValidationError(
                "Pattern type GLOB is a proposal that no broker has; use LITERAL or PREFIXED."
            )
        return binding

    def to_representation(self, instance: AclBinding) -> dict[str, str]:
        return instance.as_dict()


class RequestSerializer(serializers.Serializer[AccessRequest]):
    """One question; without `resource_name` it asks about any resource of the type."""

    principal = ExactText(help_text="Type and name, such as User:bob.")
    host = ExactText(help_text="An address; IPv6 may be short, the answer repeats it as Java prints it.")
    operation = serializers.ChoiceField(
        choices=[o.name for o in Operation if o not in (Operation.ANY, Operation.UNKNOWN)]
    )
    resource_type = serializers.ChoiceField(
        choices=[t.name for t in ResourceType if t not in (ResourceType.ANY, ResourceType.UNKNOWN)]
    )
    resource_name = ExactText(required=False)

    def to_internal_value(self, data: Any) -> AccessRequest:
        try:
            asked = _read(request_from_dict, data)
            if asked.resource_type is ResourceType.TOPIC and asked.resource_name is not None:
                refuse_no_topic("resource_name", asked.resource_name)
            return asked
        except serializers.ValidationError as error:
            # At the top of a body the framework takes reasons by field only, and fails over a list.
            if isinstance(error.detail, list):
                raise serializers.ValidationError({"non_field_errors": error.detail}) from error
            raise

    def to_representation(self, instance: AccessRequest) -> dict[str, str]:
        return instance.as_dict()


def refuse_no_topic(field: str, name: str) -> None:
    """Raise ValidationError, for this field, where no topic can have this name; the pages refuse it too."""
    fault = topic_fault(name)
    if fault is not None:
        raise serializers.ValidationError({field: [fault]})


def _read(reader: Callable[[Mapping[str, object]], Value], data: Any) -> Value:
    if not isinstance(data, Mapping):
        raise serializers.ValidationError(f"A JSON object is needed here, not {type(data).__name__}.")
    for key, value in data.items():
        if isinstance(value, str) and len(value) > 32_767:
            raise serializers.ValidationError(
                {str(key): "A text is at most 32,767 characters here, as in Kafka."}
            )
    try:
        return reader(data)
    except AclError as error:
        raise serializers.ValidationError(str(error)) from error


class CaveatsSerializer(serializers.Serializer[Any]):
    caveats = serializers.ListField(
        child=serializers.CharField(),
        help_text="What decides beside the ACLs where a managed service runs the cluster; empty where nothing does.",
    )


def caveats_of(cluster: Cluster) -> dict[str, list[str]]:
    """Return what answers about the cluster have in common, under its name in them."""
    return {"caveats": list(beyond_acls(settings_of(cluster)))}


class ClusterSerializer(serializers.ModelSerializer[Cluster]):
    """A cluster, what was declared about it, and what the last sync found."""

    revision = serializers.SerializerMethodField(
        help_text="Number of the revision that is in force; null before the first sync."
    )
    acls = serializers.SerializerMethodField(help_text="ACLs in force; null before the first sync.")
    super_users = serializers.CharField(
        allow_null=True, help_text="super.users as declared by a person; null where nobody has declared it."
    )
    allow_everyone = serializers.BooleanField(
        allow_null=True, help_text="allow.everyone.if.no.acl.found as declared; null where nobody has."
    )
    authorizer_declared = serializers.CharField(
        allow_blank=True,
        help_text="Whether the brokers of a ZooKeeper cluster run an authorizer, as declared: on, off, or empty.",
    )
    service = serializers.CharField(
        allow_blank=True, help_text="The managed service that runs it, as declared; empty for none."
    )
    caveats = serializers.SerializerMethodField(
        help_text="What decides beside the ACLs where a managed service runs it; empty where nothing does."
    )
    authorizer_told = serializers.SerializerMethodField(
        help_text="Its class, and whether brokers told it: `StandardAuthorizer, read from broker 1`."
    )
    topics_known = serializers.ChoiceField(
        choices=NAMES_KNOWN,
        source="topics_listed",
        help_text="Which of the existing topics are known: all, only the visible ones, or unknown.",
    )
    groups_known = serializers.ChoiceField(
        choices=NAMES_KNOWN, source="groups_listed", help_text="The same for groups."
    )

    paused = serializers.BooleanField(source="is_paused", help_text="Whether nothing connects to it.")
    paused_by = serializers.CharField(allow_blank=True, help_text="Who paused it; empty while it is synced.")
    paused_sentence = serializers.SerializerMethodField(
        help_text="Since when, and what waits; empty while it is synced."
    )

    class Meta:
        model = Cluster
        fields = [
            "slug",
            "name",
            "kind",
            "address",
            "authorizer",
            "authorizer_told",
            "kafka_version",
            "super_users",
            "allow_everyone",
            "authorizer_declared",
            "service",
            "caveats",
            "topics_known",
            "groups_known",
            "changes_enabled",
            "approvals_needed",
            "paused",
            "paused_at",
            "paused_by",
            "paused_sentence",
            "state",
            "state_sentence",
            "tried_at",
            "read_at",
            "revision",
            "acls",
        ]

    def get_revision(self, cluster: Cluster) -> int | None:
        return cluster.revision.number if cluster.revision else None

    def get_caveats(self, cluster: Cluster) -> list[str]:
        return caveats_of(cluster)["caveats"]

    def get_authorizer_told(self, cluster: Cluster) -> str:
        return broker_settings.authorizer(cluster).without_version

    def get_paused_sentence(self, cluster: Cluster) -> str:
        return paused_sentence(cluster)

    def get_acls(self, cluster: Cluster) -> int | None:
        return cluster.revision.acls if cluster.revision else None


class AsOfSerializer(serializers.Serializer[Any]):
    """The moment of the past that was asked about; null means now.

    A revision's number means the last moment at which it was in force.
    """

    revision = serializers.IntegerField()
    time = serializers.CharField(allow_null=True, help_text="The time that was asked for, where it was one.")
    read_at = serializers.CharField(help_text="When this revision was read.")
    until = serializers.CharField(
        allow_null=True, help_text="When the next sync found something else; null for the newest."
    )
    sentences = serializers.ListField(
        child=serializers.CharField(),
        help_text="What was declared then and is otherwise today, and what of it is not known.",
    )


class AclPageSerializer(serializers.Serializer[Any]):
    """One page of ACLs; `total` counts all that the filters let through."""

    revision = serializers.IntegerField(allow_null=True)
    as_of = AsOfSerializer(allow_null=True)
    total = serializers.IntegerField()
    page = serializers.IntegerField()
    pages = serializers.IntegerField()
    acls = AclSerializer(many=True)


class AffectingSerializer(serializers.Serializer[Any]):
    """The ACLs that match one resource: `total` of them, of which a very large answer holds the first only."""

    revision = serializers.IntegerField(allow_null=True)
    as_of = AsOfSerializer(allow_null=True)
    resource = serializers.CharField(trim_whitespace=False)
    total = serializers.IntegerField()
    is_complete = serializers.BooleanField(help_text="Whether `acls` holds all of them.")
    acls = AclSerializer(many=True)


class WhyNotSerializer(serializers.Serializer[Any]):
    acl = AclSerializer()
    counted = serializers.BooleanField()
    why_not = serializers.ListField(child=serializers.ChoiceField(choices=["principal", "host", "operation"]))
    fits = serializers.DictField(
        child=serializers.BooleanField(), help_text="Whether each part of the ACL fits the request, by part."
    )


class TickSerializer(serializers.Serializer[Any]):
    """Whether one part of an ACL fits the request, and why or why not."""

    part = serializers.ChoiceField(choices=PARTS)
    matches = serializers.BooleanField()
    sentence = serializers.CharField()


class NearMissSerializer(serializers.Serializer[Any]):
    """An ACL that would have applied if the parts that do not match had been otherwise."""

    acl = AclSerializer()
    ticks = TickSerializer(many=True)
    sentence = serializers.CharField()


class BrokerRuleSerializer(serializers.Serializer[Any]):
    """What the broker's own log would name."""

    rule = serializers.ChoiceField(choices=["SuperUser", "DefaultAllow", "DefaultDeny", "MatchingAcl"])
    acl = AclSerializer(allow_null=True)


class HostPartSerializer(serializers.Serializer[Any]):
    """Hosts with one answer: the addresses that all of `hosts` admit and none of `except_hosts`; `*` is every one."""

    hosts = serializers.ListField(child=serializers.CharField(trim_whitespace=False))
    except_hosts = serializers.ListField(child=serializers.CharField(trim_whitespace=False))
    example = serializers.CharField(help_text="One of these addresses.")
    result = serializers.ChoiceField(choices=RESULTS)
    basis = serializers.ChoiceField(choices=[b.name for b in Basis])
    determining = serializers.ListField(child=serializers.DictField())
    determining_total = serializers.IntegerField(
        help_text="How many there are; a large answer cuts `determining`."
    )


class AnyHostSerializer(serializers.Serializer[Any]):
    """The answer for every host at once."""

    result = serializers.ChoiceField(choices=HOST_RESULTS)
    parts = HostPartSerializer(many=True)
    sentence = serializers.CharField()


class DecisionSerializer(serializers.Serializer[Any]):
    """One answer with its reasons, in the words of `python -m aclweb.acl decide --explain --json`.

    Long lists are cut: `counts` has the whole length of each, and `is_complete` says whether the lists hold all.
    """

    revision = serializers.IntegerField(allow_null=True)
    as_of = AsOfSerializer(allow_null=True)
    request = RequestSerializer()
    result = serializers.ChoiceField(choices=RESULTS)
    basis = serializers.ChoiceField(choices=[b.name for b in Basis])
    hazards = serializers.ListField(child=serializers.CharField())
    hangs_on = serializers.ListField(
        child=serializers.CharField(),
        help_text="Settings that nobody has declared and that could change this answer.",
    )
    determining = AclSerializer(many=True)
    would_also_decide = AclSerializer(
        many=True,
        help_text="Determining ACLs that the broker's log does not name; each alone gives the same result.",
    )
    affecting = WhyNotSerializer(many=True)
    broker_rule = BrokerRuleSerializer(
        allow_null=True, help_text="What the broker's log would name; null where it names none."
    )
    near_misses = NearMissSerializer(
        many=True,
        help_text="ALLOWs that nearly applied to a denial, or DENYs to what is allowed; nearest first.",
    )
    smallest_fix = AclSerializer(allow_null=True, help_text="The smallest ACL that would allow it.")
    smallest_removals = AclSerializer(
        many=True,
        help_text="The fewest ACLs whose removal would turn the result, or has to come first; none where too many.",
    )
    fix_after_removals = AclSerializer(
        allow_null=True, help_text="The ACL that is needed once those are removed; null if none is."
    )
    sentences = serializers.ListField(child=serializers.CharField())
    any_host = AnyHostSerializer(
        allow_null=True,
        help_text="For host `*` only: `result` above is then that for a host which no ACL names.",
    )
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="The whole length of each list, by its name."
    )
    is_complete = serializers.BooleanField(help_text="Whether every list holds all that `counts` counts.")


class WhatIfRequestSerializer(serializers.Serializer[Any]):
    """ACLs to add and remove, and topics that do not exist yet."""

    add = AclSerializer(many=True, required=False, default=list)
    remove = AclSerializer(many=True, required=False, default=list)
    new_topics = serializers.ListField(
        child=serializers.CharField(trim_whitespace=False, max_length=249),
        required=False,
        default=list,
        max_length=100,
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        items = len(attrs["add"]) + len(attrs["remove"])
        if items > MOST_ITEMS:
            raise serializers.ValidationError(
                f"{items:,} ACLs are too many for one what-if; at most {MOST_ITEMS:,}."
            )
        if not items and not attrs["new_topics"]:
            raise serializers.ValidationError("Nothing to simulate: give `add`, `remove` or `new_topics`.")
        for name in attrs["new_topics"]:
            refuse_no_topic("new_topics", name)
        return attrs
