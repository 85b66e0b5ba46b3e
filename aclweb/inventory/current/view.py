"""What is in force on a cluster now, or was at a revision, held in this process's memory.

Pages and workers decide on an AclIndex, never on the database and never on the cluster.
`in_force` asks the database one small question, which revision is the newest, and
rebuilds only when that moved. How much is kept is limited (ACLWEB_ACLS_IN_MEMORY): what
nobody asked about for the longest goes first. What is declared (default mode, super users) is read with
the same question, so a new declaration counts at once and rebuilds nothing. A moment of
the past comes with what was declared then.
"""

from __future__ import annotations

import datetime
import sys
import threading
import time
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar, cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db.models import Q

from aclweb.acl.authorizer import AclColumns, AclIndex, ColumnIndex
from aclweb.acl.model import (
    ALLOW_EVERYONE_KEY,
    ANY_USER,
    SUPER_USERS_KEY,
    WILDCARD,
    AclBinding,
    AclError,
    AuthorizerSettings,
    PatternType,
    ResourceType,
    computed_once,
)
from aclweb.clusters import AllowedHosts, ClusterError, ClusterState, Connection, Known, TopicInfo
from aclweb.inventory.current.loading_acls import Held, acls_near, load_acls
from aclweb.inventory.current.transactional_ids import ListedIds, listed_ids
from aclweb.inventory.fields import as_stored, unescape
from aclweb.inventory.models import (
    Cluster,
    Declaration,
    Revision,
    StoredName,
    stored_in_force,
)
from aclweb.runtime import loading

_Answer = TypeVar("_Answer")
_PAST_KEPT = 4  # revisions of the past in memory, over all clusters
# Answers in memory for one revision. At 100,000 ACLs one takes a megabyte: enough for a page and what is
# clicked on it, and no more.
_ANSWERS_KEPT = 24
_LASTING_KEPT = 9  # of those that each page of some list needs; they depend on the authorizer settings alone

TOPIC, GROUP = ResourceType.TOPIC.name, ResourceType.GROUP.name


class LoadedRevision:
    """What one revision held, and what is worked out from it once: never changes."""

    def __init__(
        self, index: AclIndex, topics: tuple[TopicInfo, ...], groups: tuple[str, ...], digest: str
    ) -> None:
        self.index = index
        self.topics = topics
        self.groups = groups
        self.digest = digest
        self._naming: dict[str, tuple[AclBinding, ...]] = {}
        self._answers: OrderedDict[Hashable, Any] = OrderedDict()
        self._lasting: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def weight(self) -> int:
        """How many ACLs and names it holds: what it takes of memory is about proportional to that."""
        return len(self.index) + len(self.topics) + len(self.groups)

    @property
    def by_principal(self) -> Counter[str]:
        """How many bindings name each principal."""
        return self.index.count_by_principal

    @property
    def denies_by_principal(self) -> Counter[str]:
        return self.index.denies_by_principal

    def naming(self, principal: str) -> tuple[AclBinding, ...]:
        """Return the bindings that name exactly this principal, as a list shows them."""
        if principal not in self.by_principal:
            return ()
        if principal not in self._naming:
            own = self.index.of_principal(principal)
            self._naming[principal] = tuple(sorted(own, key=reading_order))
        return self._naming[principal]

    @computed_once
    def in_reading_order(self) -> tuple[AclBinding, ...]:
        """Every binding as a list shows it: DENY first, then by name, LITERAL `*` last."""
        return tuple(sorted(self.index, key=reading_order))

    @computed_once
    def names(self) -> dict[ResourceType, tuple[str, ...]]:
        """The topics and groups that exist, sorted."""
        return {
            ResourceType.TOPIC: tuple(topic.name for topic in self.topics),
            ResourceType.GROUP: self.groups,
            ResourceType.CLUSTER: ("kafka-cluster",),
        }

    def prepare(self) -> None:
        """File everything that pages ask for, so that no request has to."""
        for resource_type in ResourceType:
            self.index.shelf(resource_type)
            self.index.table(resource_type)
        self.naming(ANY_USER)
        _ = self.index.hosts, self.by_principal, self.denies_by_principal, self.names, self.in_reading_order

    def holds(self, resource_type: ResourceType, name: str) -> bool:
        """Whether a resource of this type and name is among `names`."""
        names = self.names.get(resource_type, ())
        place = bisect_left(names, name)
        return place < len(names) and names[place] == name

    def topic(self, name: str) -> TopicInfo | None:
        """Return the topic with this name, if it exists."""
        place = bisect_left(self.names[ResourceType.TOPIC], name)
        topic = self.topics[place] if place < len(self.topics) else None
        return topic if topic is not None and topic.name == name else None

    def covered_now(self, binding: AclBinding) -> int | None:
        """Return how many existing names the pattern covers; None for types whose names nobody lists."""
        names = self.names.get(binding.resource_type)
        if names is None:
            return None
        start, end = span(names, binding.resource_name, binding.pattern_type)
        return end - start

    def remember(
        self, question: Hashable, work_out: Callable[[], _Answer], *, lasting: bool = False
    ) -> _Answer:
        """Return the kept answer to a question about this revision, or work it out and keep it.

        lasting: whether it is about all ACLs, so that no number of narrower questions pushes it out.
        """
        kept, most = (self._lasting, _LASTING_KEPT) if lasting else (self._answers, _ANSWERS_KEPT)
        with self._lock:
            if question in kept:
                kept.move_to_end(question)
                return cast(_Answer, kept[question])
        answer = work_out()
        with self._lock:
            kept[question] = answer
            while len(kept) > most:
                kept.popitem(last=False)
        return answer


