"""Which ACLs have a key that begins so? A list names each of its rows by the beginning, which is a quarter of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from django.db.models import Q

from aclweb.acl.model import AclBinding
from aclweb.acl.notation import binding_key
from aclweb.inventory.current import BINDING_COLUMNS, bindings_of
from aclweb.inventory.models import Cluster, StoredAcl

# 64 bits: among a million ACLs two begin alike once in forty million clusters, and then neither is found.
SHORT = 16
_WHOLE = 64
_LETTERS = frozenset("0123456789abcdef")
# SQLite takes so deep an expression, and more.
_AT_ONCE = 200


def short_key(key: str) -> str:
    """Return the beginning of a key that stands for it in a list."""
    return key[:SHORT]


def may_be_short(text: str) -> bool:
    """Whether a text may be a key or its beginning; of others no database need be asked."""
    return len(text) in (SHORT, _WHOLE) and set(text) <= _LETTERS


def with_key_like(text: str) -> Q:
    """Return the filter for rows whose key begins so."""
    return Q(key__gte=text, key__lt=f"{text}g")


def acls_of_short_keys(cluster: Cluster, texts: Iterable[str]) -> frozenset[AclBinding]:
    """Return the ACLs in force with these keys or beginnings; none for one that more than one has."""
    wanted = {text for text in texts if may_be_short(text)}
    found = frozenset(_like(cluster, wanted))
    begun = Counter(short_key(binding_key(binding)) for binding in found)
    return frozenset(
        binding
        for binding in found
        if binding_key(binding) in wanted or begun[short_key(binding_key(binding))] == 1
    )


def _like(cluster: Cluster, texts: Iterable[str]) -> Iterator[AclBinding]:
    held = StoredAcl.objects.filter(cluster=cluster, added_in__lte=cluster.revision_id or 0)
    # Each has an index of its own; what a sync is about to close is in force until it is done.
    parts = held.filter(removed_in__isnull=True), held.filter(removed_in__gt=cluster.revision_id or 0)
    in_order = sorted(texts)
    for start in range(0, len(in_order), _AT_ONCE):
        any_of = Q()
        for text in in_order[start : start + _AT_ONCE]:
            any_of |= with_key_like(text)
        for part in parts:
            yield from bindings_of(part.filter(any_of).values_list(*BINDING_COLUMNS))
