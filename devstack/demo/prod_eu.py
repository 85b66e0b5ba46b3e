"""The topics, groups and ACLs of prod-eu, the ZooKeeper cluster that runs the shop.

Its ACLs grew over six years: tidy producers and consumers, a few prefixes, some denies,
rights on topics that are long gone, and the mistakes that people make. The mistakes are
marked, each with what is wrong about it.
"""

from __future__ import annotations

CLUSTER_ID = "nHv7Qk2WTb6y1pZr4sXc9A"
KAFKA_VERSION = "3.9"
SUPER_USERS = "User:kafka-admin;User:CN=kafka-broker,OU=platform,O=Nordhavn"
ALLOW_EVERYONE = False

# Name and number of partitions.
TOPICS = {
    "__consumer_offsets": 50,
    "__transaction_state": 50,
    "_schemas": 1,
    "catalog.categories.v1": 3,
    "catalog.images.v1": 6,
    "catalog.prices.v2": 12,
    "catalog.products.v3": 12,
    "connect-configs": 1,
    "connect-offsets": 25,
    "connect-status": 5,
    "customers.addresses.v1": 6,
    "customers.consents.v1": 6,
    "customers.loyalty.v1": 6,
    "customers.profiles.v1": 12,
    "data.dwh-orders.v1": 12,
    "data.events-clean.v1": 24,
    "data.events-raw.v1": 24,
    "data.features.v1": 12,
    "data.quality-alerts.v1": 3,
    "dc-north.heartbeats": 1,
    "dc-north.orders.created.v2": 12,
    "dc-north.warehouse.shipments.v1": 6,
    "mail.bounces.v1": 3,
    "mail.outbox.v1": 6,
    "mm2-offset-syncs.dc-north.internal": 1,
    "ops.alerts.v1": 3,
    "ops.audit.v1": 6,
    "ops.metrics.v1": 12,
    "orders.cancelled.v1": 6,
    "orders.created.v2": 24,
    "orders.dlq": 3,
    "orders.returns.v1": 6,
    "orders.status.v1": 12,
    "orders-stream-basket-store-changelog": 12,
    "orders-stream-by-customer-repartition": 12,
    "payments-eu.checkout.v1": 12,
    "payments-eu2.raw": 6,
    "payments-europe-test": 1,
    "payments.cards.tokens.v1": 12,
    "payments.dlq": 3,
    "payments.fraud-scores.v1": 12,
    "payments.invoices.v1": 6,
    "payments.ledger.v1": 12,
    "payments.orders.v1": 24,
    "payments.payouts.v1": 6,
    "payments.refunds.v1": 6,
    "payments.settlements.v1": 12,
    "search.clicks.v1": 12,
    "search.index-updates.v1": 12,
    "search.queries.v1": 24,
    "search.suggestions.v1": 6,
    "search-ranker-clicks-store-changelog": 12,
    "search-ranker-scores-repartition": 12,
    "warehouse.carriers.v1": 3,
    "warehouse.dlq": 3,
    "warehouse.inbound.v1": 6,
    "warehouse.picks.v1": 12,
    "warehouse.shipments.v1": 12,
    "warehouse.stock-levels.v1": 12,
    "warehouse.stock-levels.v2": 24,
    "web.baskets.v1": 12,
    "web.consents.v1": 6,
    "web.page-views.v1": 24,
    "web.sessions.v1": 12,
}

GROUPS = (
    "billing",
    "bi-export-2",
    "carrier-bridge",
    "catalog-images",
    "connect-dwh-sink",
    "connect-s3-archive",
    "dwh-loader",
    "data-platform-clean",
    "data-platform-quality",
    "feature-store",
    "fraud-detector",
    "fraud-trainer",
    "invoice-writer",
    "ledger",
    "loyalty",
    "mail-sender",
    "mm2-dc-north",
    "notebook-anna",
    "notebook-mikkel",
    "ops-alerts",
    "orders-stream",
    "payout-batch",
    "picker-app",
    "price-engine",
    "profile-merge",
    "psp-bridge",
    "refund-worker",
    "returns-portal",
    "search-indexer",
    "search-ranker",
    "stock-keeper",
    "warehouse-sync",
    "wms-gateway",
)

