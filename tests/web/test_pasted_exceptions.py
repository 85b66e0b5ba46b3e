"""A client's exception fills in what it names, says what it leaves open, and guesses nothing."""

from __future__ import annotations

import re
from html import unescape

import pytest

from aclweb.accounts.models import Grant, Role
from aclweb.acl.model import ResourceType
from aclweb.acl.needs import ERRORS
from aclweb.clusters import TopicInfo
from aclweb.inventory.sync.run import sync
from aclweb.web.ask.client_error import of_query, read
from tests.builders import allow
from tests.inventory.answering_cluster import Answers

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
TRANSACTION = ResourceType.TRANSACTIONAL_ID

JAVA_TRACE = """\
Exception in thread "main" java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.\
TopicAuthorizationException: Not authorized to access topics: [orders.eu]
\tat org.apache.kafka.clients.producer.KafkaProducer$FutureFailure.<init>(KafkaProducer.java:1519)
\tat shop.Orders.main(Orders.java:31)
Caused by: org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [orders.eu]
"""
JAVA_LOG = """\
[2026-11-14 11:51:14,700] WARN [Consumer clientId=c-1, groupId=bill] The metadata response from the cluster reported a \
recoverable issue with correlation id 2 : {orders.eu=TOPIC_AUTHORIZATION_FAILED} (org.apache.kafka.clients.Network\
Client)
[2026-11-14 11:51:14,701] ERROR [Consumer clientId=c-1, groupId=bill] Topic authorization failed for topics \
[orders.eu] (org.apache.kafka.clients.Metadata)
"""
PRODUCER_LOG = """\
[2026-11-14 07:56:38,264] ERROR Error when sending message to topic orders.eu with key: null, value: 36 bytes with \
error: (org.apache.kafka.clients.producer.internals.ErrorLoggingCallback)
org.apache.kafka.common.errors.TopicAuthorizationException: Topic authorization failed.
"""
TRANSACTIONAL_LOG = """\
[2026-11-14 07:56:38,264] ERROR [Producer clientId=producer-tx-1, transactionalId=tx 1] Transiting to fatal error state
org.apache.kafka.common.errors.TransactionalIdAuthorizationException: Transactional Id authorization failed.
"""
REPORTS = [
    (JAVA_TRACE, TOPIC, "orders.eu"),
    (JAVA_LOG, TOPIC, "orders.eu"),
    (PRODUCER_LOG, TOPIC, "orders.eu"),
    (
        "org.apache.kafka.common.errors.TopicAuthorizationException: "
        "Not authorized to access topics: [Topic authorization failed.]",
        TOPIC,
        "",
    ),
    ("WARN [Consumer clientId=c, groupId=g] Not authorized to read from partition orders-eu-7.", TOPIC, "orders-eu"),
    ("kafka.common.errors.GroupAuthorizationException: Not authorized to access group: my bill", GROUP, "my bill"),
    ('{"error_code":40301,"message":"Not authorized to access group: bill"}', GROUP, "bill"),
    (
        "[Consumer clientId=c, groupId=bill] Offset commit failed on partition orders-4 at offset 29: "
        "Group authorization failed.",
        GROUP,
        "bill",
    ),
    (TRANSACTIONAL_LOG, TRANSACTION, "tx 1"),
    ("org.apache.kafka.common.errors.ClusterAuthorizationException: Cluster authorization failed.", CLUSTER, ""),
    ('KafkaError{code=TOPIC_AUTHORIZATION_FAILED,val=29,str="Broker: Topic authorization failed"}', TOPIC, ""),
    (
        'KafkaError{code=TOPIC_AUTHORIZATION_FAILED,val=29,str="Subscribed topic not available: orders.eu: '
        'Broker: Topic authorization failed"}',
        TOPIC,
        "orders.eu",
    ),
    (
        "%7|1564581942.111|METADATA|rdkafka#producer-1| [thrd:main]: ssl://10.233.71.79:9093/bootstrap:   "
        "Topic #0/1: orders.eu with 0 partitions: Broker: Topic authorization failed",
        TOPIC,
        "orders.eu",
    ),
    ('KafkaError{code=GROUP_AUTHORIZATION_FAILED,val=30,str="FindCoordinator response error: Group auth"}', GROUP, ""),
    (
        '%7|1|CGRPCOORD|rdkafka#consumer-1| Group "bill" FindCoordinator response error: GROUP_AUTHORIZATION_FAILED',
        GROUP,
        "bill",
    ),
    (
        "(KafkaError (Message production error: TopicAuthorizationFailed (Broker: Topic authorization failed)), "
        'FutureRecord { topic: "orders.eu", partition: None',
        TOPIC,
        "orders.eu",
    ),
    ("TopicAuthorizationFailedError: [Error 29] TopicAuthorizationFailedError: orders.eu", TOPIC, "orders.eu"),
    ("TopicAuthorizationFailedError: [Error 29] TopicAuthorizationFailedError: {'orders.eu'}", TOPIC, "orders.eu"),
    ("[Error 29] TopicAuthorizationFailedError: {'c', 's', 't', 'n', '-'}", TOPIC, ""),
    ("[Error 30] GroupAuthorizationFailedError: bill", GROUP, "bill"),
    ("ERROR:kafka.cluster:Topic orders.eu is not authorized for this client", TOPIC, "orders.eu"),
    ("kafka server: The client is not authorized to access this topic.", TOPIC, ""),
    ("kafka server: The client is not authorized to access this group", GROUP, ""),
    ("kafka server: The client is not authorized to send this request type", CLUSTER, ""),
    ("TOPIC_AUTHORIZATION_FAILED: Not authorized to access topics: [Topic authorization failed.]", TOPIC, ""),
    ("[30] Group Authorization Failed: the client is not authorized to access a particular group id", GROUP, ""),
    ("KafkaJSProtocolError: Not authorized to access group: Group authorization failed", GROUP, ""),
    ("DELEGATION_TOKEN_OWNER_MISMATCH", None, ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "name"), REPORTS)
