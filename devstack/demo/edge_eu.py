"""The topics, groups and ACLs of edge-eu, the small KRaft broker of the street shops.

Tills, label printers, cameras and doors talk to it, and one bridge takes the sales home.
It is a real broker of the newest Kafka, so ranges of addresses count here.
"""

from __future__ import annotations

KAFKA_VERSION = "4.4"
SUPER_USERS = "User:admin"
ALLOW_EVERYONE = False

TOPICS = {
    "cameras.events.v1": 1,
    "doors.events.v1": 1,
    "edge.audit.v1": 1,
    "edge.sync.v1": 1,
    "labels.print-jobs.v1": 1,
    "prices.dlq": 1,
    "prices.local.v1": 1,
    "stock.corrections.v1": 1,
    "stock.counts.v1": 1,
    "tills.heartbeats.v1": 1,
    "tills.returns.v1": 1,
    "tills.sales.v1": 2,
}

GROUPS = ("edge-sync", "label-printer", "price-sync", "store-reports")

# Service accounts that log in with a password.
USERS = (
    "till-service",
    "stock-counter",
    "price-sync",
    "label-printer",
    "camera-hub",
    "door-control",
    "edge-sync",
    "store-reports",
    "edge-monitor",
)

ACLS = """
# --- Tills and labels -------------------------------------------------------------------
ALLOW | User:till-service | WRITE | PREFIXED TOPIC tills.
ALLOW | User:till-service | READ | TOPIC prices.local.v1
ALLOW | User:till-service | IDEMPOTENT_WRITE | CLUSTER kafka-cluster
ALLOW | User:label-printer | READ | TOPIC prices.local.v1
ALLOW | User:label-printer | READ WRITE | TOPIC labels.print-jobs.v1
ALLOW | User:label-printer | READ | GROUP label-printer
# --- Prices and stock -------------------------------------------------------------------
ALLOW | User:price-sync | READ WRITE DESCRIBE | PREFIXED TOPIC prices.
ALLOW | User:price-sync | WRITE | TOPIC prices.dlq
ALLOW | User:price-sync | READ | GROUP price-sync
ALLOW | User:stock-counter | WRITE | TOPIC stock.counts.v1
ALLOW | User:stock-counter | WRITE | TOPIC stock.corrections.v1 | 10.60.0.0/16
# --- Cameras and doors: from the shop's own network alone -------------------------------
ALLOW | User:camera-hub | WRITE | TOPIC cameras.events.v1 | 127.0.0.0/30
ALLOW | User:door-control | WRITE | TOPIC doors.events.v1
DENY | User:* | READ | TOPIC cameras.events.v1
# --- The bridge home and whoever looks on -----------------------------------------------
ALLOW | User:edge-sync | READ | TOPIC *
ALLOW | User:edge-sync | READ | GROUP edge-sync
ALLOW | User:edge-sync | WRITE | TOPIC edge.sync.v1
ALLOW | User:edge-sync | DESCRIBE | CLUSTER kafka-cluster
# Mistake: the right on the topics is there, the one on the group is missing.
ALLOW | User:store-reports | READ | PREFIXED TOPIC tills.
ALLOW | User:store-reports | READ | GROUP reports
ALLOW | User:edge-monitor | DESCRIBE | TOPIC *
ALLOW | User:edge-monitor | DESCRIBE | GROUP *
ALLOW | User:edge-monitor | DESCRIBE DESCRIBE_CONFIGS | CLUSTER kafka-cluster
ALLOW | User:edge-monitor | WRITE | TOPIC edge.audit.v1
# A topic that is gone.
ALLOW | User:till-service | WRITE | TOPIC sales.v0
"""
