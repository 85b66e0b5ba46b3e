"""The fields of protocol messages that kafka-python has no class for, in the form of Kafka's own message files."""