def test_an_exception_of_any_client_gives_the_resource_that_it_names(text, kind, name):
    found = read(text)

    assert found is not None
    assert (found.kind, found.name) == (kind, name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "java.lang.NullPointerException",
        "org.apache.kafka.common.errors.TimeoutException: Topic orders.eu not present in metadata after 60000 ms.",
        "SaslAuthenticationException: Authentication failed: Invalid username or password",
        "Subscribed topic not available: orders.eu: Broker: Unknown topic or partition",
        "This user is not authorized to access the orders page",
    ],
)
def test_another_error_is_no_refusal(text):
    assert read(text) is None


def test_several_refusals_are_counted_and_the_first_is_taken():
    found = read(
        "Not authorized to access topics: [orders.eu, orders.us]\nNot authorized to access group: bill\n"
    )

    assert (found.error.name, found.name, found.more) == ("TOPIC_AUTHORIZATION_FAILED", "orders.eu", 2)
    assert "2 other errors or names" in found.doubt


def test_what_is_read_returns_from_its_address():
    for text, *_ in REPORTS:
        found = read(text)
        query = dict(re.findall(r"(\w+)=([^&]*)", found.query))
        query = {key: value.replace("+", " ") for key, value in query.items()}

        assert of_query(query) == found


def test_every_error_by_which_kafka_refuses_is_known():
    for name in ERRORS:
        assert read(f"failed: {name}").error == ERRORS[name]


@pytest.fixture
def browser(cluster, ada, signed_in):
    acls = [allow("User:bob", "READ", "orders.eu"), allow("User:bob", "READ", "bill", resource_type="GROUP")]
    sync(cluster, client=Answers(acls, topics=[TopicInfo("orders.eu")], groups=["bill"]))
    return signed_in(ada)


def pasted(browser, text):
    return browser.post("/c/test-eu/explain/line/", {"line": text}, follow=True)


def plain(page) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", "", page.content.decode())).split())


def test_the_form_opens_with_the_topic_and_says_what_is_missing(browser):
    page = pasted(browser, JAVA_TRACE)

    assert page.status_code == 200
    assert "answer" not in page.context
    form = page.context["form"]
    assert [form[name].value() for name in ("principal", "operation", "type", "name", "host")] == [
        None, "", "TOPIC", "orders.eu", None,
    ]  # fmt: skip
    assert "The client reports TOPIC_AUTHORIZATION_FAILED (29)." in plain(page)
    assert "It does not say who the client is or what it did: fill in both and press Ask." in plain(page)


def test_an_operation_that_nobody_chose_is_asked_for_at_its_field(browser):
    asked = {"principal": "User:bob", "operation": "", "type": "TOPIC", "name": "orders.eu", "host": ""}

    page = browser.get("/c/test-eu/explain/", asked)

    assert page.status_code == 422
    assert "Choose what the client did, such as Read." in plain(page)
    assert '<option value="" selected>' in page.content.decode()


def test_a_group_that_the_exception_does_not_name_is_asked_for(browser):
    page = pasted(browser, "kafka server: The client is not authorized to access this group")

    assert "It does not say who the client is, what it did, or which group" in plain(page)


def test_an_error_that_no_acl_changes_says_so_and_asks_nothing(browser):
    page = pasted(browser, "DELEGATION_TOKEN_OWNER_MISMATCH")

    assert "no ACL changes that" in plain(page)
    assert "press Ask" not in plain(page)


def test_a_whole_client_action_is_a_link_away_with_the_name_filled_in(browser):
    page = pasted(browser, "GroupAuthorizationException: Not authorized to access group: bill")
    (address,) = re.findall(r'href="(/c/test-eu/explain/client/\?choose[^"]+)"', page.content.decode())

    there = browser.get(unescape(address))

    assert there.context["form"]["group"].value() == "bill"
    assert "answer" not in there.context


def test_the_cluster_that_has_the_topic_is_offered_to_who_may_see_it(browser, ada, other_cluster):
    sync(other_cluster, client=Answers([], topics=[TopicInfo("carts")]))
    text = "TopicAuthorizationException: Not authorized to access topics: [carts]"
    assert "test-us" not in plain(pasted(browser, text))

    Grant.objects.create(user=ada, cluster=other_cluster, role=Role.VIEWER)
    page = pasted(browser, text)

    assert "test-eu has no such topic. Ask where it is: test-us." in plain(page)
    ((_, address),) = page.context["elsewhere"]
    assert browser.get(address).context["form"]["name"].value() == "carts"


def test_a_forged_address_fills_in_no_error_of_its_own(browser):
    page = browser.get("/c/test-eu/explain/", {"error": "CALL_555", "type": "TOPIC", "name": "orders.eu"})

    assert page.status_code == 200
    assert page.context["reported"] is None
