import random
from collections import Counter
from dataclasses import replace

import pytest

from aclweb.acl.authorizer.answers import Basis, Result, answer_from
from aclweb.acl.authorizer.any_host import HostResult, decide_for_any_host
from aclweb.acl.authorizer.decision import authorize
from aclweb.acl.authorizer.index import AclIndex
from aclweb.acl.matching.hosts import admits
from aclweb.acl.matching.strategy import is_for
from aclweb.acl.matching.unmatchable import is_address
from aclweb.acl.model.authorizers import AuthorizerSettings
from aclweb.acl.model.vocabulary import (
    ANY_USER,
    AccessRequest,
    Operation,
    PatternType,
    Resource,
    ResourceType,
)
from aclweb.clusters import TopicInfo
from aclweb.inventory.access.resource import resource_access
from aclweb.inventory.access.sentences import cell_sentence
from aclweb.inventory.current.view import ClusterView, LoadedRevision
from aclweb.inventory.models import Cluster, Revision
from tests.builders import allow, ask, deny, topic
from tests.random_cases import ACL_HOSTS, SCALE, random_world, with_unknowns

# With the hosts and ranges that random worlds name, one address for each part they tell apart.
PLACES = (
    *(f"10.0.0.{n}" for n in (0, 1, 7, 8, 9, 10, 15, 16, 255)),
    "10.0.1.0",
    "0.0.0.0",
    "192.168.1.1",
    "0:0:0:0:0:0:0:1",
    "0:0:0:0:0:0:0:2",
    "2001:db8:0:0:0:0:0:1",
    *(host for host in ACL_HOSTS if host != "*"),  # a host that is no address is only a text
)
ELSEWHERE = "203.0.113.99"
STATES = {
    HostResult.ALLOWED: ("allowed", "default"),
    HostResult.DENIED: ("refused", "none"),
    HostResult.DEPENDS: ("some-hosts",),
    HostResult.UNDECIDED: ("unknown",),
}


def view_of(bindings, settings=None, *, topics=("orders", "payments.eu"), groups=()):
    loaded = LoadedRevision(
        AclIndex(bindings), tuple(TopicInfo(name, 3) for name in sorted(topics)), groups, ""
    )
    cluster = Cluster(name="test-eu", topics_listed="all", groups_listed="all")
    return ClusterView(
        cluster, Revision(number=1), settings or AuthorizerSettings(), loaded, True, declared=cluster
    )


def access(*bindings, name="orders", settings=None, host=None, **names):
    return resource_access(view_of(bindings, settings, **names), topic(name), host=host)


def cell(found, principal, operation):
    row = next(row for row in found.rows if row.principal == principal)
    return row.cell(Operation[operation])


def resources_near(world, dice):
    near = {Resource(b.resource_type, b.resource_name) for b in world.bindings if b.resource_type.code > 1}
    longer = {Resource(r.resource_type, r.name + "a") for r in near}
    return sorted(near | longer, key=str)[: 4 + dice.randrange(3)]


@pytest.mark.half
@pytest.mark.parametrize("seed", range(60 * SCALE))
def test_every_cell_of_a_random_world_is_what_the_core_decides(seed):
    dice = random.Random(f"matrix {seed}")
    world = random_world(dice)
    if seed % 5 == 0:
        world = with_unknowns(dice, world)
    world_here = view_of(world.bindings, world.settings)
    met = Counter()
    for resource in resources_near(world, dice):
        found = resource_access(world_here, resource)
        for row in found.rows:
            if row.kind != "super-users":
                for one in row.cells:
                    met[one.state] += 1
                    check(one, row, resource, world_here.index, world.settings)
    print(met)


