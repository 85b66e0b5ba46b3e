"""The fields of protocol messages by which tests join groups and make delegation tokens."""
