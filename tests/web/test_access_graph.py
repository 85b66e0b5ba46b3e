"""Does the graph of a resource show each ACL that matches it, once, with the numbers of its table and of its files?"""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape

import pytest

from aclweb.acl.model import Operation, Resource, ResourceType
from aclweb.acl.notation.files import binding_key
from aclweb.insights.load import load
from aclweb.insights.queries import Use
from aclweb.inventory.access import Able, topic_access
from aclweb.inventory.current import in_force
from aclweb.inventory.sync.run import sync
from aclweb.web.browse.access_graph import MOST_ACLS, drawn
from aclweb.web.browse.who_can import WhoCan, who_can
from tests.builders import allow, deny
from tests.fake_cluster import FakeCluster
from tests.insights.conftest import two_weeks_will_do  # noqa: F401 a fixture
from tests.insights.results import use, write_result

GRAPH = "/c/test-eu/graph/?type=TOPIC&name=orders.eu"
RULES = [
    allow("User:bob", "READ", "orders.eu"),
    allow("User:cat", "READ", "orders.", pattern="PREFIXED"),
    allow("User:dan", "READ", "orders.", pattern="PREFIXED"),
    allow("User:dan", "ALL", "*", host="10.0.0.7"),
    deny("User:*", "WRITE", "orders.", pattern="PREFIXED"),
    allow("User:bob", "READ", "stock"),
]


@pytest.fixture
def page_of(cluster, cho, signed_in):
    client = signed_in(cho)
    sync(cluster, client=FakeCluster(RULES, topics=["orders.eu", "stock"]))
    cluster.refresh_from_db()

    def page(address: str) -> str:
        answer = client.get(address)
        assert answer.status_code == 200
        return answer.getvalue().decode()

    return page


def boxes(page: str) -> list[tuple[str, str]]:
    return [
        (kind, unescape(title)) for kind, title in re.findall(r'data-kind="(\w+)"><title>(.*?)</title>', page)
    ]


def test_each_pattern_is_a_box_that_says_how_many_acls_it_stands_for(page_of):
    page = page_of(GRAPH)

    assert boxes(page) == [
        ("principal", "User:*"),
        ("principal", "User:bob"),
        ("principal", "User:cat"),
        ("principal", "User:dan"),
        ("deny", "DENY Write orders. (prefix)"),
        ("exact", "Read orders.eu"),
        ("prefix", "Read orders. (prefix)"),
        ("all", "All on all topics from 10.0.0.7"),
        ("nobody", "Write: nobody"),
        ("operation", "Read: 3 can"),
        ("operation", "All"),
        ("operation", "Create: 1 can"),
        ("operation", "Describe: 3 can"),
        ("operation", "Delete: 1 can"),
        ("operation", "Alter: 1 can"),
        ("operation", "Describe configs: 1 can"),
        ("operation", "Alter configs: 1 can"),
    ]
    assert page.count('class="graph-line"') == 5 + 4 + 4, (
        "ACLs by principal, boxes to operations, and the legend"
    )
    assert "2 ACLs</text>" in page
    assert "5 ACLs of 4 principals match it" in page


def test_table_csv_and_json_have_the_same_acls_and_requests(page_of, cluster, tmp_path):
    uses = [use(RULES[0], requests=1_200), use(RULES[3], requests=5)]
    load(write_result(tmp_path / "usage", RULES, usage=uses), cluster)

    page = page_of(GRAPH)
    told = json.loads(page_of(f"{GRAPH}&format=json"))
    exported = list(csv.DictReader(io.StringIO(page_of(f"{GRAPH}&format=csv"))))

    numbers = {(row["principal"], row["operation"]): (row["use"], row["requests"]) for row in told["acls"]}
    assert numbers["User:bob", "READ"] == ("used", 1_200)
    assert numbers["User:dan", "ALL"] == ("used", 5)
    assert numbers["User:cat", "READ"] == ("unused", 0)
    assert told["whole"] is True
    assert exported == [{name: str(cell) for name, cell in row.items()} for row in told["acls"]]
    body = page.split('id="same"')[1].split("<tbody>")[1].split("</tbody>")[0]
    requests = re.findall(r"<span title=[^>]*>([\d,]+)</span></td>\s*</tr>", body)
    assert [number.replace(",", "") for number in requests] == [row["requests"] for row in exported]
    tones = re.findall(r'class="graph-line" data-tone="(\w+)" stroke-width="([\d.]+)" d="M[^0]', page)
    assert [tone for tone, _ in tones].count("deny") == 2
    assert (
        {float(width) for tone, width in tones if tone == "unused"}
        == {1.2}
        < {float(width) for tone, width in tones if tone == "used"} | {1.2}
    )


def test_without_a_log_nobody_can_tell_the_use_of_a_way(page_of):
    told = json.loads(page_of(f"{GRAPH}&format=json"))["acls"]

    assert {(row["use"], row["requests"]) for row in told} == {("cannot-tell", None)}
    assert 'data-tone="unused" stroke-width="1.2" d="M250' not in page_of(GRAPH)


def test_many_principals_with_the_same_acls_are_one_box(cluster):
    rules = [allow(f"User:u{number}", "READ", "orders.", pattern="PREFIXED") for number in range(40)]
    rules.append(allow("User:one", "READ", "orders.eu"))

    found = drawn(cluster, [(rule, Use(binding_key(rule), "unused")) for rule in rules])

    assert [node.text for node in found.nodes if node.kind in ("group", "principal")] == [
        "40 principals",
        "User:one",
    ]
    assert len(found.lines) == 2 + 2


