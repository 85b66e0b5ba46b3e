"""An impact that is kept by kinds of difference says what the what-if said, entry by entry."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.matching.unmatchable import why_no_resource, why_unmatchable
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.delta import Delta
from aclweb.acl.model.vocabulary import AclBinding, AclError
from aclweb.acl.simulate import Names, differences, simulate
from aclweb.acl.simulate.differences import Differences
from aclweb.acl.simulate.impact import LISTS, Effect, Impact
from tests.builders import allow, deny
from tests.random_cases import SCALE, random_binding, random_world

HASHED = ("gains", "loses", "depends")


def texts(told: object) -> list[str]:
    return sorted(json.dumps(entry, sort_keys=True) for entry in told)  # type: ignore[attr-defined]


def random_impact(seed: int, **options: Any) -> tuple[Delta, AclIndex, Names, AuthorizerSettings, Impact]:
    rng = random.Random(f"differences {seed}")
    world = random_world(rng)
    add = [random_binding(rng, world.settings) for _ in range(rng.randrange(1, 4))]
    remove = [acl for acl in world.bindings if rng.random() < 0.2 and acl not in add]
    delta = Delta(add=tuple(dict.fromkeys(add)), remove=tuple(dict.fromkeys(remove)))
    index, names = AclIndex(world.bindings), Names(topics=("orders", "a", "ab"), new_topics=("brand-new",))
    return delta, index, names, world.settings, simulate(delta, index, names, world.settings, **options)


@pytest.mark.parametrize("seed", range(60 * SCALE))
def test_what_is_put_together_reads_like_the_what_if_and_survives_storing(seed: int) -> None:
    *_, impact = random_impact(seed)
    whole: dict[str, Any] = impact.as_dict()

    put_together = Differences.of(impact)
    kept = Differences.unpacked(put_together.packed())
    as_it_was_stored_before = Differences.of_entries(json.loads(json.dumps(whole)))

    for told in (put_together, kept, as_it_was_stored_before):
        assert {name: told.counts[name] for name in LISTS} == {name: len(whole[name]) for name in LISTS}
        for name in LISTS:
            assert texts(told[name]) == texts(whole[name])
        assert list(told["resources"]) == whole["resources"]
        assert (told["unchanged"], told["warnings"]) == (whole["unchanged"], whole["warnings"])
        assert told.digest(HASHED) == put_together.digest(HASHED)


@pytest.mark.parametrize("seed", range(60 * SCALE))
def test_what_no_client_can_meet_is_all_that_a_page_leaves_out(seed: int) -> None:
    delta, index, names, settings, whole = random_impact(seed)
    *_, met = random_impact(seed, met_only=True)
    acls = (*index, *delta.add)
    principals = {acl.principal for acl in acls} | settings.super_users | {"nobody names this one"}
    hosts = {acl.host for acl in acls} | {"elsewhere"}
    met_hosts = {
        host
        for host in hosts - {"*"}
        if host == "elsewhere" or why_unmatchable(acl_from(host), settings) is None
    }

    def cells(impact: Impact) -> set[tuple[object, ...]]:
        return {
            (
                name,
                principal,
                host,
                effect.operation,
                effect.resource_type,
                effect.names_kind,
                effect.names_text,
            )
            for name in LISTS
            for effect in getattr(impact, name)
            if exists(effect, names)
            for principal in (
                principals - set(effect.except_principals) if effect.principal == "*" else {effect.principal}
            )
            for host in (
                met_hosts - set(effect.except_hosts) if effect.host == "*" else {effect.host} & met_hosts
            )
        }

    assert cells(met) == cells(whole)
    assert all(exists(effect, names) for name in LISTS for effect in getattr(met, name))
    assert not {effect.host for name in LISTS for effect in getattr(met, name)} - met_hosts - {"*"}


def acl_from(host: str) -> AclBinding:
    return allow("User:x", "READ", "t", host=host)


def exists(effect: Effect, names: Names) -> bool:
    """Whether a resource can have a name of the effect's class."""
    kind = effect.resource_type.name
    given = kind == "TOPIC" and effect.names_text in (*names.topics, *names.new_topics)
    every_name = effect.names_kind == "PREFIX" and not effect.names_text
    if given or every_name or effect.names_kind not in ("EXACT", "PREFIX"):
        return True
    pattern = "LITERAL" if effect.names_kind == "EXACT" else "PREFIXED"
    like = allow("User:x", "READ", effect.names_text, pattern=pattern, resource_type=kind)
    return why_no_resource(like) is None


def test_an_effect_stored_by_a_newer_version_is_refused_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(differences, "FORMAT", 9)
    newer = Differences.of(random_impact(1)[-1]).packed()
    monkeypatch.undo()

    with pytest.raises(AclError, match="written by a newer one"):
        Differences.unpacked(newer)


def test_the_same_answers_have_the_same_hash_whatever_other_acls_divide_the_names() -> None:
    delta = Delta(add=(allow("User:etl", "READ", "*"),))
    names = Names(topics=("a", "b", "c"))
    plain = [deny("User:etl", "WRITE", "a")]
    divided = [*plain, deny("User:etl", "WRITE", "b"), allow("User:etl", "CREATE", "c")]

    first, second = (
        Differences.of(simulate(delta, AclIndex(acls), names, merge_equal_hosts=True))
        for acls in (plain, divided)
    )

    assert len(second.rows["gains"]) > len(first.rows["gains"])
    assert first.digest(HASHED) == second.digest(HASHED)
