"""Which clients talk to prod-eu, from where, and how busily?

A stanza a client: its principal, its rhythm and how many requests it makes on an ordinary
weekday; then where it asks from, the topics it produces and consumes, its consumer group and
its transactional ids. Some ask for what they have no right to, as happens in every company.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from aclweb.acl.model import CLUSTER_NAME, Operation, ResourceType


@dataclass(frozen=True, slots=True)
class Call:
    """One kind of request: what the broker is asked to authorize, for which protocol request, how often."""

    operation: Operation
    resource_type: ResourceType
    name: str | None  # None: "any resource of the type", as InitProducerId asks
    api: str
    weight: int
    counted: int = 1  # resourceRefCount of the line


@dataclass(frozen=True, slots=True)
class Client:
    """A program that talks to the brokers; `days` are those on which it runs, 0 the first of the log."""

    principal: str
    hosts: tuple[str, ...]
    calls: tuple[Call, ...]
    rhythm: str
    requests_a_day: int
    days: range


CLIENTS = """
User:checkout-api | shop 450
    from 10.20.4.11 10.20.4.12 10.20.4.13
    produces payments.orders.v1 orders.created.v2 payments-eu.checkout.v1
    consumes payments.settlements.v1
    group checkout-api
User:payment-gateway | shop 340
    from 10.20.4.21 10.20.4.22
    produces payments.orders.v1 payments.settlements.v1 payments.cards.tokens.v1
    transactions payment-gateway-1 payment-gateway-2
User:ledger-svc | shop 260
    from 10.20.4.31
    produces payments.ledger.v1
    consumes payments.orders.v1 payments.refunds.v1
    group ledger
    transactions ledger-0 ledger-1
User:billing-svc | office 140
    from 10.20.6.21
    consumes payments.orders.v1 payments.invoices.v1
    group billing
User:invoice-writer | office 120
    from 10.20.6.24
    produces payments.invoices.v1 mail.outbox.v1
    consumes payments.orders.v1
    group invoice-writer
User:refund-worker | office 100
    from 10.20.4.41
    produces payments.refunds.v1
    consumes orders.returns.v1
    group refund-worker
User:payout-batch | night 70
    from 10.20.4.45
    produces payments.payouts.v1
    consumes payments.ledger.v1
    group payout-batch
    transactions payout-batch
User:CN=psp-bridge,OU=payments,O=Nordhavn,C=SE | steady 110
    from 10.20.12.5
    produces payments.settlements.v1
    consumes payments.payouts.v1
    group psp-bridge
User:CN=fraud-detector,OU=risk,O=Nordhavn | shop 290
    from 10.20.8.4 10.20.8.5
    produces payments.fraud-scores.v1
    consumes payments.orders.v1
    group fraud-detector
User:CN=fraud-trainer,OU=risk,O=Nordhavn | night 60
    from 10.20.8.9
    consumes payments.fraud-scores.v1 orders.created.v2 orders.returns.v1
    group fraud-trainer
User:orders-api | shop 340
    from 10.20.4.51 10.20.4.52
    produces orders.created.v2 orders.cancelled.v1
    consumes orders.status.v1
    group orders-api.web
User:orders-stream | shop 420
    from 10.20.5.61 10.20.5.62
    produces orders.status.v1 orders-stream-basket-store-changelog orders-stream-by-customer-repartition
    consumes orders.created.v2 orders.cancelled.v1 warehouse.shipments.v1
    consumes orders-stream-by-customer-repartition
    group orders-stream
    transactions orders-stream-0 orders-stream-1 orders-stream-2
User:returns-portal | shop 100
    from 10.20.4.58
    produces orders.returns.v1
    consumes orders.status.v1 orders.created.v2
    group returns-portal
User:warehouse-sync | steady 260
    from 10.20.7.11
    produces warehouse.stock-levels.v2 warehouse.stock-levels.v1
    consumes warehouse.picks.v1 warehouse.shipments.v1 warehouse.inbound.v1
    group warehouse-sync
User:stock-keeper | shop 220
    from 10.20.7.12
    produces warehouse.picks.v1
    consumes warehouse.stock-levels.v2 warehouse.inbound.v1 orders.created.v2
    group stock-keeper