def test_a_graph_has_at_most_two_hundred_boxes_and_says_what_it_leaves_out(page_of, cluster):
    rules = [allow(f"User:u{number}", "READ", "orders.eu", host=f"10.0.{number}.1") for number in range(250)]
    sync(cluster, client=FakeCluster(rules))

    page = page_of(GRAPH)

    assert len(boxes(page)) <= 200
    assert f"The first {MOST_ACLS} are drawn" in page
    assert json.loads(page_of(f"{GRAPH}&format=json"))["whole"] is False


def test_the_page_of_a_topic_leads_to_its_graph_which_takes_few_queries(
    page_of, cho, signed_in, django_assert_max_num_queries
):
    assert "/c/test-eu/graph/?type=TOPIC&amp;name=orders.eu" in page_of(
        "/c/test-eu/topics/orders.eu?tab=acls"
    )
    client = signed_in(cho)
    client.get(GRAPH)

    with django_assert_max_num_queries(12):
        client.get(GRAPH)


@pytest.mark.parametrize("asked", ["", "type=TOPIC", "type=ODD&name=x", "type=ANY&name=x"])
def test_what_is_no_resource_has_no_graph(asked, page_of, cho, signed_in):
    assert signed_in(cho).get(f"/c/test-eu/graph/?{asked}").status_code == 404


def view_of(cluster, *rules, topics=("orders.eu",), **columns):
    for name, value in columns.items():
        setattr(cluster, name, value)
    cluster.save()
    sync(cluster, client=FakeCluster(list(rules), topics=list(topics)))
    cluster.refresh_from_db()
    return in_force(cluster)


def told_of(view):
    return {each.operation: each for each in who_can(view, Resource(ResourceType.TOPIC, "orders.eu"))}


def test_counts_are_those_of_the_page_of_the_topic(page_of, cluster):
    found = told_of(in_force(cluster))
    rows = topic_access(cluster, ResourceType.TOPIC, "orders.eu").rows

    for operation, each in found.items():
        able = [
            row.principal
            for row in rows
            if row.kind == "principal"
            and not row.is_super_user
            and row.verdict(operation).is_allowed_somewhere
        ]
        assert (each.able.count, each.able.any_user) == (len(able), ""), operation
    told = {row["operation"]: row for row in json.loads(page_of(f"{GRAPH}&format=json"))["operations"]}
    assert told["READ"]["principals"] == 3
    assert told["WRITE"] == {
        "operation": "WRITE",
        "principals": 0,
        "any_user": "",
        "perhaps_more": False,
        "through_cluster": 0,
        "perhaps_more_through_cluster": False,
    }


def test_the_table_below_has_the_counts_of_the_boxes(page_of):
    table = unescape(page_of(GRAPH).split('id="able-title"')[1].split("</table>")[0])

    rows = [re.sub("<[^>]*>", "|", row) for row in table.split("<tr>")[2:]]
    told = [tuple(filter(None, (cell.strip() for cell in row.split("|"))))[:2] for row in rows]
    assert ("Write", "nobody") in told
    assert ("Read", "3 can") in told
    assert len(told) == 8


def test_any_user_and_super_users_are_no_number(cluster):
    view = view_of(
        cluster,
        allow("User:*", "READ", "orders.eu"),
        allow("User:admin", "WRITE", "orders.eu"),
        super_users="User:admin",
    )

    found = told_of(view)

    assert found[Operation.READ].words == found[Operation.READ].caption == "any user"
    assert found[Operation.READ].as_dict()["principals"] is None
    assert found[Operation.WRITE].words == "nobody"


def test_who_may_through_the_cluster_is_told_beside_the_topics_own(cluster):
    on_cluster = {"resource_type": "CLUSTER"}
    view = view_of(
        cluster,
        allow("User:bob", "READ", "orders.eu"),
        allow("User:dev", "CREATE", "kafka-cluster", **on_cluster),
        allow("User:admin", "CREATE", "kafka-cluster", **on_cluster),
        super_users="User:admin",
    )

    create = told_of(view)[Operation.CREATE]

    assert (create.words, create.caption) == ("nobody", "1 by cluster")
    assert create.sentence == "1 through a right on the cluster"


def test_nobody_is_not_said_where_the_cluster_allows_everyone(cluster):
    acl = allow("User:bob", "READ", "orders.eu")

    opened = told_of(view_of(cluster, acl, allow_everyone=True))[Operation.DELETE]
    undeclared = told_of(view_of(cluster, acl, allow_everyone=None))[Operation.DELETE]
    closed = told_of(view_of(cluster, acl, allow_everyone=False))[Operation.DELETE]

    assert (opened.caption, opened.as_dict()["through_cluster"]) == ("any user by cluster", None)
    assert (undeclared.caption, undeclared.as_dict()["perhaps_more_through_cluster"]) == ("cannot tell", True)
    assert undeclared.sentence == "perhaps others through a right on the cluster"
    assert (closed.caption, closed.sentence) == ("nobody", "")


def test_what_depends_on_an_unknown_acl_is_no_number():
    unsure = WhoCan(Operation.READ, Able(0, "", True))
    some = WhoCan(Operation.READ, Able(2, "", True), None)

    assert (unsure.words, unsure.caption) == ("cannot tell", "cannot tell")
    assert unsure.as_dict()["principals"] is None
    assert (some.words, some.caption) == ("2 or more can", "2 or more can, any user by cluster")


def test_who_can_by_the_topic_and_by_the_cluster_is_in_two_counts(page_of, cluster):
    dev = allow("User:dev", "CREATE", "kafka-cluster", resource_type="CLUSTER")
    create = told_of(view_of(cluster, allow("User:dev", "CREATE", "orders.eu"), dev))[Operation.CREATE]

    assert create.caption == "1 can, 1 by cluster"
    page = page_of(GRAPH)
    assert ("operation", "Create: 1 can; 1 through a right on the cluster") in boxes(page)
    assert '<th scope="col">Through the cluster</th>' in page
