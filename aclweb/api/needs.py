"""What does a client action need, and would it work? In the words of `python -m aclweb.acl needs --json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from aclweb.acl.model import WILDCARD, AclError, ResourceType
from aclweb.acl.needs import (
    GIVEN_ROLES,
    ClientAction,
    assess,
    assess_for_any_host,
    assessed_as_dict,
    find_action,
    hosts_assessed_as_dict,
    missing_roles,
    needed_as_dict,
)
from aclweb.api.asking import AS_OF, address_asked, asked_about
from aclweb.api.serializers import AsOfSerializer, ExactText, refuse_no_topic
from aclweb.inventory.current import ClusterView

MOST_ACTIONS = 20
MOST_NAMES = 100


class NamesSerializer(serializers.Serializer[Any]):
    """The names that the actions are about, by what each is to them; keys as the options of the command."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {
            role.key: serializers.ListField(child=ExactText(), required=False, help_text=role.noun)
            for role in GIVEN_ROLES
        }

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, dict) else []
        if unknown:
            keys = ", ".join(role.key for role in GIVEN_ROLES)
            raise serializers.ValidationError(f"{unknown[0][:60]!r} names nothing; use {keys}.")
        names: dict[str, Any] = super().to_internal_value(data)
        if sum(len(several) for several in names.values()) > MOST_NAMES:
            raise serializers.ValidationError(f"At most {MOST_NAMES} names can be asked about at once.")
        return names


class NeedsRequestSerializer(serializers.Serializer[Any]):
    """Actions, and to have them decided who does them, from where and on what."""

    actions = serializers.ListField(
        child=ExactText(),
        min_length=1,
        max_length=MOST_ACTIONS,
        help_text="Client actions such as produce or consume, or calls by name or key (PRODUCE, 29).",
    )
    principal = ExactText(required=False, help_text="With principal and host: the outcome of each call, too.")
    host = ExactText(required=False, help_text="The address it comes from; * for every host at once.")
    names = NamesSerializer(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        given = [key for key in ("principal", "host") if key in attrs]
        if len(given) == 1 or (attrs.get("names") and not given):
            raise serializers.ValidationError(
                "Whether ACLs give access depends on who asks from where; give principal and host, "
                "or neither of them and no names."
            )
        return attrs


class NeedsSerializer(serializers.Serializer[Any]):
    """One object an action: what it needs, and with a principal what would become of it."""

    revision = serializers.IntegerField(allow_null=True)
    as_of = AsOfSerializer(allow_null=True)
    actions = serializers.ListField(child=serializers.DictField())


class Needs(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(
        operation_id="needs", parameters=[AS_OF], request=NeedsRequestSerializer, responses=NeedsSerializer
    )
    def post(self, request: Request, slug: str) -> Response:
        """Tell what client actions need on this cluster, and whether they would work for a client."""
        asked = asked_about(request, slug)
        given = NeedsRequestSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        wanted = given.validated_data
        actions = _actions(wanted["actions"])
        if "principal" not in wanted:
            found = [needed_as_dict(action, asked.view.settings) for action in actions]
        else:
            host, names = wanted["host"], wanted.get("names", {})
            host = host if host == WILDCARD else address_asked(host)
            _refuse_names_of_no_topic(names)
            found = [_assessed(action, wanted["principal"], host, names, asked.view) for action in actions]
        return Response(NeedsSerializer({**asked.head, "actions": found}).data)


def _actions(words: Sequence[str]) -> list[ClientAction]:
    try:
        return [find_action(word) for word in words]
    except AclError as error:
        raise serializers.ValidationError({"actions": str(error)}) from error


def _refuse_names_of_no_topic(names: dict[str, list[str]]) -> None:
    for role in GIVEN_ROLES:
        for name in names.get(role.key, ()) if role.resource_type is ResourceType.TOPIC else ():
            refuse_no_topic("names", name)


def _assessed(
    action: ClientAction, principal: str, host: str, names: dict[str, list[str]], view: ClusterView
) -> dict[str, object]:
    lacking = missing_roles(action, names, view.settings)
    if lacking:
        nouns = " and ".join(role.noun for role in lacking)
        keys = " and ".join(f"names[{role.key!r}]" for role in lacking)
        raise serializers.ValidationError(
            {"names": f"Whether {action.name} would work depends on {nouns}; give {keys}."}
        )
    try:
        if host == WILDCARD:
            hosts = assess_for_any_host(
                action, principal=principal, names=names, index=view.index, settings=view.settings
            )
            return hosts_assessed_as_dict(hosts)
        found = assess(
            action, principal=principal, host=host, names=names, index=view.index, settings=view.settings
        )
    except AclError as error:
        raise serializers.ValidationError(str(error)) from error
    return assessed_as_dict(found)