@dataclass(frozen=True)
class Moment:
    """A moment of a cluster's past: the revision in force then, and what was declared.

    declared: None for what is declared today. time: the one that was asked for, where it
    was not the revision itself. until: when the next reading found something else.
    """

    revision: Revision
    declared: Declaration | None = None
    time: datetime.datetime | None = None
    until: datetime.datetime | None = None

    @property
    def words(self) -> str:
        """`revision 3`, or the time in UTC."""
        if self.time is None:
            return f"revision {self.revision.number:,}"
        return f"{self.time.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S}"


@dataclass(frozen=True)
class ClusterView:
    """A cluster's bindings, names and authorizer settings as of one revision; `revision` is None if it was never read.

    cluster: its row of today; `declared` is what holds at the moment.
    """

    cluster: Cluster
    revision: Revision | None
    settings: AuthorizerSettings
    loaded: LoadedRevision
    groups_known: bool
    declared: Cluster | Declaration

    @property
    def index(self) -> AclIndex:
        return self.loaded.index

    @property
    def topics(self) -> tuple[TopicInfo, ...]:
        return self.loaded.topics

    @property
    def groups(self) -> tuple[str, ...] | None:
        """The groups that exist, sorted; None where this cluster's source cannot know them."""
        return self.loaded.groups if self.groups_known else None

    def known(self, kind: ResourceType) -> Known:
        """Which of the existing names of this type are in `loaded`; `completeness.names_known` says it in words."""
        return self._known.get(kind, Known.UNKNOWN)

    @computed_once
    def known_of_all(self) -> tuple[Known, ...]:
        """What `known` says of topics and groups: part of each question whose answer depends on which names exist.

        It may change while the revision stays.
        """
        return tuple(self.known(kind) for kind in (ResourceType.TOPIC, ResourceType.GROUP))

    @computed_once
    def _known(self) -> dict[ResourceType, Known]:
        return {
            ResourceType.TOPIC: Known(self.declared.topics_listed),
            ResourceType.GROUP: Known(self.declared.groups_listed),
            ResourceType.CLUSTER: Known.ALL,
        }

    def covered_now(self, binding: AclBinding) -> int | None:
        """Return how many existing names the pattern covers; None where nobody knows which names exist."""
        known = self.known(binding.resource_type)
        if known is Known.UNKNOWN:
            return None
        count = self.loaded.covered_now(binding)
        # That no visible name matches says nothing of those that aclweb may not see.
        return None if count == 0 and known is Known.VISIBLE else count

    @computed_once
    def principals(self) -> tuple[str, ...]:
        """Everybody whom a binding or the declared super users name, sorted."""
        return tuple(sorted({*self.loaded.by_principal, *self.settings.super_users}))

    @computed_once
    def listed_ids(self) -> ListedIds:
        """The transactional ids that brokers list, now and not as of an earlier revision; at most two queries."""
        return listed_ids(self.cluster, partial(self.loaded.remember, lasting=True))

    @property
    def stale(self) -> bool:
        """Whether the newest attempt to read the cluster failed or is kept back, so that this is older."""
        cluster = self.cluster
        return cluster.held is not None or (
            cluster.tried_at is not None and (cluster.read_at is None or cluster.read_at < cluster.tried_at)
        )