def check(one, row, resource, index, settings):
    principal = row.principal if row.kind == "principal" else "User:nobody-names-me"

    def decision(host):
        return authorize(
            AccessRequest(principal, host, one.operation, resource.resource_type, resource.name),
            index,
            settings,
        )

    general = decision(ELSEWHERE)
    # No client comes from another text, whatever ACLs name.
    answers = {place: decision(place) for place in PLACES if is_address(place)}
    different = {place for place, answer in answers.items() if answer.result is not general.result}
    told = (resource, principal, one)
    if one.state == "unknown":
        results = {answer.result for answer in (general, *answers.values())}
        assert Result.UNDECIDED in results, told
    elif one.state == "some-hosts":
        assert different, told
        named = {finding.binding.host for finding in general.findings} | {
            binding.host for binding in general.unknowns
        }
        expected = {
            host
            for host in named - {"*"}
            if any(admits(host, place, ranges=settings.cidr_hosts) for place in different)
            and principal in principal_if_named(general, host, principal)
        }
        assert set(one.hosts) <= expected, told
        assert all(
            any(admits(host, place, ranges=settings.cidr_hosts) for host in one.hosts) for place in different
        ), told
        assert (one.elsewhere in ("allowed", "default")) is general.allowed, told
    else:
        assert not different, told
        assert one.is_allowed_somewhere is general.allowed, told
        assert (one.state == "refused") is (general.basis is Basis.DENY_ACL), told
        assert (one.state == "default") is (general.basis is Basis.DEFAULT_ALLOW), told
        if general.basis in (Basis.ALLOW_ACL, Basis.DENY_ACL):
            assert set(one.determining) == set(general.determining), told


def principal_if_named(decision, host, principal):
    """The principal, if a covering binding with this host is for it."""
    bindings = (*(finding.binding for finding in decision.findings), *decision.unknowns)
    return {
        principal
        for binding in bindings
        if binding.host == host and is_for(binding.principal, principal, AuthorizerSettings())
    }


def test_random_worlds_meet_every_state():
    met = Counter()
    for seed in range(60):
        dice = random.Random(f"matrix {seed}")
        world = random_world(dice)
        world_here = view_of(world.bindings, world.settings)
        for resource in resources_near(world, dice):
            met.update(one.state for row in resource_access(world_here, resource).rows for one in row.cells)

    assert {"allowed", "refused", "none", "some-hosts", "default"} <= met.keys()
    assert min(met.values()) > 5, met


def test_a_deny_through_a_prefix_refuses_what_all_topics_allows():
    wide, narrow = allow("User:fraud", "ALL", "*"), deny("User:fraud", "WRITE", "pay", pattern="PREFIXED")

    found = access(wide, narrow, name="payments.eu")

    write, read = cell(found, "User:fraud", "WRITE"), cell(found, "User:fraud", "READ")
    assert (write.state, write.through, write.determining) == ("refused", "prefix", (narrow,))
    assert (read.state, read.through, read.determining) == ("allowed", "all", (wide,))
    assert "A DENY wins over every ALLOW" in cell_sentence(write)


def test_describe_is_implied_by_read_and_says_so():
    found = access(allow("User:bob", "READ", "orders"))

    describe = cell(found, "User:bob", "DESCRIBE")
    assert (describe.state, describe.implied, describe.through) == ("allowed", True, "exact")
    assert "Read brings Describe" in cell_sentence(describe)
    assert not cell(found, "User:bob", "READ").implied


def test_a_right_from_one_host_only_is_neither_yes_nor_no():
    found = access(allow("User:bob", "WRITE", "orders", host="10.0.6.21"))

    write = cell(found, "User:bob", "WRITE")
    assert (write.state, write.hosts, write.elsewhere) == ("some-hosts", ("10.0.6.21",), "none")
    assert "only from 10.0.6.21" in cell_sentence(write)
    assert "1 principal can write to it, only from 10.0.6.21" in found.sentences[0]


def test_a_deny_from_one_host_leaves_the_others():
    found = access(allow("User:bob", "WRITE", "orders"), deny("User:*", "ALL", "orders", host="10.9.9.9"))

    write = cell(found, "User:bob", "WRITE")
    assert (write.state, write.hosts, write.elsewhere) == ("some-hosts", ("10.9.9.9",), "allowed")
    assert "but not from 10.9.9.9" in cell_sentence(write)


