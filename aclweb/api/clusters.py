"""Which clusters are there, and how does a program add, change or pause one, or have it tested?

Nothing here calls a cluster: a worker tests the connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle, UserRateThrottle
from rest_framework.views import APIView

from aclweb.accounts.access import (
    cluster_or_404,
    require,
    require_site_administrator,
    visible_clusters,
)
from aclweb.accounts.models import User
from aclweb.acl.model import SERVICES, AclError, shown
from aclweb.api.serializers import ClusterSerializer, ExactText
from aclweb.clusters import KINDS, AllowedHosts
from aclweb.clusters.rights import Answer
from aclweb.inventory import checks
from aclweb.inventory.admin import pausing
from aclweb.inventory.admin import register as registering
from aclweb.inventory.admin.declare import AuthorizerShown, declare
from aclweb.inventory.current import broker_settings
from aclweb.inventory.models import Cluster, ConnectionCheck
from aclweb.inventory.sync import tasks as sync_tasks

_MOST_UNKNOWN = 20
"""So many names of a body that have no meaning are told at once."""
_DECLARED = ("super_users", "allow_everyone", "authorizer_declared", "service")
_CONNECTION = ("address", "options")
_SETTINGS = ("name", *_CONNECTION, "authorizer", "kafka_version", "approvals_needed", "changes_enabled")
LIVE_KINDS = tuple(kind.name for kind in KINDS.values() if kind.options)
"""A file is of the machine of the site, of which no program names one."""


_SERVICE_HELP = (
    f"The managed service that runs it: one of {', '.join(SERVICES)}. What is undeclared is then declared by its "
    "documents, and answers say what it hides."
)


_AUTHORIZER_HELP = (
    "Of a ZooKeeper cluster: whether its brokers run an authorizer, which znodes do not tell: on or off."
)


def _known_service(name: str) -> str:
    if name and name not in SERVICES:
        raise serializers.ValidationError(
            f"{name[:60]!r} is not a managed service that aclweb knows; use {', '.join(SERVICES)}."
        )
    return name


def _on_or_off(told: str) -> str:
    if told not in Cluster.Declared.values:
        raise serializers.ValidationError(f"{shown(told)} is neither on nor off.")
    return told


def _on_one_line(text: str) -> str:
    if "\n" in text or "\r" in text:
        raise serializers.ValidationError("super.users is one line; part the principals with semicolons.")
    return text


class NewClusterSerializer(serializers.Serializer[Any]):
    """A live cluster: where it is, how to log in, and what is declared of it."""

    slug = serializers.CharField(
        help_text="The short name in its addresses, such as prod-eu; it stays the same."
    )
    kind = serializers.CharField(help_text=f"One of {', '.join(LIVE_KINDS)}.")
    address = serializers.CharField(help_text="Such as broker-1:9092,broker-2:9092.")
    options = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False),
        required=False,
        write_only=True,
        help_text="Client settings by Kafka's names, such as sasl.username; certificates and keys as PEM text. "
        "They are stored encrypted, and no answer has them.",
    )
    name = serializers.CharField(required=False, help_text="As people call it; the short name unless given.")
    authorizer = serializers.CharField(
        required=False,
        help_text=f"One of {', '.join(Cluster.Authorizer.values)}; what brokers show counts first.",
    )
    kafka_version = serializers.CharField(required=False, max_length=20, help_text="Such as 4.1.")
    approvals_needed = serializers.IntegerField(required=False, help_text="Of a change; 1 unless given.")
    super_users = ExactText(
        required=False,
        help_text="super.users as the brokers have it; empty for none. Undeclared unless given.",
    )
    allow_everyone = serializers.BooleanField(
        required=False, help_text="allow.everyone.if.no.acl.found. Undeclared unless given."
    )
    authorizer_declared = serializers.CharField(
        required=False, help_text=f"{_AUTHORIZER_HELP} Undeclared unless given."
    )
    service = serializers.CharField(required=False, help_text=_SERVICE_HELP)
    paused = serializers.BooleanField(
        default=False, help_text="Whether nothing connects to it yet, but for a test; else it is synced soon."
    )

    def validate_kind(self, kind: str) -> str:
        if kind not in LIVE_KINDS:
            raise serializers.ValidationError(
                f"{kind[:60]!r} is no kind of a live cluster; use {', '.join(LIVE_KINDS)}."
            )
        return kind

    def validate_service(self, name: str) -> str:
        return _known_service(name)

    def validate_authorizer_declared(self, told: str) -> str:
        return _on_or_off(told)

    def validate_super_users(self, text: str) -> str:
        return _on_one_line(text)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        refuse_unknown(self)
        return attrs


class ClusterList(generics.ListAPIView[Cluster]):
    """The clusters that you may see, by name."""

    serializer_class = ClusterSerializer
    permission_classes = [IsAuthenticated]

    def get_queryset(self) -> QuerySet[Cluster]:
        if getattr(self, "swagger_fake_view", False):
            return Cluster.objects.none()
        return visible_clusters(self.request.user).select_related("revision").order_by("name")

    @extend_schema(
        operation_id="add_cluster", request=NewClusterSerializer, responses={201: ClusterSerializer}
    )
    def post(self, request: Request) -> Response:
        """Make a live cluster known, switched off for changes; administrators of the site may do so."""
        person = site_administrator(request)
        given = NewClusterSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        asked = given.validated_data
        told = {name: asked.pop(name) for name in _DECLARED if name in asked}
        try:
            with transaction.atomic():
                within = AllowedHosts.read(settings.ACLWEB_CLUSTER_HOSTS)
                cluster = registering.add(actor=person, within=within, **asked)
                declare(cluster=cluster, actor=person, **told)
        except registering.RegisteringError as error:
            raise ValidationError(faults(error)) from error
        except AclError as error:
            raise ValidationError(_fault_of_declaration(error)) from error
        if not cluster.is_paused:
            sync_tasks.ask_for_sync(cluster)
        address = reverse("api:cluster", args=[cluster.slug])
        answer = ClusterSerializer(cluster_or_404(person, cluster.slug)).data
        return Response(answer, status=status.HTTP_201_CREATED, headers={"Location": address})


def faults(
    error: registering.RegisteringError, body: type[serializers.Serializer[Any]] = NewClusterSerializer
) -> dict[str, Any]:
    """Return what is wrong under the names of the body; client settings under `options`."""
    fields = body().fields
    found: dict[str, Any] = {
        name: sentence for name, sentence in error.faults.items() if name in fields and name != "options"
    }
    of_options = {
        "non_field_errors" if name == "options" else name: sentence
        for name, sentence in error.faults.items()
        if name not in found
    }
    return found | ({"options": of_options} if of_options else {})


def _fault_of_declaration(error: AclError) -> dict[str, str]:
    return {"authorizer_declared" if isinstance(error, AuthorizerShown) else "super_users": str(error)}


def site_administrator(request: Request, what: str = "Adding clusters is") -> User:
    """Return the person who asks, if that person administers the site and asks for all of it."""
    if isinstance(request.user, User) and request.user.only_cluster is not None:
        raise PermissionDenied("This API token is limited to one cluster, so it adds and removes none.")
    return require_site_administrator(request.user, what)


class AskedClusterSerializer(serializers.Serializer[Any]):
    """What is to be otherwise of a cluster; what is left out stays."""

    paused = serializers.BooleanField(
        required=False, help_text="Whether nothing connects to it: no sync, and approved changes wait."
    )
    changes_enabled = serializers.BooleanField(
        required=False, help_text="Whether approved changes are written to it."
    )
    authorizer_declared = serializers.CharField(
        required=False,
        allow_blank=True,
        help_text=f"{_AUTHORIZER_HELP} Empty takes the declaration back.",
    )
    service = serializers.CharField(
        required=False, allow_blank=True, help_text=f"{_SERVICE_HELP} Empty for none."
    )
    name = serializers.CharField(required=False, help_text="As people call it.")
    address = serializers.CharField(
        required=False,
        help_text="Where it is read in the same way as now; to read it in another way, move it.",
    )
    options = serializers.DictField(
        child=serializers.CharField(allow_null=True, trim_whitespace=False),
        required=False,
        write_only=True,
        help_text="Client settings by Kafka's names, such as sasl.password; null takes one away, and those that are "
        "left out stay. A stored secret goes to no other host: give it again with another address.",
    )
    authorizer = serializers.CharField(
        required=False,
        help_text=f"One of {', '.join(Cluster.Authorizer.values)}; what brokers show counts first.",
    )
    kafka_version = serializers.CharField(required=False, max_length=20, help_text="Such as 4.1.")
    approvals_needed = serializers.IntegerField(required=False, help_text="Of a change.")
    super_users = ExactText(
        required=False,
        allow_null=True,
        help_text="super.users as the brokers have it; empty for none, null takes the declaration back.",
    )
    allow_everyone = serializers.BooleanField(
        required=False,
        allow_null=True,
        help_text="allow.everyone.if.no.acl.found; null takes the declaration back.",
    )

    def validate_service(self, name: str) -> str:
        return _known_service(name)

    def validate_authorizer_declared(self, told: str) -> str:
        return _on_or_off(told)

    def validate_super_users(self, text: str | None) -> str | None:
        return text if text is None else _on_one_line(text)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        refuse_unknown(self)
        if not attrs:
            raise serializers.ValidationError(f"Nothing to change: give one of {', '.join(self.fields)}.")
        return attrs


def refuse_unknown(given: serializers.Serializer[Any]) -> None:
    """Raise ValidationError for each name of a body that has no meaning here, which may be a typing error."""
    known = ", ".join(given.fields)
    unknown = sorted(set(given.initial_data) - set(given.fields))
    if unknown:
        raise serializers.ValidationError(
            {name: f"{name[:60]!r} cannot be set here; use {known}." for name in unknown[:_MOST_UNKNOWN]}
        )


class ClusterDetail(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(operation_id="cluster", responses=ClusterSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """One cluster: what was declared about it, and what the last sync found."""
        return Response(ClusterSerializer(cluster_or_404(request.user, slug)).data)

    @extend_schema(operation_id="change_cluster", request=AskedClusterSerializer, responses=ClusterSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        """Change where a cluster is and how aclweb logs in, what is declared of it, pause it, or switch its changes.

        Who administers it may do so. All of it is done, or nothing. A cluster that is resumed is synced soon; where
        address or login differ, a worker tests the connection.
        """
        cluster, person = administered(request, slug)
        given = AskedClusterSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        asked, resumed = given.validated_data, False
        try:
            with transaction.atomic():
                if asked.get("paused") is True:
                    pausing.pause(actor=person, cluster=cluster)
                elif asked.get("paused") is False:
                    resumed = pausing.resume(actor=person, cluster=cluster)
                before = _reached(cluster)
                _change(cluster, person, asked)
                told = {name: asked[name] for name in _DECLARED if name in asked}
                if told:
                    declare(cluster=cluster, actor=person, **told)
                if _reached(cluster) != before:
                    checks.ask(cluster=cluster, actor=person)
        except registering.RegisteringError as error:
            raise ValidationError(faults(error, AskedClusterSerializer)) from error
        except AclError as error:
            raise ValidationError(_fault_of_declaration(error)) from error
        if resumed:
            sync_tasks.ask_for_sync(cluster)
        return Response(ClusterSerializer(cluster_or_404(request.user, slug)).data)


def _reached(cluster: Cluster) -> tuple[str, Mapping[str, str]]:
    """Return address and login of a cluster."""
    return cluster.address, registering.stored_options(cluster)


def _change(cluster: Cluster, person: User, asked: Mapping[str, Any]) -> None:
    """Change the settings that are asked for. Raises RegisteringError."""
    settings_asked = {name: asked[name] for name in _SETTINGS if name in asked}
    if not settings_asked:
        return
    of_a_file = {name for name in _CONNECTION if name in asked} if not cluster.source.options else set()
    if of_a_file:
        why = "This cluster is read from a file, so it has no address or login that a program could change."
        raise registering.RegisteringError(dict.fromkeys(sorted(of_a_file), why))
    options: Mapping[str, str | None] = asked.get("options", {})
    if options:
        both: dict[str, str | None] = {**registering.stored_options(cluster), **options}
        settings_asked["options"] = {name: value for name, value in both.items() if value is not None}
    within = AllowedHosts.read(settings.ACLWEB_CLUSTER_HOSTS)
    registering.change_unread(actor=person, cluster=cluster, within=within, given=options, **settings_asked)


class ShownValueSerializer(serializers.Serializer[Any]):
    value = serializers.CharField(help_text="In words where it is hidden or not set.")
    brokers = serializers.CharField(help_text="Such as `brokers 1, 2 and 3`.")


class ShownSettingSerializer(serializers.Serializer[Any]):
    """What brokers show of one of their settings, beside what is declared of it."""

    setting = serializers.CharField()
    values = ShownValueSerializer(many=True)
    declared = serializers.CharField(allow_null=True, help_text="Null where nobody can declare it.")
    verdict = serializers.ChoiceField(
        choices=["same", "differs", "fills", "missing", "overruled"],
        help_text="same: it is read, and all brokers have it; differs: they do not; fills: it is hidden, and declared; "
        "missing: it is hidden, and nobody has declared it; overruled: the brokers show that it is not as declared.",
    )


class BrokerSettingsSerializer(serializers.Serializer[Any]):
    """What the brokers last showed of their settings."""

    read_at = serializers.DateTimeField(allow_null=True, help_text="Null where they never did.")
    settings = ShownSettingSerializer(many=True)


class ClusterBrokerSettings(APIView):
    permission_classes = [IsAuthenticated]

    @extend_schema(operation_id="broker_settings", responses=BrokerSettingsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The settings of the brokers that answers depend on, broker by broker where they differ."""
        cluster = cluster_or_404(request.user, slug)
        found = {
            "read_at": broker_settings.read_at(cluster),
            "settings": [each.as_dict() for each in broker_settings.shown_settings(cluster)],
        }
        return Response(BrokerSettingsSerializer(found).data)