User:picker-app | office 140
    from 10.20.7.41 10.20.7.42
    produces warehouse.dlq
    consumes warehouse.picks.v1
    group picker-app
User:carrier-bridge | office 100
    from 10.20.7.21
    produces warehouse.carriers.v1
    consumes warehouse.shipments.v1
    group carrier-bridge
User:CN=wms-gateway,OU=warehouse,O=Nordhavn,L=Malmö | office 150
    from 10.20.7.30
    produces warehouse.inbound.v1 warehouse.shipments.v1
    consumes warehouse.picks.v1
    group wms-gateway
User:search-api | shop 380
    from 10.20.5.11 10.20.5.12 10.20.5.13
    produces search.queries.v1 search.clicks.v1
    consumes search.suggestions.v1
    group search-api-1
User:search-indexer | steady 190
    from 10.20.5.20
    produces search.index-updates.v1
    consumes catalog.products.v3 catalog.prices.v2 catalog.categories.v1
    group search-indexer
User:search-ranker | shop 250
    from 10.20.5.24
    produces search.suggestions.v1 search-ranker-clicks-store-changelog
    consumes search.queries.v1 search.clicks.v1 search-ranker-scores-repartition
    group search-ranker
User:catalog-editor | office 70
    from 10.20.9.61
    produces catalog.products.v3 catalog.categories.v1 catalog.images.v1
User:price-engine | steady 140
    from 10.20.5.31
    produces catalog.prices.v2
    consumes catalog.products.v3 warehouse.stock-levels.v2
    group price-engine
User:image-resizer | office 60
    from 10.20.5.35
    produces catalog.images.v1
    consumes catalog.images.v1
    group catalog-images
User:web-frontend | shop 610
    from 10.20.3.11 10.20.3.12 10.20.3.13 10.20.3.14
    produces web.page-views.v1 web.sessions.v1 web.consents.v1
    consumes catalog.prices.v2
    group web-frontend-1
User:basket-svc | shop 210
    from 10.20.3.31
    produces web.baskets.v1
    consumes web.baskets.v1
    group basket-svc
User:profile-svc | shop 110
    from 10.20.3.35
    produces customers.profiles.v1 customers.addresses.v1
    consumes customers.profiles.v1
    group profile-merge
User:consent-keeper | shop 60
    from 10.20.3.37
    produces customers.consents.v1
    consumes web.consents.v1
    group consent-keeper
User:loyalty-svc | shop 120
    from 10.20.3.41
    produces customers.loyalty.v1
    consumes orders.created.v2 orders.returns.v1
    group loyalty
User:mail-sender | office 90
    from 10.20.6.40
    produces mail.bounces.v1
    consumes mail.outbox.v1
    group mail-sender
User:data-platform | steady 330
    from 10.20.9.10 10.20.9.11
    produces data.events-raw.v1 data.events-clean.v1
    consumes orders.created.v2 web.page-views.v1 search.queries.v1 data.events-raw.v1
    group data-platform-clean
User:dwh-loader | night 90
    from 10.20.9.20
    consumes data.dwh-orders.v1 data.events-clean.v1
    group dwh-loader
User:CN=feature-store,OU=data,O=Nordhavn | steady 100
    from 10.20.9.31
    produces data.features.v1
    consumes data.events-clean.v1
    group feature-store
User:connect-cluster | steady 240
    from 10.20.9.41 10.20.9.42
    produces connect-offsets connect-status data.dwh-orders.v1
    consumes orders.created.v2 payments.orders.v1 warehouse.shipments.v1 connect-configs
    group connect-dwh-sink
User:schema-registry | steady 50
    from 10.20.9.50
    produces _schemas
    consumes _schemas
    group schema-registry
User:analyst-notebooks | office 50
    from 10.40.3.17 10.40.3.22
    consumes data.events-clean.v1 data.features.v1
    group notebook-anna
User:data-explorer | office 40
    from 10.20.9.70
    consumes orders.created.v2 catalog.products.v3
    group explorer-1
User:mirror-maker | steady 150
    from 10.30.1.5
    produces mm2-offset-syncs.dc-north.internal dc-north.heartbeats
    consumes orders.created.v2 warehouse.shipments.v1
    group mm2-dc-north