def in_force(
    cluster: Cluster, as_of: Moment | None = None, *, asked: bool = True, just_read: bool = False
) -> ClusterView:
    """Return what is in force on the cluster, or was at the moment. One query if nothing moved.

    asked: whether somebody wants to know, so that it is worth keeping in memory. just_read: whether the caller has read
    the cluster for this answer, with its revision, which then costs no query.
    """
    fresh = cluster if just_read else Cluster.objects.select_related("revision").get(pk=cluster.pk)
    revision = as_of.revision if as_of is not None else fresh.revision
    declared = (as_of.declared if as_of is not None else None) or fresh
    return ClusterView(
        cluster=fresh,
        revision=revision,
        settings=settings_of(declared),
        loaded=_loaded(fresh, revision, past=revision != fresh.revision, asked=asked),
        groups_known=declared.groups_known,
        declared=declared,
    )


def settings_of(declared: Cluster | Declaration) -> AuthorizerSettings:
    """Return the authorizer settings that are declared; what nobody declared is assumed and named as undeclared."""
    config: dict[str, object] = {}
    undeclared = set()
    if declared.super_users is None:
        undeclared.add("super_users")
    else:
        config[SUPER_USERS_KEY] = declared.super_users
    if declared.allow_everyone is None:
        undeclared.add("allow_everyone")
    else:
        config[ALLOW_EVERYONE_KEY] = declared.allow_everyone
    return AuthorizerSettings.read(
        authorizer=declared.authorizer,
        kafka_version=known_version(declared.authorizer, declared.kafka_version),
        config=config,
        undeclared=frozenset(undeclared),
        service=declared.service,
    )


def known_version(authorizer: str, kafka_version: str) -> str | None:
    """Return the version if aclweb knows it for this authorizer; None means the newest known."""
    try:
        return AuthorizerSettings(authorizer=authorizer, kafka_version=kafka_version).kafka_version
    except AclError:
        return None


_READ_TOGETHER = ("kind", "address", "options", "held_to_hosts")


def connection_of(cluster: Cluster) -> Connection:
    """Return where the cluster is and how to log in; raises ClusterError for a login that cannot be decrypted.

    Where the login is not read yet, the address is read anew with it: no login is sent to the address of another.
    """
    try:
        if "options" in cluster.get_deferred_fields():
            cluster.refresh_from_db(fields=_READ_TOGETHER)
        options = dict(cluster.options)
    except ImproperlyConfigured as error:
        raise ClusterError(str(error), state=ClusterState.LOGIN_REFUSED) from error
    return Connection(
        kind=cluster.source,
        address=cluster.address,
        options=options,
        timeout_seconds=float(settings.ACLWEB_CLUSTER_TIMEOUT_SECONDS),
        within=AllowedHosts.read(settings.ACLWEB_CLUSTER_HOSTS) if cluster.held_to_hosts else None,
        token_endpoints=tuple(settings.ACLWEB_TOKEN_ENDPOINTS),
        keytabs=tuple(settings.ACLWEB_KEYTABS),
    )


def span(names: tuple[str, ...], pattern_name: str, pattern_type: PatternType) -> tuple[int, int]:
    """Return the part of the sorted `names` that the pattern covers, as start and end (excluded)."""
    if pattern_type is PatternType.LITERAL:
        if pattern_name == WILDCARD:
            return 0, len(names)
        start = bisect_left(names, pattern_name)
        return start, start + (start < len(names) and names[start] == pattern_name)
    if pattern_type is PatternType.PREFIXED:
        start = bisect_left(names, pattern_name)
        return start, _end_of_prefix(names, pattern_name, start)
    return 0, 0


