"""What a person types for a principal: kept as it is, typed where it was bare, refused where it is several."""

from __future__ import annotations

import pytest

from aclweb.web.shell.typed_principal import holds_pem, read_principal, read_principals


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


def names(text: str) -> list[str]:
    return list(read_principals(text, 9).principals)


@pytest.mark.parametrize(
    ("text", "principals"),
    [
        ("User:alice, bob", ["User:alice", "User:bob"]),
        ("User:alice;bob", ["User:alice", "User:bob"]),
        ("User:a, Group:b", ["User:a", "Group:b"]),
        ("alice, bob, Group:x", ["User:alice", "User:bob", "Group:x"]),
        ("alice, bob, User:carol", ["User:alice", "User:bob", "User:carol"]),
        ("User:carol, alice, bob", ["User:carol", "User:alice", "User:bob"]),
        ("User:a,User:b,", ["User:a", "User:b"]),
        ("User:b,", ["User:b"]),
        (",bob;", ["User:bob"]),
        ("a\nUser:b, c\n", ["User:a", "User:b", "User:c"]),
    ],
)
def test_a_comma_separates_principals_with_a_type_and_without(text, principals):
    assert names(text) == principals


@pytest.mark.parametrize(
    "name",
    ["User:CN=ops,O=Example", "User:CN=ops, O=Example", r"User:CN=Smith\, John,O=Example", "Group:CN=a;O=b"],
)
@pytest.mark.parametrize("other", ["User:bob", "Group:x"])
def test_the_name_of_a_certificate_is_one_principal_beside_others(name, other):
    assert read_principals(name, 9).notes == ()
    assert names(name) == [name]
    assert names(f"{name}, {other}") == [name, other]
    assert names(f"{other},{name},") == [other, name]


@pytest.mark.parametrize("text", ["User:CN=ops,O=Example, bob", "User:CN=ops, bob\nUser:x", "bob,CN=ops"])
def test_how_a_text_that_may_be_one_name_or_two_is_read_is_said(text):
    typed = read_principals(text, 9)

    assert "is read as one principal, since a certificate's name holds commas" in typed.notes[-1]
    assert "bob" in typed.principals[0]


def test_each_bare_name_among_several_gets_its_type_and_a_note():
    typed = read_principals("alice, bob, User:carol", 9)

    assert typed.notes == ("'alice' has no type, so it is read as 'User:alice'. The same goes for 1 more.",)
    assert read_principals("User:a, b", 9).notes == ("'b' has no type, so it is read as 'User:b'.",)


def test_a_principal_of_another_type_is_a_second_one_where_one_fits():
    assert "names 2 principals" in read_principal("User:a, Group:b").fault
    assert "names 3 principals" in read_principal("alice, bob, Group:x").fault
