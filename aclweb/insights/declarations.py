"""What does the log say about what people declared of a cluster: its super users, its default, its brokers' levels?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import models

from aclweb.acl.model import ALLOW_EVERYONE_KEY, SUPER_USERS_KEY, AuthorizerSettings, number_of
from aclweb.insights.current import current_load
from aclweb.insights.models import Load, LogDay
from aclweb.inventory.current import broker_settings
from aclweb.inventory.models import Cluster, LogSource

# A level may have been another one before.
_LATELY = 7
_NAMED = 5


@dataclass(frozen=True)
class Check:
    """What the log says about one declaration: "confirms", "contradicts" or "suggests"."""

    setting: str
    kind: str
    sentence: str


def declarations(cluster: Cluster, load: Load | None = None) -> tuple[Check, ...]:
    """Return what the brokers' own words confirm or contradict; empty where the log says nothing of it.

    load: the current one, where the caller has it.
    """
    load = load or current_load(cluster)
    if load is None:
        return ()
    found = load.declarations
    return (
        *_super_users(cluster, found.get("super_users", {})),
        *_default_mode(cluster, found.get("default_allow", 0), found.get("default_deny_uncovered", 0)),
        *_levels(load),
    )


@dataclass(frozen=True)
class SettingFinding:
    """Something that is wrong with the settings of the brokers, or with what is declared of them.

    rule: `brokers-differ` (or use what is not Kafka's own), `declared-otherwise`, or `log-contradicts`.
    """

    rule: str
    sentence: str

    def as_dict(self) -> dict[str, str]:
        return {"rule": self.rule, "sentence": self.sentence}


def setting_findings(cluster: Cluster, load: Load | None = None) -> tuple[SettingFinding, ...]:
    """Return what is wrong with the settings that every answer depends on, as far as brokers and logs show it.

    load: the current one, where the caller has it.
    """
    by_brokers = (
        SettingFinding(
            "brokers-differ" if problem["where"] == broker_settings.OF_BROKERS else "declared-otherwise",
            problem["sentence"],
        )
        for problem in cluster.problems
        if problem["where"] in (broker_settings.OF_BROKERS, *broker_settings.DECLARABLE)
    )
    by_log = (
        SettingFinding("log-contradicts", check.sentence)
        for check in declarations(cluster, load)
        if check.kind == "contradicts"
    )
    return (*by_brokers, *by_log)


def _super_users(cluster: Cluster, seen: Mapping[str, int]) -> Iterable[Check]:
    declared, is_read = _declared_super_users(cluster), broker_settings.is_read(cluster, "super_users")
    for principal, lines in sorted(seen.items()):
        times = _of_the_log(lines)
        if declared is None:
            yield Check(
                "super_users",
                "suggests",
                f"The brokers treated {principal} as a super user in {times}, and nobody has declared the super users.",
            )
        elif principal in declared:
            yield Check(
                "super_users", "confirms", f"{principal} is a super user: the brokers said so in {times}."
            )
        else:
            yield Check(
                "super_users",
                "contradicts",
                f"The brokers treated {principal} as a super user in {times}, "
                f"{'but super.users is not set on them' if is_read else 'and it is not declared as one'}.",
            )


def _declared_super_users(cluster: Cluster) -> frozenset[str] | None:
    if cluster.super_users is None:
        return None
    settings = AuthorizerSettings.read(
        authorizer=cluster.authorizer, config={SUPER_USERS_KEY: cluster.super_users}
    )
    return settings.super_users


def _default_mode(cluster: Cluster, allowed: int, refused: int) -> Iterable[Check]:
    for happened, lines, means in (("allowed", allowed, True), ("refused", refused, False)):
        if not lines:
            continue
        fact = f"The brokers {happened} requests because no ACL was found, in {_of_the_log(lines)}"
        if cluster.allow_everyone is None:
            yield Check("allow_everyone", "suggests", f"{fact}; nobody has declared what they do then.")
        elif cluster.allow_everyone == means:
            is_read = broker_settings.is_read(cluster, "allow_everyone")
            so = "as their settings say" if is_read else "as declared"
            yield Check("allow_everyone", "confirms", f"{fact}, {so}.")
        elif broker_settings.is_read(cluster, "allow_everyone"):
            yield Check(
                "allow_everyone", "contradicts", f"{fact}, but {ALLOW_EVERYONE_KEY} is not set on them."
            )
        else:
            declared = "allow" if cluster.allow_everyone else "refuse"
            yield Check("allow_everyone", "contradicts", f"{fact}, but it is declared that they {declared}.")


def _levels(load: Load) -> Iterable[Check]:
    """Yield what the last days of the log say of the levels at which brokers are declared to log."""
    if not load.levels or load.last_at is None:
        return
    since = load.last_at.date() - timedelta(days=_LATELY - 1)
    logged = LogDay.objects.filter(load=load, day__gte=since, broker__in=load.levels)
    found: dict[tuple[str, bool], list[str]] = {}
    sums = logged.values_list("broker").annotate(models.Sum("decisions"), models.Sum("permits"))
    for broker, decisions, permits in sums.order_by("broker"):
        if decisions:
            found.setdefault((load.levels[broker], permits > 0), []).append(broker)
    for (level, has_permits), brokers in sorted(found.items()):
        is_debug = level == LogSource.Level.DEBUG
        declared = f"declared to log {'permits' if is_debug else 'denials only'} ({level})"
        seen = f"{'has' if len(brokers) == 1 else 'have'} {'permits' if has_permits else 'no permit'}"
        is_so = is_debug == has_permits
        verb, joined = ("is" if len(brokers) == 1 else "are"), ("and" if is_so else "but")
        yield Check(
            "level",
            "confirms" if is_so else "contradicts",
            f"{_named(brokers)} {verb} {declared}, {joined} {seen} in the last {_LATELY} days of the log.",
        )


def _named(brokers: Sequence[str]) -> str:
    more = (
        f" and {number_of(len(brokers) - _NAMED, 'broker', 'brokers')} more" if len(brokers) > _NAMED else ""
    )
    return f"{', '.join(brokers[:_NAMED])}{more}"


def _of_the_log(lines: int) -> str:
    return number_of(lines, "line of the log", "lines of the log")
