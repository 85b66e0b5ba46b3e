"""Which principals are near to the one that was denied?"""

from __future__ import annotations

import pytest

from aclweb.acl.logged.near_names import nearest

ASKED = "User:CN=orders-api,OU=shop"


@pytest.mark.parametrize(
    ("known", "found"),
    [
        ("User:CN=orders-api, OU=shop", True),
        ("User:cn=orders-api,ou=shop", True),
        ("User:CN=order-api,OU=shop", True),
        ("User:CN=orders_api,OU=shops", True),
        ("User:CN=orders-api,OU=stock", False),
        ("User:CN=payments,OU=shop", False),
        (ASKED, False),
    ],
)
def test_blanks_case_and_two_letters_make_a_near_name(known: str, found: bool):
    assert nearest(ASKED, [known]) == ((known,) if found else ())


def test_the_nearest_comes_first_and_no_more_than_three_are_named():
    one_letter, blank = "User:CN=orders-api,OU=shops", "User:CN=orders-api, OU=shop"
    two_letters = [f"User:CN=orders-api,OU=sho{end}" for end in ("ws", "ck", "rt")]

    assert nearest(ASKED, [*two_letters, one_letter, blank]) == (blank, one_letter, two_letters[1])


def test_a_short_name_is_near_only_in_blanks_and_case():
    assert nearest("User:bob", ["User:rob", "User:Bob", "User:bobby"]) == ("User:Bob",)
