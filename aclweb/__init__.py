"""aclweb: who may do what on a Kafka cluster, why, and what an edit would change."""
