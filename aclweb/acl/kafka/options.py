"""Which options does kafka-acls find in its arguments?

It reads them with the library joptsimple, which differs from what most programs do: a
value is whatever follows an option, even if it begins with a hyphen; one hyphen does
as well as two; nothing may be shortened; words that belong to no option are passed over;
and what follows the `=` of an option without a value is passed over too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from aclweb.acl.model import AclError, AuthorizerSettings, ResourceType

END_OF_OPTIONS = "--"


NAME_OPTIONS: Mapping[ResourceType, str] = {
    ResourceType.TOPIC: "topic",
    ResourceType.GROUP: "group",
    ResourceType.TRANSACTIONAL_ID: "transactional-id",
    ResourceType.DELEGATION_TOKEN: "delegation-token",
    ResourceType.USER: "user-principal",
}
"""The option that names a resource of each type; the cluster has `--cluster`, without a name."""


class OptionError(AclError):
    """Arguments that kafka-acls refuses; the message is its own."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """The options of one version of the tool, without their hyphens, by what may follow them."""

    flags: Collection[str]
    valued: Collection[str]
    maybe_valued: Collection[str]

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*self.flags, *self.valued, *self.maybe_valued))


@dataclass(slots=True)
class Options:
    """What was given: the values of each option in order, and what the tool passes over.

    `refusal` is the tool's own message where the arguments do not fit the grammar. The
    options after that place are read all the same, so that one can say what was meant.
    """

    values: dict[str, list[str]] = field(default_factory=dict)
    strays: list[str] = field(default_factory=list)
    idle_values: list[tuple[str, str]] = field(default_factory=list)
    refusal: str | None = None

    def has(self, *names: str) -> bool:
        """Whether one of these options was given."""
        return any(name in self.values for name in names)

    def all(self, name: str) -> Sequence[str]:
        """Return every value of an option."""
        return self.values.get(name, ())

    def one(self, name: str) -> str | None:
        """Return the value of an option that may have one only; raise OptionError if it has more."""
        values = self.all(name)
        if len(values) > 1:
            raise OptionError(f"Found multiple arguments for option {name}, but you asked for only one")
        return values[0] if values else None


def grammar(settings: AuthorizerSettings) -> Grammar:
    """Return the options that kafka-acls of this version knows."""
    valued = {
        "bootstrap-server", "operation", "resource-pattern-type", "allow-principal", "deny-principal",
        "allow-host", "deny-host", *NAME_OPTIONS.values(),
    }  # fmt: skip
    if settings.version < (3, 3):
        valued.remove("user-principal")
    if settings.version >= (4, 0):
        valued.add("bootstrap-controller")
    else:
        valued |= {"authorizer", "authorizer-properties"}
        if settings.version >= (2, 5):
            valued.add("zk-tls-config-file")
    return Grammar(
        flags={
            "add",
            "remove",
            "list",
            "cluster",
            "producer",
            "consumer",
            "idempotent",
            "force",
            "help",
            "version",
        },
        valued=valued,
        maybe_valued={"command-config", "principal"},
    )


def read_options(arguments: Sequence[str], grammar: Grammar) -> Options:
    """Return the options in `arguments`, as joptsimple 5.0.4 finds them."""
    options = Options()
    words = iter(range(len(arguments)))
    for place in words:
        word = arguments[place]
        if word == END_OF_OPTIONS:
            options.strays += arguments[place + 1 :]
            break
        if not word.startswith("-") or word == "-":
            options.strays.append(word)
            continue
        name, value = _name_and_value(word)
        if name not in grammar.names:
            _refuse(options, f"{_unrecognised(word, name)} is not a recognized option")
            continue
        given = options.values.setdefault(name, [])
        if name in grammar.flags:
            if value is not None:
                options.idle_values.append((name, value))
            continue
        if value is None:
            value = _next_value(arguments, place, is_required=name in grammar.valued)
            if value is not None:
                next(words)
            elif name in grammar.valued:
                _refuse(options, f"Option {name} requires an argument")
        if value is not None:
            given.append(value)
    return options


def _name_and_value(word: str) -> tuple[str, str | None]:
    """Return the name in `--name=value` or `-name`, and the value or None."""
    text = word[2:] if word.startswith("--") else word[1:]
    name, equals, value = text.partition("=")
    return name, value if equals else None


def _next_value(arguments: Sequence[str], place: int, *, is_required: bool) -> str | None:
    """Return the word after `place` if it is the value of the option there."""
    if place + 1 == len(arguments):
        return None
    word = arguments[place + 1]
    looks_like_an_option = word.startswith("-") and word != "-"
    return word if is_required or not looks_like_an_option else None


def _unrecognised(word: str, name: str) -> str:
    # Behind one hyphen, an unknown word is taken for letters that are options of their own.
    return name if word.startswith("--") else word[1]


def _refuse(options: Options, message: str) -> None:
    if options.refusal is None:
        options.refusal = message
