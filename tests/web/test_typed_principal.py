"""What a person types for a principal: kept as it is, typed where it was bare, refused where it is several."""

from __future__ import annotations

import pytest

from aclweb.web.shell.typed_principal import holds_pem, read_principal


@pytest.mark.parametrize(
    "text",
    [
        "User:bob",
        "User:*",
        "User:CN=bob,OU=a:b, O=Acme",
        "Group:ops",
        "user:bob",
        "User:",
        "User:a;b,c",
    ],
)
def test_a_whole_principal_is_taken_letter_by_letter(text):
    typed = read_principal(text)

    assert (typed.principal, typed.note, typed.fault) == (text, "", "")


@pytest.mark.parametrize("name", ["bob", "CN=bob,OU=risk", "*", "svc@REALM"])
def test_a_bare_name_gets_its_type_and_a_note(name):
    typed = read_principal(name)

    assert typed.principal == f"User:{name}"
    assert typed.note == f"'{name}' has no type, so it is read as 'User:{name}'."


@pytest.mark.parametrize(
    ("text", "count"),
    [("User:a,User:b", 2), ("User:a; user:b;User:c", 3), ("a, b", 2), ("bob,User:cat", 2)],
)
def test_several_principals_are_not_one_long_name(text, count):
    typed = read_principal(text)

    assert typed.principal == ""
    assert f"names {count} principals" in typed.fault
    assert "give one at a time" in typed.fault


@pytest.mark.parametrize("text", [" User:bob", "User:bob ", "bob\n"])
def test_outer_spaces_are_reported(text):
    assert "begins or ends with a space" in read_principal(text).fault


def test_nothing_typed_is_nothing():
    assert read_principal("").principal == ""


def test_a_key_is_never_repeated():
    key = "-----BEGIN PRIVATE KEY----- MIIEvQIBADANBg -----END PRIVATE KEY-----"

    typed = read_principal(key)

    assert holds_pem(key)
    assert "MIIE" not in typed.fault + typed.note + typed.principal
    assert "certificate or a key" in typed.fault