def _end_of_prefix(names: tuple[str, ...], prefix: str, start: int) -> int:
    """Return the place after the last name with this prefix, which all begin at `start`."""
    if start == len(names) or not names[start].startswith(prefix):
        return start
    before, last = prefix[:-1], ord(prefix[-1]) if prefix else sys.maxunicode
    if last < sys.maxunicode:  # the next text of this length sorts after all that begin with the prefix
        return bisect_left(names, before + chr(last + 1), lo=start)
    length = len(prefix)
    # Sorted by whole names is sorted by their beginnings too.
    return bisect_left(names, True, lo=start, key=lambda name: name[:length] > prefix)


def forget() -> None:
    """Empty this process's memory, as if it had just started."""
    with _lock:
        _now.clear()
        _past.clear()


def asked_lately(seconds: float) -> tuple[int, ...]:
    """Return the clusters whose index is in memory and that somebody asked about in the last seconds."""
    since = time.monotonic() - seconds
    with _lock:
        return tuple(pk for pk, kept in _now.items() if kept.asked_at >= since)


def _is_one_of(kept: _Kept, *others: _Kept | None) -> bool:
    return any(kept is other for other in others)


def _sharing(cluster_id: Hashable) -> list[Hashable]:
    """Return the earlier revisions in memory that share ACLs with the newest one of the cluster."""
    return [name for name, held in _past.items() if held.shares and held.acls_of.cluster_id == cluster_id]