TRANSACTIONAL_IDS = (
    "ledger-0",
    "ledger-1",
    "orders-stream-0",
    "orders-stream-1",
    "orders-stream-2",
    "payment-gateway-1",
    "payment-gateway-2",
    "payout-batch",
)

ACLS = """
# --- Payments ---------------------------------------------------------------------------
ALLOW | User:checkout-api | WRITE DESCRIBE | TOPIC payments.orders.v1
ALLOW | User:checkout-api | READ | TOPIC payments.settlements.v1
ALLOW | User:checkout-api | READ | GROUP checkout-api
ALLOW | User:checkout-api | WRITE DESCRIBE | TOPIC orders.created.v2
ALLOW | User:checkout-api | IDEMPOTENT_WRITE | CLUSTER kafka-cluster
# Mistake: a prefix without a delimiter. It was meant for payments-eu. and reaches payments-europe-test too.
ALLOW | User:checkout-api | WRITE DESCRIBE CREATE | PREFIXED TOPIC payments-eu
ALLOW | User:payment-gateway | WRITE DESCRIBE | TOPIC payments.orders.v1
ALLOW | User:payment-gateway | WRITE DESCRIBE | TOPIC payments.settlements.v1
ALLOW | User:payment-gateway | WRITE DESCRIBE | TOPIC payments.cards.tokens.v1
ALLOW | User:payment-gateway | WRITE | TOPIC payments.dlq
ALLOW | User:payment-gateway | WRITE DESCRIBE | PREFIXED TRANSACTIONAL_ID payment-gateway-
ALLOW | User:payment-gateway | IDEMPOTENT_WRITE | CLUSTER kafka-cluster
ALLOW | User:ledger-svc | READ DESCRIBE | TOPIC payments.orders.v1
ALLOW | User:ledger-svc | READ DESCRIBE | TOPIC payments.refunds.v1
ALLOW | User:ledger-svc | WRITE DESCRIBE | TOPIC payments.ledger.v1
ALLOW | User:ledger-svc | READ | GROUP ledger
ALLOW | User:ledger-svc | WRITE DESCRIBE | PREFIXED TRANSACTIONAL_ID ledger-
# The ACL is for the old address of the billing host; since its move the service asks from 10.20.6.30.
ALLOW | User:billing-svc | READ DESCRIBE | TOPIC payments.orders.v1 | 10.20.6.21
ALLOW | User:billing-svc | READ DESCRIBE | TOPIC payments.invoices.v1
ALLOW | User:billing-svc | READ | GROUP billing
ALLOW | User:invoice-writer | READ | TOPIC payments.orders.v1
ALLOW | User:invoice-writer | WRITE | TOPIC payments.invoices.v1
ALLOW | User:invoice-writer | WRITE | TOPIC mail.outbox.v1
ALLOW | User:invoice-writer | READ | GROUP invoice-writer
ALLOW | User:refund-worker | READ | TOPIC orders.returns.v1
ALLOW | User:refund-worker | WRITE DESCRIBE | TOPIC payments.refunds.v1
ALLOW | User:refund-worker | WRITE | TOPIC payments.dlq
ALLOW | User:refund-worker | READ | GROUP refund-worker
ALLOW | User:payout-batch | READ | TOPIC payments.ledger.v1
ALLOW | User:payout-batch | WRITE | TOPIC payments.payouts.v1
ALLOW | User:payout-batch | READ | GROUP payout-batch
ALLOW | User:payout-batch | WRITE | TRANSACTIONAL_ID payout-batch
ALLOW | User:CN=psp-bridge,OU=payments,O=Nordhavn,C=SE | READ | TOPIC payments.payouts.v1
ALLOW | User:CN=psp-bridge,OU=payments,O=Nordhavn,C=SE | WRITE | TOPIC payments.settlements.v1
ALLOW | User:CN=psp-bridge,OU=payments,O=Nordhavn,C=SE | READ | GROUP psp-bridge
ALLOW | User:CN=fraud-detector,OU=risk,O=Nordhavn | READ | TOPIC payments.orders.v1
ALLOW | User:CN=fraud-detector,OU=risk,O=Nordhavn | WRITE DESCRIBE | TOPIC payments.fraud-scores.v1
ALLOW | User:CN=fraud-detector,OU=risk,O=Nordhavn | READ | GROUP fraud-detector
# Mistake: spaces after the commas. The certificate has none, and Kafka compares letter by letter.
ALLOW | User:CN=fraud-detector, OU=risk, O=Nordhavn | READ DESCRIBE | TOPIC orders.created.v2
ALLOW | User:CN=fraud-trainer,OU=risk,O=Nordhavn | READ | TOPIC payments.fraud-scores.v1
ALLOW | User:CN=fraud-trainer,OU=risk,O=Nordhavn | READ | PREFIXED TOPIC orders.
ALLOW | User:CN=fraud-trainer,OU=risk,O=Nordhavn | READ | GROUP fraud-trainer
# Card tokens are for the gateway alone, yet a DENY of READ leaves DESCRIBE open to whoever has it elsewhere.
DENY | User:data-explorer | READ | PREFIXED TOPIC payments.
DENY | User:connect-cluster | READ WRITE | TOPIC payments.cards.tokens.v1
DENY | User:analyst-notebooks | ALL | TOPIC payments.cards.tokens.v1
# --- Orders -----------------------------------------------------------------------------
ALLOW | User:orders-api | WRITE | TOPIC orders.created.v2
ALLOW | User:orders-api | WRITE | TOPIC orders.cancelled.v1
ALLOW | User:orders-api | READ | TOPIC orders.status.v1
ALLOW | User:orders-api | READ | PREFIXED GROUP orders-api.
ALLOW | User:orders-stream | READ | TOPIC orders.created.v2
ALLOW | User:orders-stream | READ | TOPIC orders.cancelled.v1
ALLOW | User:orders-stream | READ | TOPIC warehouse.shipments.v1
ALLOW | User:orders-stream | WRITE | TOPIC orders.status.v1
ALLOW | User:orders-stream | WRITE | TOPIC orders.dlq
ALLOW | User:orders-stream | ALL | PREFIXED TOPIC orders-stream-
ALLOW | User:orders-stream | READ | GROUP orders-stream
ALLOW | User:orders-stream | WRITE | PREFIXED TRANSACTIONAL_ID orders-stream-
ALLOW | User:returns-portal | WRITE | TOPIC orders.returns.v1
ALLOW | User:returns-portal | READ | TOPIC orders.status.v1
ALLOW | User:returns-portal | READ | TOPIC orders.created.v2
ALLOW | User:returns-portal | READ | GROUP returns-portal
# Topics that are gone: nobody took the rights along.
ALLOW | User:orders-api | WRITE | TOPIC orders.created.v1
ALLOW | User:ledger-svc | READ | TOPIC payments.orders.v0
ALLOW | User:loyalty-svc | READ | TOPIC legacy.orders
ALLOW | User:mail-sender | READ | TOPIC legacy.newsletter
ALLOW | User:warehouse-sync | WRITE | TOPIC warehouse.stock-levels.beta
ALLOW | User:crm-sync | READ DESCRIBE | PREFIXED TOPIC crm.
ALLOW | User:crm-sync | READ | GROUP crm-sync
# --- Warehouse --------------------------------------------------------------------------
ALLOW | User:warehouse-sync | READ | PREFIXED TOPIC warehouse.
# Redundant: the prefix above covers each of these.
ALLOW | User:warehouse-sync | READ | TOPIC warehouse.picks.v1
ALLOW | User:warehouse-sync | READ | TOPIC warehouse.shipments.v1
ALLOW | User:warehouse-sync | READ | TOPIC warehouse.carriers.v1
ALLOW | User:warehouse-sync | READ | TOPIC warehouse.inbound.v1
ALLOW | User:warehouse-sync | READ | GROUP warehouse-sync
ALLOW | User:warehouse-sync | WRITE | TOPIC warehouse.stock-levels.v2
ALLOW | User:warehouse-sync | WRITE | TOPIC warehouse.stock-levels.v1
ALLOW | User:stock-keeper | READ | TOPIC warehouse.stock-levels.v2
ALLOW | User:stock-keeper | READ | TOPIC warehouse.inbound.v1
ALLOW | User:stock-keeper | READ | TOPIC orders.created.v2
ALLOW | User:stock-keeper | WRITE | TOPIC warehouse.picks.v1
ALLOW | User:stock-keeper | READ | GROUP stock-keeper
ALLOW | User:picker-app | READ | TOPIC warehouse.picks.v1 | 10.20.7.41
ALLOW | User:picker-app | READ | TOPIC warehouse.picks.v1 | 10.20.7.42
ALLOW | User:picker-app | WRITE | TOPIC warehouse.dlq
ALLOW | User:picker-app | READ | GROUP picker-app
# One hand-held terminal was lost in spring and is still shut out.
DENY | User:picker-app | ALL | PREFIXED TOPIC warehouse. | 10.20.7.43
ALLOW | User:carrier-bridge | READ | TOPIC warehouse.shipments.v1
ALLOW | User:carrier-bridge | WRITE | TOPIC warehouse.carriers.v1
ALLOW | User:carrier-bridge | READ | GROUP carrier-bridge
ALLOW | User:CN=wms-gateway,OU=warehouse,O=Nordhavn,L=Malmö | WRITE | TOPIC warehouse.inbound.v1
ALLOW | User:CN=wms-gateway,OU=warehouse,O=Nordhavn,L=Malmö | WRITE | TOPIC warehouse.shipments.v1
ALLOW | User:CN=wms-gateway,OU=warehouse,O=Nordhavn,L=Malmö | READ | TOPIC warehouse.picks.v1
ALLOW | User:CN=wms-gateway,OU=warehouse,O=Nordhavn,L=Malmö | READ | GROUP wms-gateway
# Nobody may delete or change a warehouse topic but the super users.
DENY | User:* | DELETE ALTER ALTER_CONFIGS | PREFIXED TOPIC warehouse.
# --- Search and catalogue ---------------------------------------------------------------
ALLOW | User:search-api | WRITE | TOPIC search.queries.v1
ALLOW | User:search-api | WRITE | TOPIC search.clicks.v1
ALLOW | User:search-api | READ | TOPIC search.suggestions.v1
ALLOW | User:search-api | READ | PREFIXED GROUP search-api-
# Mistake: a host name. Kafka compares with addresses, so this ACL never matches.
ALLOW | User:search-indexer | READ | TOPIC catalog.images.v1 | search-01.nordhavn.internal
ALLOW | User:search-indexer | READ | TOPIC catalog.products.v3
ALLOW | User:search-indexer | READ | TOPIC catalog.prices.v2
ALLOW | User:search-indexer | READ | TOPIC catalog.categories.v1
ALLOW | User:search-indexer | WRITE | TOPIC search.index-updates.v1
ALLOW | User:search-indexer | READ | GROUP search-indexer
ALLOW | User:search-ranker | READ | PREFIXED TOPIC search.
ALLOW | User:search-ranker | WRITE | TOPIC search.suggestions.v1
ALLOW | User:search-ranker | ALL | PREFIXED TOPIC search-ranker-
ALLOW | User:search-ranker | ALL | PREFIXED GROUP search-ranker
# Mistake: the type of the principal in lower case. Kafka's is "User", so nobody has this right.
ALLOW | user:search-api | READ | TOPIC catalog.products.v3
ALLOW | User:catalog-editor | WRITE | TOPIC catalog.products.v3
ALLOW | User:catalog-editor | WRITE | TOPIC catalog.categories.v1
ALLOW | User:catalog-editor | WRITE | TOPIC catalog.images.v1
ALLOW | User:price-engine | READ | TOPIC catalog.products.v3
ALLOW | User:price-engine | READ | TOPIC warehouse.stock-levels.v2
ALLOW | User:price-engine | WRITE | TOPIC catalog.prices.v2
ALLOW | User:price-engine | READ | GROUP price-engine
ALLOW | User:image-resizer | READ WRITE | TOPIC catalog.images.v1
ALLOW | User:image-resizer | READ | GROUP catalog-images
ALLOW | User:* | DESCRIBE | PREFIXED TOPIC catalog.
# --- Web and customers ------------------------------------------------------------------
ALLOW | User:web-frontend | WRITE | PREFIXED TOPIC web.
ALLOW | User:web-frontend | WRITE | TOPIC web.page-views.v1
ALLOW | User:web-frontend | WRITE | TOPIC web.sessions.v1
ALLOW | User:web-frontend | READ | TOPIC catalog.prices.v2
ALLOW | User:web-frontend | READ | PREFIXED GROUP web-frontend-
ALLOW | User:basket-svc | READ WRITE | TOPIC web.baskets.v1
ALLOW | User:basket-svc | READ | GROUP basket-svc
ALLOW | User:profile-svc | READ WRITE | TOPIC customers.profiles.v1
ALLOW | User:profile-svc | READ WRITE | TOPIC customers.addresses.v1
ALLOW | User:profile-svc | READ | GROUP profile-merge
ALLOW | User:consent-keeper | READ | TOPIC web.consents.v1
ALLOW | User:consent-keeper | WRITE | TOPIC customers.consents.v1
ALLOW | User:consent-keeper | READ | PREFIXED GROUP consent
ALLOW | User:loyalty-svc | READ | TOPIC orders.created.v2
ALLOW | User:loyalty-svc | READ | TOPIC orders.returns.v1
ALLOW | User:loyalty-svc | READ WRITE | TOPIC customers.loyalty.v1
ALLOW | User:loyalty-svc | READ | GROUP loyalty
ALLOW | User:mail-sender | READ | TOPIC mail.outbox.v1
ALLOW | User:mail-sender | WRITE | TOPIC mail.bounces.v1
ALLOW | User:mail-sender | READ | GROUP mail-sender
# Mistake: a space after the colon. This is another principal than User:mail-sender.
ALLOW | User: mail-sender | READ | TOPIC customers.consents.v1
# --- Data platform ----------------------------------------------------------------------
ALLOW | User:data-platform | ALL | PREFIXED TOPIC data.
ALLOW | User:data-platform | READ | PREFIXED TOPIC orders.
ALLOW | User:data-platform | READ | PREFIXED TOPIC web.
ALLOW | User:data-platform | READ | PREFIXED TOPIC search.
ALLOW | User:data-platform | READ DESCRIBE DELETE | PREFIXED GROUP data-platform-
ALLOW | User:dwh-loader | READ | TOPIC data.dwh-orders.v1
ALLOW | User:dwh-loader | READ | TOPIC data.events-clean.v1
ALLOW | User:dwh-loader | READ | GROUP dwh-loader
# Mistake: the right on the topic is there, the one on its group bi-export-2 is missing.
ALLOW | User:bi-export | READ | TOPIC data.dwh-orders.v1
ALLOW | User:bi-export | READ | GROUP bi-export
ALLOW | User:data-explorer | READ DESCRIBE | TOPIC *
ALLOW | User:data-explorer | READ | PREFIXED GROUP explorer-
ALLOW | User:CN=feature-store,OU=data,O=Nordhavn | READ | TOPIC data.events-clean.v1
ALLOW | User:CN=feature-store,OU=data,O=Nordhavn | READ WRITE | TOPIC data.features.v1
ALLOW | User:CN=feature-store,OU=data,O=Nordhavn | READ | GROUP feature-store
ALLOW | User:connect-cluster | READ WRITE CREATE | PREFIXED TOPIC connect-
ALLOW | User:connect-cluster | READ | PREFIXED TOPIC orders.
ALLOW | User:connect-cluster | READ | PREFIXED TOPIC payments.
ALLOW | User:connect-cluster | READ | PREFIXED TOPIC warehouse.
ALLOW | User:connect-cluster | WRITE | TOPIC data.dwh-orders.v1
ALLOW | User:connect-cluster | READ | PREFIXED GROUP connect-
ALLOW | User:connect-cluster | IDEMPOTENT_WRITE | CLUSTER kafka-cluster
ALLOW | User:schema-registry | READ WRITE DESCRIBE DESCRIBE_CONFIGS | TOPIC _schemas
ALLOW | User:schema-registry | READ | GROUP schema-registry
ALLOW | User:schema-registry | DESCRIBE | TOPIC __consumer_offsets
# A range of addresses: Kafka 3.9 compares it as text, so it counts for nobody until brokers run 4.4.
ALLOW | User:analyst-notebooks | READ | PREFIXED TOPIC customers. | 10.40.0.0/16
ALLOW | User:analyst-notebooks | READ | TOPIC data.events-clean.v1
ALLOW | User:analyst-notebooks | READ | TOPIC data.features.v1
ALLOW | User:analyst-notebooks | READ | PREFIXED GROUP notebook-
# --- Mirroring to the northern data centre ----------------------------------------------
ALLOW | User:mirror-maker | READ DESCRIBE DESCRIBE_CONFIGS | TOPIC orders.created.v2
ALLOW | User:mirror-maker | READ DESCRIBE DESCRIBE_CONFIGS | TOPIC warehouse.shipments.v1
ALLOW | User:mirror-maker | READ WRITE CREATE | PREFIXED TOPIC mm2-
ALLOW | User:mirror-maker | READ WRITE CREATE | PREFIXED TOPIC dc-north.
ALLOW | User:mirror-maker | READ | PREFIXED GROUP mm2-
ALLOW | User:mirror-maker | DESCRIBE | CLUSTER kafka-cluster
# The mirror must never write into or delete what is ours.
DENY | User:mirror-maker | WRITE DELETE | PREFIXED TOPIC orders.
DENY | User:mirror-maker | WRITE DELETE | PREFIXED TOPIC warehouse.
# --- Platform and operations ------------------------------------------------------------
ALLOW | User:platform-tools | ALL | TOPIC *
ALLOW | User:platform-tools | DESCRIBE DELETE | GROUP *
ALLOW | User:platform-tools | DESCRIBE CREATE ALTER_CONFIGS DESCRIBE_CONFIGS | CLUSTER kafka-cluster
# The tools may look everywhere and write nowhere near money.
DENY | User:platform-tools | WRITE | PREFIXED TOPIC payments.
DENY | User:platform-tools | DELETE | TOPIC payments.ledger.v1
ALLOW | User:metrics-agent | DESCRIBE | TOPIC *
ALLOW | User:metrics-agent | DESCRIBE | GROUP *
ALLOW | User:metrics-agent | DESCRIBE DESCRIBE_CONFIGS | CLUSTER kafka-cluster
ALLOW | User:metrics-agent | WRITE | TOPIC ops.metrics.v1
ALLOW | User:ops-probe | READ WRITE | TOPIC ops.alerts.v1
ALLOW | User:ops-probe | READ | GROUP ops-alerts
# Mistake: an IPv6 address as people write it. Java writes 0:0:0:0:0:0:0:1, so this never counts.
ALLOW | User:ops-probe | DESCRIBE | CLUSTER kafka-cluster | ::1
ALLOW | User:log-shipper | WRITE | TOPIC ops.audit.v1
ALLOW | User:aclweb | DESCRIBE ALTER | CLUSTER kafka-cluster
ALLOW | User:aclweb | DESCRIBE | TOPIC *
ALLOW | User:aclweb | DESCRIBE | GROUP *
# Mistake: PREFIXED `*` is no wildcard, it covers names that begin with an asterisk.
ALLOW | User:backup-agent | READ | PREFIXED TOPIC *
ALLOW | User:backup-agent | READ | TOPIC _schemas
ALLOW | User:backup-agent | READ | GROUP backup-agent
# Somebody who left in June.
ALLOW | User:jlund | READ | PREFIXED TOPIC customers.
ALLOW | User:jlund | READ | PREFIXED GROUP jlund-
# Operations that mean nothing on these resources; the broker took them all the same.
ALLOW | User:payout-batch | READ | TRANSACTIONAL_ID payout-batch
ALLOW | User:loyalty-svc | WRITE | GROUP loyalty
# Open to everybody who can log in.
ALLOW | User:* | READ DESCRIBE | TOPIC web.page-views.v1
ALLOW | User:* | DESCRIBE | TOPIC ops.alerts.v1
"""