class RightSerializer(serializers.Serializer[Any]):
    """One line of a test: a step, or a right of the login."""

    right = serializers.CharField()
    answer = serializers.ChoiceField(choices=[answer.value for answer in Answer])
    sentence = serializers.CharField()
    command = serializers.CharField(
        allow_null=True, help_text="What would grant it; null where nothing would."
    )
    needed = serializers.BooleanField(help_text="Whether `is_ok` asks for it.")


class CheckSerializer(serializers.ModelSerializer[ConnectionCheck]):
    """One test of a cluster's connection, with a line for each step as soon as it is known."""

    number = serializers.IntegerField(source="pk")
    state_words = serializers.CharField(source="get_state_display", help_text="The state as pages say it.")
    sentence = serializers.CharField(
        allow_blank=True, help_text="What was found, or why nothing was; empty until it has ended."
    )
    is_ok = serializers.SerializerMethodField(
        help_text="Whether the cluster can be read whole and nothing needed is missing; null until that is known."
    )
    seconds = serializers.FloatField(allow_null=True, help_text="How long it took.")
    rights = RightSerializer(many=True)

    class Meta:
        model = ConnectionCheck
        fields = [
            "number",
            "state",
            "state_words",
            "asked_by",
            "asked_at",
            "sentence",
            "is_ok",
            "seconds",
            "rights",
        ]

    def get_is_ok(self, check: ConnectionCheck) -> bool | None:
        return check.is_ok if check.state == ConnectionCheck.State.DONE else None