def test_a_range_within_a_range_is_distinguished():
    bindings = [
        allow("User:bob", "READ", "orders", host="10.0.0.0/8"),
        deny("User:bob", "READ", "orders", host="10.1.0.0/16"),
    ]

    read = cell(access(*bindings), "User:bob", "READ")

    (place,) = read.places
    assert (read.state, place.hosts, place.except_hosts) == (
        "some-hosts",
        ("10.0.0.0/8",),
        ("10.1.0.0/16",),
    )
    assert "only from 10.0.0.0/8 (except 10.1.0.0/16)" in cell_sentence(read)


def test_a_right_from_a_host_that_no_client_can_have_is_reported_and_not_counted():
    found = access(allow("User:bob", "WRITE", "orders", host="batch-01.internal"))

    write = cell(found, "User:bob", "WRITE")
    assert (write.state, write.hosts, write.dead_hosts) == ("none", (), ("batch-01.internal",))
    assert not write.is_allowed_somewhere
    assert "No ACL allows User:bob to Write topic orders." in cell_sentence(write)
    assert "names batch-01.internal, but brokers compare addresses, and no client has" in cell_sentence(write)


@pytest.mark.parametrize(
    ("host", "state", "dead"),
    [
        ("0.0.0.0/32", "none", ("0.0.0.0/32",)),
        ("fe80:0:0:0:0:0:0:1%eth0", "some-hosts", ()),
    ],
)
def test_a_host_is_somebodys_here_as_it_is_where_any_host_is_asked_about(host, state, dead):
    grant = allow("User:ledger", "READ", "orders", host=host)

    read = cell(access(grant), "User:ledger", "READ")
    any_host = decide_for_any_host(ask("User:ledger", "READ", "orders"), AclIndex([grant]))

    assert (read.state, read.dead_hosts) == (state, dead)
    assert any_host.result.name == {"none": "DENIED", "some-hosts": "DEPENDS"}[state]


def test_ranges_that_hold_every_address_leave_no_other_host():
    everywhere = [allow("User:bob", "WRITE", "orders", host=host) for host in ("0.0.0.0/0", "::/0")]

    write = cell(access(*everywhere), "User:bob", "WRITE")

    assert write.state == "allowed"


def test_asking_for_one_host_gives_a_plain_answer():
    binding = allow("User:bob", "WRITE", "orders", host="10.0.6.21")

    assert cell(access(binding, host="10.0.6.21"), "User:bob", "WRITE").state == "allowed"
    assert cell(access(binding, host="10.0.6.22"), "User:bob", "WRITE").state == "none"


def test_a_named_super_user_is_allowed_whatever_a_deny_says():
    settings = AuthorizerSettings(super_users=frozenset({"User:root"}))

    found = access(deny("User:root", "ALL", "orders"), settings=settings)

    assert cell(found, "User:root", "READ").state == "allowed"
    assert "super user" in cell_sentence(cell(found, "User:root", "READ"))
    assert found.sentences[0] == "Nobody but super users can read it, nobody but super users can write to it."


@pytest.mark.parametrize(
    ("settings", "state", "words"),
    [
        (AuthorizerSettings(), "none", "nobody but super users can do anything"),
        (AuthorizerSettings(allow_everyone=True), "default", "everybody can do everything"),
        (AuthorizerSettings(undeclared=frozenset({"allow_everyone"})), "unknown", "obody has declared"),
    ],
)
def test_where_no_acl_covers_a_name_the_default_is_reported_as_declared(settings, state, words):
    found = access(allow("User:bob", "READ", "other"), settings=settings)

    assert found.default_applies
    assert {one.state for row in found.rows if row.kind == "any-user" for one in row.cells} == {state}
    assert words in found.sentences[0]
    assert words in cell_sentence(cell(found, ANY_USER, "READ")) or state != "unknown"