User:metrics-agent | steady 60
    from 10.20.1.9
    produces ops.metrics.v1
User:ops-probe | steady 40
    from 10.20.1.12
    produces ops.alerts.v1
    consumes ops.alerts.v1
    group ops-alerts
User:log-shipper | steady 40
    from 10.20.1.15
    produces ops.audit.v1
"""

# Producers that number their batches and have the right to do so on the cluster.
IDEMPOTENT = ("User:checkout-api", "User:payment-gateway", "User:connect-cluster")

# What else is asked for: principal, hosts, operation, resource, protocol request, rhythm, requests a
# day, and on which days of the log (`4-` from the fifth day on; nothing for all of them).
ODD_CALLS = """
User:CN=fraud-detector,OU=risk,O=Nordhavn | 10.20.8.4 | DESCRIBE TOPIC orders.created.v2 | Metadata | shop | 170 | 10-
User:billing-svc | 10.20.6.30 | DESCRIBE TOPIC payments.orders.v1 | Metadata | office | 36 | 12-
User:ledger-svc | 10.20.4.31 | DESCRIBE TOPIC payments.settlements.v1 | Metadata | steady | 4
User:ledger-svc | 10.20.4.31 | READ TOPIC payments.payouts.v1 | Fetch | night | 2 | 5-
User:loyalty-svc | 10.20.3.41 | DESCRIBE TRANSACTIONAL_ID loyalty-tx-0 | FindCoordinator | shop | 26 | 7-
User:ANONYMOUS | 10.20.1.77 | CLUSTER_ACTION CLUSTER kafka-cluster | Fetch | night | 1 | 6-
User:bi-export | 10.20.9.21 | READ TOPIC data.dwh-orders.v1 | Fetch | night | 20
User:bi-export | 10.20.9.21 | DESCRIBE TOPIC data.dwh-orders.v1 | Metadata | night | 12
User:bi-export | 10.20.9.21 | DESCRIBE GROUP bi-export-2 | FindCoordinator | night | 12 | 3-
User:mirror-maker | 10.30.1.5 | DELETE TOPIC orders.dlq | DeleteTopics | office | 1 | 2-
User:picker-app | 10.20.7.43 | READ TOPIC warehouse.picks.v1 | Fetch | office | 3 | 8-
User:data-explorer | 10.20.9.70 | READ TOPIC payments.orders.v1 | Fetch | office | 6
User:data-explorer | 10.20.9.70 | DESCRIBE TOPIC payments.cards.tokens.v1 | Metadata | office | 5
User:analyst-notebooks | 10.40.3.17 10.40.3.22 | READ TOPIC customers.profiles.v1 | Fetch | office | 9 | 1-
User:search-api | 10.20.5.11 | READ TOPIC catalog.products.v3 | Fetch | shop | 14
User:search-api | 10.20.5.12 | WRITE TOPIC - | InitProducerId | shop | 3
User:search-indexer | 10.20.5.20 | READ TOPIC catalog.images.v1 | Fetch | steady | 10 | 4-
User:ops-probe | 0:0:0:0:0:0:0:1 | DESCRIBE CLUSTER kafka-cluster | DescribeAcls | steady | 8
User:backup-agent | 10.20.1.30 | READ TOPIC payments.ledger.v1 | Fetch | night | 5
User:backup-agent | 10.20.1.30 | READ TOPIC orders.created.v2 | Fetch | night | 5
User:backup-agent | 10.20.1.30 | READ TOPIC _schemas | Fetch | night | 3
User:platform-tools | 10.20.1.40 | DESCRIBE_CONFIGS TOPIC orders.created.v2 | DescribeConfigs | office | 16
User:platform-tools | 10.20.1.40 | WRITE TOPIC payments.dlq | Produce | office | 1 | 9-
User:mail-sender | 10.20.6.40 | READ TOPIC customers.consents.v1 | Fetch | office | 18 | 11-
User:jlund | 10.40.2.8 | READ TOPIC orders.created.v2 | Fetch | office | 11 | 0-8
User:aclweb | 10.20.1.50 | DESCRIBE CLUSTER kafka-cluster | DescribeAcls | steady | 48
User:metrics-agent | 10.20.1.9 | DESCRIBE CLUSTER kafka-cluster | ListGroups | steady | 48
User:kafka-admin | 10.20.1.2 | ALTER CLUSTER kafka-cluster | CreateAcls | office | 5
User:kafka-admin | 10.20.1.2 | DESCRIBE CLUSTER kafka-cluster | DescribeAcls | office | 9
User:CN=kafka-broker,OU=platform,O=Nordhavn | 10.20.2.1 | CLUSTER_ACTION CLUSTER kafka-cluster | Fetch | steady | 99
User:CN=kafka-broker,OU=platform,O=Nordhavn | 10.20.2.2 | CLUSTER_ACTION CLUSTER kafka-cluster | Fetch | steady | 24
"""


def clients(*, days: int, topics: tuple[str, ...]) -> tuple[Client, ...]:
    """Return every client of a log of so many days; the metrics agent also looks at each of `topics`."""
    watch = tuple(Call(Operation.DESCRIBE, ResourceType.TOPIC, topic, "Metadata", 1) for topic in topics)
    agent = Client("User:metrics-agent", ("10.20.1.9",), watch, "steady", 400, range(days))
    odd = [_odd_client(line, days) for line in ODD_CALLS.splitlines() if line]
    return (*_stanzas(days), *odd, agent)


def _stanzas(days: int) -> Iterator[Client]:
    heads: list[tuple[str, dict[str, list[str]]]] = []
    for line in CLIENTS.splitlines():
        if line.startswith(" "):
            word, *names = line.split()
            heads[-1][1].setdefault(word, []).extend(names)
        elif line:
            heads.append((line, {}))
    for head, parts in heads:
        principal, busy = head.split(" | ")
        rhythm, requests = busy.split()
        calls = tuple(_calls(principal, parts))
        yield Client(principal, tuple(parts["from"]), calls, rhythm, int(requests), range(days))


def _calls(principal: str, parts: dict[str, list[str]]) -> Iterator[Call]:
    for position, name in enumerate(parts.get("produces", ())):
        yield Call(Operation.WRITE, ResourceType.TOPIC, name, "Produce", 12, 1 + position % 3)
        yield Call(Operation.DESCRIBE, ResourceType.TOPIC, name, "Metadata", 2)
    for position, name in enumerate(parts.get("consumes", ())):
        yield Call(Operation.READ, ResourceType.TOPIC, name, "Fetch", 12, 1 + position % 3)
        yield Call(Operation.READ, ResourceType.TOPIC, name, "OffsetCommit", 3)
        yield Call(Operation.DESCRIBE, ResourceType.TOPIC, name, "Metadata", 2)
        yield Call(Operation.DESCRIBE, ResourceType.TOPIC, name, "ListOffsets", 1)
    for name in parts.get("group", ()):
        yield Call(Operation.READ, ResourceType.GROUP, name, "Heartbeat", 6)
        yield Call(Operation.READ, ResourceType.GROUP, name, "JoinGroup", 1)
        yield Call(Operation.READ, ResourceType.GROUP, name, "OffsetCommit", 3)
        yield Call(Operation.DESCRIBE, ResourceType.GROUP, name, "FindCoordinator", 1)
        yield Call(Operation.DESCRIBE, ResourceType.GROUP, name, "OffsetFetch", 1)
    for name in parts.get("transactions", ()):
        yield Call(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, name, "EndTxn", 2)
        yield Call(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, name, "InitProducerId", 1)
        yield Call(Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, name, "FindCoordinator", 1)
    if principal in IDEMPOTENT:
        yield Call(Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER, CLUSTER_NAME, "InitProducerId", 1)


def _odd_client(line: str, days: int) -> Client:
    principal, hosts, asked, api, rhythm, requests, *spans = line.split(" | ")
    operation, resource_type, name = asked.split(" ", 2)
    by_type = name == "-"
    call = Call(
        operation=Operation.parse(operation),
        resource_type=ResourceType.parse(resource_type),
        name=None if by_type else name,
        api=api,
        weight=1,
        counted=0 if by_type else 1,
    )
    first, _, last = (spans[0] if spans else "0-").partition("-")
    running = range(int(first), int(last) if last else days)
    return Client(principal, tuple(hosts.split()), (call,), rhythm, int(requests), running)
