"""A line is read as a real shell reads it, and every text is spelled so that a real shell gets it back."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclweb.acl.kafka.shell_line import read_shell_line, spelled
from aclweb.acl.model.vocabulary import AclError
from tests.hostile import round_trip, texts
from tests.random_cases import SCALE

TOOLS = {"tool"}
SHELLS = [shell for shell in ("sh", "bash") if shutil.which(shell)]
PIECES = (
    "a", "b c", "  ",
    "'", '"', "\\", "\\\n", "''", '""', "'x y'", '"x y"', "\\'", '\\"', "\\$", "é", "=", "#", " #", "%",
    "\t", "'\n'", '"\n"', "\\\\", "!", "--x", "{a}", "^", '"\\a"', '"\\\n"', "$", '"$"', "x#y",
)  # fmt: skip


def words_of(line: str) -> list[str]:
    return list(read_shell_line(f"tool {line}", TOOLS).words)


def by_shell(shell: str, lines: list[str]) -> list[list[str] | None]:
    """Return the words that a real shell makes of each line, None where it refuses the line."""
    answers: list[list[str] | None] = []
    for line in lines:
        script = f"show() {{ for word do printf '%s\\0' \"$word\"; done; }}\nshow {line}\n"
        run = subprocess.run([shell, "-c", script.encode()], capture_output=True, check=False, timeout=300)
        answers.append(run.stdout.decode().split("\0")[:-1] if run.returncode == 0 else None)
    return answers


@pytest.mark.parametrize("shell", SHELLS)
def test_random_lines_give_the_words_that_a_real_shell_makes_of_them(shell):
    rng = random.Random("shell lines")
    lines = ["".join(rng.choices(PIECES, k=rng.randint(1, 7))) for _ in range(300 * SCALE)]
    compared = 0
    for line, real in zip(lines, by_shell(shell, lines), strict=True):
        try:
            ours = read_shell_line(f"tool {line}", TOOLS)
        except AclError:
            continue
        if not ours.remarks:
            compared += 1
            assert list(ours.words) == real, line

    assert compared > len(lines) / 3


@round_trip
@given(texts.filter(lambda text: "\0" not in text and not text.endswith("\n")))
def test_a_text_is_spelled_on_one_line_that_reads_back(text):
    line = spelled(text)

    assert "\n" not in line
    assert words_of(line) == [text]


@pytest.mark.parametrize("shell", SHELLS)
@round_trip
@given(texts.filter(lambda text: "\0" not in text and not text.endswith("\n")))
def test_a_real_shell_reads_back_what_is_spelled(shell, text):
    assert by_shell(shell, [f"{spelled(text)} end"]) == [[text, "end"]]


HIDDEN = "User:\u202egnp\x1b[31m\u200b\ufeff\t\r\x85\xa0\U000e0041 x"


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
@pytest.mark.parametrize("shell", SHELLS)
def test_what_cannot_be_seen_is_spelled_as_bytes_that_every_shell_reads(shell, locale, monkeypatch):
    monkeypatch.setenv("LC_ALL", locale)
    line = spelled(HIDDEN)

    assert line.isprintable()
    assert words_of(line) == [HIDDEN]
    assert by_shell(shell, [line]) == [[HIDDEN]]


def test_half_a_character_is_refused():
    with pytest.raises(AclError, match="half a character"):
        spelled("a\ud800")


def test_bytes_that_are_no_text_are_refused():
    with pytest.raises(AclError, match="not UTF-8"):
        words_of("\"$(printf '\\342x')\"")


def test_a_text_that_ends_in_a_line_break_is_refused():
    with pytest.raises(AclError, match="ends in a line break"):
        spelled("a\n")


@pytest.mark.parametrize(
    "line",
    [
        "tool --a",
        "bin/tool --a",
        "$ /opt/kafka/bin/tool --a",
        "> tool --a",
        "KAFKA_OPTS='-Dx y' tool --a",
        "docker exec -it broker tool --a",
        "--a",
        "tool \\\n  --a",
        "tool --a # and a comment; (of any kind)",
        "\n\ntool --a\n\n# the end\n",
    ],
)
def test_what_stands_before_the_arguments_is_left_out(line):
    assert read_shell_line(line, TOOLS).words == ("--a",)


@pytest.mark.parametrize(
    ("line", "remark"),
    [
        ("tool *", "Without quotes, a shell replaces '*' by the names of the files that fit it."),
        ("tool ~", "Without quotes, a shell replaces the ~ of '~' by a home directory."),
        ('tool "$TOPIC-x"', "A shell replaces $TOPIC in '$TOPIC-x'; it is read here as it is written."),
        ("tool ${A}", "A shell replaces ${A} in '${A}'; it is read here as it is written."),
    ],
)
def test_what_a_shell_looks_up_is_kept_and_remarked_on(line, remark):
    read = read_shell_line(line, TOOLS)

    assert read.remarks == (remark,)
    assert len(read.words) == 1


@pytest.mark.parametrize("line", ["tool '*' \"~\" \\* a=b x~", "tool '$A' \\$A $ \"$\""])
def test_what_is_quoted_is_no_pattern_and_no_variable(line):
    assert read_shell_line(line, TOOLS).remarks == ()


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("tool a; rm b", "means something else to a shell"),
        ("tool a | b", "means something else to a shell"),
        ("tool a\ntool b", "is on a line of its own"),
        ("tool 'a", "is not closed"),
        ('tool "a', "is not closed"),
        ("tool a\\", "continues"),
        ("tool `id`", "run or work out something"),
        ('tool "$(id)"', "run or work out something"),
        ("tool $((1+1))", "run or work out something"),
        ("tool ${a:-'b'}", "run or work out something"),
        ("tool $'a'", "not every shell reads alike"),
        ("ls --a", "'ls' is not tool"),
        ("", "The line is empty"),
    ],
)
def test_what_is_not_one_command_of_the_tool_is_refused(line, what):
    with pytest.raises(AclError, match=what.replace("(", r"\(")):
        read_shell_line(line, TOOLS)


@round_trip
@given(
    st.lists(
        st.one_of(st.sampled_from(PIECES), texts, st.sampled_from(["$(", "${", "`", ";", "*", "~", "\r\n"]))
    )
)
def test_any_text_gives_words_or_one_sentence(pieces):
    line = "".join(pieces)
    try:
        read = read_shell_line(f"tool {line}", TOOLS)
    except AclError as refusal:
        assert str(refusal).strip()  # noqa: PT017
    else:
        assert all(isinstance(word, str) for word in read.words)


def test_a_long_line_is_read_in_one_go():
    name = "ab'c'" * 200_000

    (word,) = read_shell_line(f"tool {name}" + "\n" * 200_000, TOOLS).words

    assert word == "abc" * 200_000