def test_what_an_unknown_pattern_may_cover_is_said_of_nobody_for_certain():
    unknown = replace(allow("User:bob", "READ", "orders"), pattern_type=PatternType.UNKNOWN)

    undeclared = access(unknown, settings=AuthorizerSettings(undeclared=frozenset({"allow_everyone"})))
    refusing = access(unknown, allow("User:cho", "READ", "orders"))

    assert undeclared.sentences[:3] == (
        "Whether anybody but super users can read it is unknown, whether anybody but super users can "
        "write to it is unknown.",
        "Whether anybody but super users can delete it is unknown.",
        "What principals without an ACL can do is unknown.",
    )
    assert undeclared.sentences[-1].startswith("Brokers do not show their default")
    assert refusing.sentences[:3] == (
        "1 principal (and perhaps others) can read it, nobody but super users can write to it.",
        "Nobody but super users can delete it.",
        "Principals without an ACL have no access.",
    )


def test_one_acl_for_somebody_ends_the_open_default_for_everybody():
    found = access(allow("User:bob", "READ", "orders"), settings=AuthorizerSettings(allow_everyone=True))

    assert not found.default_applies
    assert cell(found, ANY_USER, "WRITE").state == "none"


def test_undeclared_super_users_are_reported_on_rows_and_page():
    found = access(
        allow("User:bob", "READ", "orders"),
        settings=AuthorizerSettings(undeclared=frozenset({"super_users"})),
    )

    row = next(row for row in found.rows if row.kind == "super-users")
    assert row.undeclared_dependencies == ("super_users",)
    assert found.super_users is None
    assert "Nobody has declared the super users" in found.sentences[-1]


def test_acls_are_listed_deny_first_then_exact_then_longest_prefix_then_wildcard():
    wide = allow("User:a", "READ", "*")
    short = allow("User:a", "READ", "o", pattern="PREFIXED")
    long = allow("User:a", "READ", "ord", pattern="PREFIXED")
    exact = allow("User:a", "READ", "orders")
    no = deny("User:a", "READ", "*")

    assert access(wide, short, long, exact, no).bindings == (no, exact, long, short, wide)


def test_rows_with_something_particular_stand_before_those_that_come_through_all():
    found = access(allow("User:a", "READ", "*"), allow("User:z", "READ", "orders"))

    assert [row.principal for row in found.rows] == ["User:z", "User:a", ANY_USER, ""]


def test_the_first_sentence_counts_and_says_who_comes_through_all():
    wide = [allow(f"User:wide-{n}", "READ", "*") for n in range(11)]

    found = access(*wide, allow("User:bob", "READ", "orders"), allow("User:cho", "WRITE", "orders"))

    assert found.sentences == (
        "12 principals can read it, 1 can write to it.",
        "Nobody but super users can delete it.",
        "Principals without an ACL have no access.",
        "11 of the 12 that can read it have that right only through ACLs for every topic.",
    )


def test_whoever_reads_through_all_may_write_through_more_than_that():
    reads = [allow("User:bob", "READ", "orders"), allow("User:cho", "READ", "*")]

    told = access(*reads, allow("User:cho", "WRITE", "orders")).sentences

    assert "1 of the 2 that can read it has that right only through ACLs for every topic." in told


def test_deleting_through_the_cluster_counts_in_kraft_only():
    bindings = [
        allow("User:ops", "ALL", "kafka-cluster", resource_type="CLUSTER"),
        allow("User:bob", "READ", "orders"),
    ]

    kraft, zookeeper = access(*bindings), access(*bindings, settings=AuthorizerSettings(authorizer="acl"))

    assert kraft.by_cluster == (
        (Operation.CREATE, ("User:ops",), False),
        (Operation.DELETE, ("User:ops",), False),
    )
    assert zookeeper.by_cluster == ((Operation.CREATE, ("User:ops",), False),)
    assert "1 principal can delete it, through a right on the cluster." in kraft.sentences
    assert "Nobody but super users can delete it." in zookeeper.sentences


