"""Why can a pattern, or a question about it, have no answer?

Java says no to an InvalidPattern and to an InvalidReplacement. A RefusedPattern is one that
Java takes and this program does not evaluate. CannotTell is about one text only: the answer
depends on the broker's version of Java, or would take too much work.
"""

from __future__ import annotations

from aclweb.acl.model import AclError


class RegexError(AclError):
    """A pattern, replacement or text that gets no answer; the message is a sentence."""


class InvalidPattern(RegexError):
    """Java throws PatternSyntaxException."""


class RefusedPattern(RegexError):
    """Java takes the pattern, this program does not; `construct` is what it is called."""

    def __init__(self, construct: str, sentence: str) -> None:
        super().__init__(sentence)
        self.construct = construct


class InvalidReplacement(RegexError):
    """Java throws an exception when it meets this part of the replacement."""


class CannotTell(RegexError):
    """No answer for this text: brokers differ, or it is too much work."""