class TestRate(UserRateThrottle):
    """How many tests one person may ask for: each is work of a worker, and connects to the cluster."""

    scope = "tests"
    rate = "10/min"


class ConnectingView(APIView):
    """An address where a POST has a worker connect to a cluster."""

    permission_classes = [IsAuthenticated]

    def get_throttles(self) -> list[BaseThrottle]:
        usual = super().get_throttles()
        return [*usual, TestRate()] if self.request.method == "POST" else usual


class ClusterCheck(ConnectingView):
    @extend_schema(operation_id="check", responses=CheckSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The newest test of a cluster's connection, line by line; who administers the cluster may read it."""
        cluster, _person = administered(request, slug)
        check = checks.latest(cluster)
        if check is None:
            raise Http404(
                f"Nobody has asked for a test of {cluster.name} yet; POST to this address asks for one."
            )
        return Response(CheckSerializer(check).data)

    @extend_schema(operation_id="start_check", request=None, responses={202: CheckSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Have a worker test the connection, also of a paused cluster; one that waits already is the answer.

        It stores nothing of the cluster and writes nothing to it.
        """
        cluster, person = administered(request, slug)
        answer = CheckSerializer(checks.ask(cluster=cluster, actor=person)).data
        address = reverse("api:check", args=[cluster.slug])
        return Response(answer, status=status.HTTP_202_ACCEPTED, headers={"Location": address})


def administered(request: Request, slug: str) -> tuple[Cluster, User]:
    """Return the cluster and the person who asks, if that person administers it."""
    cluster = cluster_or_404(request.user, slug)
    require(request.user, "administer", cluster)
    assert isinstance(request.user, User)  # IsAuthenticated
    return cluster, request.user