@dataclass
class _Kept:
    """What is in memory of one revision, and when somebody last asked for it (monotonic).

    acls_of: the revision whose rows the index was made of; where only names moved since, an earlier one.
    shares: whether it was made of what is in memory of the newest revision of its cluster, and shares nearly all ACLs.
    """

    key: Hashable
    loaded: LoadedRevision
    acls_of: Revision
    shares: bool = False
    asked_at: float = float("-inf")

    @property
    def weight(self) -> int:
        """What it adds to the memory that is taken, in ACLs and names."""
        index = self.loaded.index
        has_made_few = isinstance(index, ColumnIndex) and not index.columns.made_its_own
        is_light = self.shares and (has_made_few or self._has_the_newest_index)
        return self.loaded.weight - (len(index) * (_LIGHT - 1) // _LIGHT if is_light else 0)

    @property
    def _has_the_newest_index(self) -> bool:
        """Whether the newest revision of its cluster has the very same index, since only names moved."""
        newest = _now.get(self.acls_of.cluster_id)
        return newest is not None and newest.loaded.index is self.loaded.index


_lock = threading.Lock()
_building: dict[int, threading.Lock] = {}
_now: dict[int, _Kept] = {}
_past: dict[Hashable, _Kept] = {}
# An ACL that is held as columns takes this part of the memory of one that is made, or less.
_LIGHT = 8
_EMPTY = LoadedRevision(AclIndex(()), (), (), "")


def _loaded(cluster: Cluster, revision: Revision | None, *, past: bool, asked: bool = True) -> LoadedRevision:
    if revision is None:
        return _EMPTY
    # The time is part of the key: a database that was rolled back or restored gives numbers out again.
    key = (cluster.pk, revision.pk, revision.read_at, revision.digest)
    if past:
        of_then = _past.get(key) or _build(key, cluster, revision, _now.get(cluster.pk), past=True)
        return _keep(_past, key, of_then, asked=True)
    if (kept := _known(cluster.pk, key)) is None:
        with _lock:
            building = _building.setdefault(cluster.pk, threading.Lock())
        with building:  # one thread builds, the others wait for what it built
            if (kept := _known(cluster.pk, key)) is None:
                before = _now.get(cluster.pk)
                kept = _build(key, cluster, revision, before)
                kept.asked_at = before.asked_at if before else kept.asked_at
                return _keep(_now, cluster.pk, kept, asked=asked)
    return _keep(_now, cluster.pk, kept, asked=asked)


def _known(cluster_id: int, key: Hashable) -> _Kept | None:
    kept = _now.get(cluster_id)
    return kept if kept is not None and kept.key == key else None


def _keep(place: dict[Any, _Kept], name: Hashable, kept: _Kept, *, asked: bool) -> LoadedRevision:
    """Keep this in memory, let go of what was not asked for the longest, and return what it loaded.

    Where nobody asked, it is kept in the place of what is there of it, and not where that was let go of meanwhile. The
    newest revision of a cluster is not let go of for an earlier one that shares its ACLs.
    """
    with _lock:
        if asked:
            kept.asked_at = time.monotonic()
        elif name not in place:
            return kept.loaded
        place[name] = kept
        while len(_past) > _PAST_KEPT:
            del _past[min(_past, key=lambda key: _past[key].asked_at)]
        shelves: tuple[dict[Any, _Kept], ...] = (_now, _past)
        newest = _now.get(kept.acls_of.cluster_id) if kept.shares else None
        others = [
            (shelf, name) for shelf in shelves for name in shelf if not _is_one_of(shelf[name], kept, newest)
        ]
        taken = sum(held.weight for shelf in shelves for held in shelf.values())
        for shelf, other in sorted(others, key=lambda each: each[0][each[1]].asked_at):
            if taken <= settings.ACLWEB_ACLS_IN_MEMORY:
                break
            if other in shelf:
                taken -= sum(_past.pop(name).weight for name in (_sharing(other) if shelf is _now else ()))
                taken -= shelf.pop(other).weight
    return kept.loaded


def _build(
    key: Hashable, cluster: Cluster, revision: Revision, near: _Kept | None, *, past: bool = False
) -> _Kept:
    """Load a revision. near: what is in memory of another one of the cluster, the newest where this is of the past."""
    then = Q(cluster=cluster) & stored_in_force(revision)
    same = near if near is not None and near.loaded.digest == revision.digest else None  # only names moved
    with loading.making_what_lasts(0 if same else revision.acls):
        of_near = None if same or near is None else _acls_near(near, cluster, revision)
        if same:
            index = same.loaded.index
        else:
            index = ColumnIndex(of_near if of_near is not None else load_acls(cluster, revision))
        topics, groups = _names(then)
        loaded = LoadedRevision(index, topics, groups, revision.digest)
        # What nearly every page asks for. Later, all that is made now would be looked through for garbage meanwhile.
        index.shelf(ResourceType.TOPIC)
        _ = loaded.names
    shares = past and (same is not None or of_near is not None)
    return _Kept(key, loaded, same.acls_of if same else revision, shares)


def _acls_near(near: _Kept, cluster: Cluster, revision: Revision) -> AclColumns | None:
    index = near.loaded.index
    return (
        acls_near(cluster, Held(near.acls_of, index.columns), revision)
        if isinstance(index, ColumnIndex)
        else None
    )


def _names(then: Q) -> tuple[tuple[TopicInfo, ...], tuple[str, ...]]:
    columns = ("resource_type", "name", "partitions", "internal")
    rows = StoredName.objects.filter(then).values_list(*map(as_stored, columns))
    topics: list[TopicInfo] = []
    groups: list[str] = []
    for kind, name, partitions, internal in rows.iterator(chunk_size=5000):
        if kind == TOPIC:
            topics.append(TopicInfo(unescape(name), partitions, bool(internal)))
        elif kind == GROUP:
            groups.append(unescape(name))
    return tuple(sorted(topics, key=attrgetter("name"))), tuple(sorted(groups))


def reading_order(binding: AclBinding) -> tuple[object, ...]:
    """Return what lists sort ACLs by: DENY first, then by name, LITERAL `*` last. No two ACLs are alike in it."""
    # `_value_` because `code` and `value` are Python-level descriptors, and each ACL of a large cluster is asked.
    return (
        not binding.is_deny,
        binding.has_wildcard_pattern,
        binding.resource_name,
        binding.resource_type._value_,
        binding.pattern_type._value_,
        binding.principal,
        binding.operation._value_,
        binding.host,
    )
