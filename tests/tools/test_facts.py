"""The recorder of facts sees what changed, and nothing else: its comparing, its reading of pages, its masks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.facts import book, running
from tools.facts.compare import differences
from tools.facts.masks import Masks
from tools.facts.seen import links, seen
from tools.facts.words import Words, WordsError, letters_of

ROOT = Path(__file__).resolve().parents[2]


def recorded(folder: Path, **facts: str) -> Path:
    folder.mkdir()
    group = book.Group("pages", Masks({}))
    for name, text in facts.items():
        group.note(name, text)
    group.save(folder)
    return folder


def compare(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools.facts", "compare", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_equal_recordings_end_with_status_0(tmp_path):
    before = recorded(tmp_path / "before", home="200\nWelcome")
    after = recorded(tmp_path / "after", home="200\nWelcome")

    answer = compare(str(before), str(after))

    assert answer.returncode == 0, answer.stderr
    assert "1 of 1 facts are equal." in answer.stdout


def test_a_changed_sentence_a_lost_and_a_new_fact_are_reported(tmp_path):
    before = recorded(tmp_path / "before", home="200\nWelcome", gone="200")
    after = recorded(tmp_path / "after", home="200\nHello", new="200")

    answer = compare(str(before), str(after))

    assert answer.returncode == 1
    assert "-Welcome" in answer.stdout
    assert "+Hello" in answer.stdout
    assert "pages: gone" in answer.stdout
    assert "pages: new" in answer.stdout
    assert "0 of 3 facts are equal." in answer.stdout


def test_words_changed_on_purpose_are_taken_for_equal_and_counted(tmp_path):
    before = recorded(tmp_path / "before", home="200\nNo rule covers orders.", other="200\nNo rule")
    after = recorded(tmp_path / "after", home="200\nNo ACL covers orders.", other="200\nNothing")
    words = tmp_path / "words"
    words.write_text("# issue 12\nNo rule covers (\\w+) => No ACL covers \\1\n", encoding="utf-8")

    answer = compare(str(before), str(after), "--words", str(words))

    assert answer.returncode == 1
    assert "covers orders" not in answer.stdout
    assert "+Nothing" in answer.stdout
    assert "     1  No rule covers (\\w+) => No ACL covers \\1" in answer.stdout


def test_words_are_changed_in_lines_that_differ_only(tmp_path):
    before = recorded(tmp_path / "before", home="a rule of nature\na rule for bob")
    after = recorded(tmp_path / "after", home="a rule of nature\nan ACL for bob")
    words = tmp_path / "words"
    words.write_text("a rule => an ACL\n", encoding="utf-8")

    assert compare(str(before), str(after), "--words", str(words)).returncode == 0


def test_what_is_said_anew_can_be_left_out_of_both(tmp_path):
    before = recorded(tmp_path / "before", home='{"x": 1}')
    after = recorded(tmp_path / "after", home='{"x": 1, "warnings": 7}')
    words = tmp_path / "words"
    words.write_text(', "warnings": \\d+ <=>\n', encoding="utf-8")

    assert compare(str(before), str(after), "--words", str(words)).returncode == 0


@pytest.mark.parametrize(
    ("pattern", "letters"),
    [
        (r"no rule covers", "no rule covers"),
        (r"\bcaller\b without", " without"),
        (r"gone\. Really\n$", "gone. Really\n"),
        (r"rules? (?:of|for) this", " this"),
        (r"[^]x\]]held (?=by|of)", "held "),
        (r"\d{2} reading", " reading"),
        (r"ab*|cd", ""),
        (r"(?i)Held", ""),
        (r"\u2019s held", ""),
    ],
)
def test_an_expression_is_tried_only_where_its_letters_are(pattern, letters):
    assert letters_of(pattern) == letters


def test_facts_that_differ_in_the_same_words_are_shown_once(tmp_path):
    long = '"basis": "ALLOW_ACL", ' * 40
    before = recorded(
        tmp_path / "before", a=f'{long}"hazards": []', b='{"hazards": [], "x": 1}', c="some words"
    )
    after = recorded(tmp_path / "after", a=long, b='{"x": 1}', c="other words")

    told = compare(str(before), str(after)).stdout

    assert told.count("\n== ") == 2
    assert "== pages: a and 1 more" in told
    assert "hazards" in told.partition("== pages: a")[2].partition("also")[2]


def test_recordings_without_facts_are_no_proof(tmp_path):
    (tmp_path / "before").mkdir()

    assert compare(str(tmp_path / "before"), str(tmp_path / "before")).returncode == 1


@pytest.mark.parametrize("line", ["rule -> ACL", "( => ACL", " => ACL"])
def test_a_bad_list_of_words_names_its_line(line, tmp_path):
    (tmp_path / "words").write_text(f"\n{line}\n", encoding="utf-8")

    with pytest.raises(WordsError, match="words:2: "):
        Words.read(tmp_path / "words")


def test_a_difference_of_line_ends_alone_is_reported():
    (found,) = differences({"g": {"a": "x\ny"}}, {"g": {"a": "x\ny\n"}}, Words())

    assert found.lines == ("differs in the end of its lines only",)


def test_a_page_is_its_words_links_fields_and_decisions():
    html = """<html><head><title>T</title><script>no()</script></head><body class="x">
      <h1>Orders <em>now</em></h1><p data-tone="bad">Refused &amp; <a class="y" href="../b?q=1">why</a></p>
      <form method="post" action="/go/"><input type="hidden" name="k" value="v"><button name="s" value="1">Go</button>
      </form></body></html>"""

    assert seen(html, "/c/a/").splitlines() == [
        "T",
        "# Orders now",
        "<data-tone=bad>Refused & <a /c/b?q=1>why</a>",
        "<form post /go/><input hidden name=k value=v><button name=s value=1>Go</button>",
    ]
    assert links(html, "/c/a/") == ["/c/b?q=1"]


def test_what_differs_from_run_to_run_is_masked():
    mask = Masks({"/tmp/a": "<place>", "/tmp/a/b": "<files>"})

    told = mask(f"<input name=csrfmiddlewaretoken value={'aB3' * 20}> /tmp/a/b/x /tmp/a/y")

    assert told == "<input name=csrfmiddlewaretoken value=<csrf>> <files>/x <place>/y"


def test_a_command_is_seen_with_its_status_and_both_streams():
    told = running.module("aclweb.acl", ["convert", "--acls", "-", "--to", "csv"], b"{\n")

    assert told.startswith("exit status 2\n--- stderr\n-:1: ")


def test_two_facts_of_one_name_are_an_error():
    group = book.Group("pages", Masks({}))
    group.note("home", "a")

    with pytest.raises(ValueError, match="two facts with the name 'home'"):
        group.note("home", "b")