@pytest.mark.parametrize(
    ("allow_everyone", "undeclared", "told"),
    [
        (True, (), "Any user can delete it, through a right on the cluster."),
        (False, (), "Nobody but super users can delete it."),
        (False, ("allow_everyone",), "Whether anybody but super users can delete it is unknown."),
    ],
)
def test_the_default_for_the_cluster_says_who_deletes_its_topics(allow_everyone, undeclared, told):
    settings = AuthorizerSettings(allow_everyone=allow_everyone, undeclared=frozenset(undeclared))

    assert told in access(allow("User:bob", "READ", "orders"), settings=settings).sentences


def test_any_user_may_delete_through_the_cluster_and_super_users_do_not_count():
    bob = allow("User:bob", "READ", "orders")
    everybody = allow("User:*", "DELETE", "kafka-cluster", resource_type="CLUSTER")
    admin = allow("User:admin", "DELETE", "kafka-cluster", resource_type="CLUSTER")
    settings = AuthorizerSettings(super_users=frozenset({"User:admin"}))

    assert "Any user can delete it, through a right on the cluster." in access(bob, everybody).sentences
    assert "Nobody but super users can delete it." in access(bob, admin, settings=settings).sentences


def test_a_name_that_does_not_exist_is_answered_and_said_not_to_exist():
    found = access(allow("User:bob", "READ", "pay", pattern="PREFIXED"), name="payments.new")

    assert found.exists is False
    assert cell(found, "User:bob", "READ").state == "allowed"
    assert access(allow("User:bob", "READ", "orders")).partitions == 3


def test_any_type_can_be_asked_for():
    binding = allow("User:bob", "READ", "readers", resource_type="GROUP")
    found = resource_access(view_of([binding], groups=("readers",)), Resource(ResourceType.GROUP, "readers"))

    assert found.exists
    assert found.sentences[0] == "1 principal can consume with it."


def count_decisions(monkeypatch):
    """Count how often the core is asked for an answer, in a list of one number."""
    asked = [0]

    def counted(*args, **named):
        asked[0] += 1
        return answer_from(*args, **named)

    monkeypatch.setattr("aclweb.inventory.access.matrix.answer_from", counted)
    return asked


def test_rows_with_acls_of_the_same_shape_are_decided_once(monkeypatch):
    asked = count_decisions(monkeypatch)
    wide = [allow(f"User:wide-{n}", "READ", "*") for n in range(800)]

    found = access(
        *wide, allow("User:bob", "READ", "orders"), deny("User:*", "WRITE", "o", pattern="PREFIXED")
    )

    # READ on `*`, READ on the name, nothing at all; each of them for every operation at most.
    assert len(found.rows) == 803
    assert asked[0] <= 3 * len(found.operations)


def test_a_second_topic_of_the_same_kind_asks_nothing_anew(monkeypatch):
    world = view_of(
        [allow(f"User:a-{n}", "READ", "pay", pattern="PREFIXED", host=f"10.0.0.{n}") for n in range(50)],
        topics=("pay.1", "pay.2"),
    )
    first = resource_access(world, topic("pay.1"))
    asked = count_decisions(monkeypatch)

    second = resource_access(world, topic("pay.2"))

    assert asked[0] == 0
    assert [row.verdicts for row in second.rows] == [row.verdicts for row in first.rows]
    assert {one.resource for row in second.rows for one in row.cells} == {topic("pay.2")}


def test_acls_of_the_same_shape_settle_each_row_by_its_own_bindings():
    mine, other = allow("User:a", "READ", "orders"), allow("User:b", "READ", "orders")

    found = access(mine, other)

    assert cell(found, "User:a", "READ").determining == (mine,)
    assert cell(found, "User:b", "READ").determining == (other,)
