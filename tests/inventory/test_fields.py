import random

import pytest

from aclweb.inventory.fields import escape, storable, unescape


@pytest.mark.parametrize("seed", range(200))
def test_any_text_comes_back_letter_by_letter_and_its_form_fits_every_database(seed):
    dice = random.Random(f"fields {seed}")
    text = "".join(dice.choice("a\\u0d8\x00\ud800\udfffé😀\n") for _ in range(dice.randrange(12)))

    stored = escape(text)

    assert unescape(stored) == text
    assert "\x00" not in stored
    stored.encode("utf-8")


def test_different_texts_are_stored_differently():
    assert len({escape(text) for text in ("\x00", "\\u0000", "\\\\u0000", "\\x00")}) == 4


def test_a_sentence_shows_what_cannot_be_stored():
    assert storable("a\x00b\ud800 C:\\d") == "a\\u0000b\\ud800 C:\\d"
