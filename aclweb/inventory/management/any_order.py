"""What is a command whose options may stand anywhere between its words?"""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser


class AnyOrderCommand(BaseCommand):
    """A command with a word that may be left out.

    argparse takes such a word for left out as soon as an option follows the words before it, and refuses it behind.
    """

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
        return parser
