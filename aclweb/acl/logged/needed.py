"""Which ACLs do logged requests need, and which may go without any of them being answered otherwise?"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from aclweb.acl.authorizer import Basis, Decision, answer_given
from aclweb.acl.model import AclBinding


def one_of(decision: Decision) -> tuple[AclBinding, ...]:
    """Return the ACLs of which one must stay for the answer to stay; empty where all that determine it may go.

    decision: about one resource, and not about a whole type.
    """
    gone = decision.determining
    if not gone or decision.basis is Basis.UNKNOWN_VALUE:
        return ()
    without = [finding.binding for finding in decision.findings if finding.binding not in gone]
    result, _ = answer_given(decision.request, without, decision.unknowns, decision.settings)
    return gone if result is not decision.result else ()


def removable(settled_by: Iterable[Collection[str]], candidates: Collection[str]) -> frozenset[str]:
    """Return candidates that may go together so that each request keeps one of the ACLs that settle it.

    settled_by: for each request the keys of `one_of`. What stays is chosen greedily: the candidate that most requests
    have left, the first in the alphabet of equal ones. None that stays could go as well.
    """
    may_go = set(candidates)
    groups = list({group for keys in settled_by if (group := frozenset(keys)) and group <= may_go})
    of_key: dict[str, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        for key in group:
            of_key[key].append(place)
    left = Counter({key: len(places) for key, places in of_key.items()})
    waiting = [(-count, key) for key, count in left.items()]
    heapq.heapify(waiting)
    done = [False] * len(groups)
    chosen: list[str] = []
    while waiting:
        count, key = heapq.heappop(waiting)
        if -count != left[key]:
            # Others that stay settle some of its requests by now.
            if left[key]:
                heapq.heappush(waiting, (-left[key], key))
            continue
        chosen.append(key)
        for place in of_key[key]:
            if not done[place]:
                done[place] = True
                for other in groups[place]:
                    left[other] -= 1
    return frozenset(may_go) - _without_spare(chosen, of_key, len(groups))


def _without_spare(chosen: Sequence[str], of_key: Mapping[str, Sequence[int]], groups: int) -> set[str]:
    """Return the chosen keys less those whose groups all have another chosen key by now."""
    staying = set(chosen)
    members = [0] * groups
    for key in chosen:
        for place in of_key[key]:
            members[place] += 1
    for key in chosen:
        if all(members[place] > 1 for place in of_key[key]):
            staying.discard(key)
            for place in of_key[key]:
                members[place] -= 1
    return staying
