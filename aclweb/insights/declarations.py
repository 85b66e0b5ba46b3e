"""What does the log say about what people declared of a cluster: its super users, its default?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aclweb.acl.model import SUPER_USERS_KEY, AuthorizerSettings, number_of
from aclweb.insights.current import current_load
from aclweb.inventory.models import Cluster


@dataclass(frozen=True)
class Check:
    """What the log says about one declaration: "confirms", "contradicts" or "suggests"."""

    setting: str
    kind: str
    sentence: str


def declarations(cluster: Cluster) -> tuple[Check, ...]:
    """Return what the brokers' own words confirm or contradict; empty where the log says nothing of it."""
    load = current_load(cluster)
    if load is None:
        return ()
    found = load.declarations
    return (
        *_super_users(cluster, found.get("super_users", {})),
        *_default_mode(cluster, found.get("default_allow", 0), found.get("default_deny_uncovered", 0)),
    )


def _super_users(cluster: Cluster, seen: Mapping[str, int]) -> Iterable[Check]:
    declared = _declared_super_users(cluster)
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
                f"The brokers treated {principal} as a super user in {times}, and it is not declared as one.",
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
            yield Check("allow_everyone", "confirms", f"{fact}, as declared.")
        else:
            declared = "allow" if cluster.allow_everyone else "refuse"
            yield Check("allow_everyone", "contradicts", f"{fact}, but it is declared that they {declared}.")


def _of_the_log(lines: int) -> str:
    return number_of(lines, "line of the log", "lines of the log")
