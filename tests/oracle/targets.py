"""Which of Kafka's released authorizers are asked, and which words does each know?"""

from __future__ import annotations

from dataclasses import dataclass

from aclweb.acl.model.authorizers import AuthorizerSettings
from tests.oracle.worlds import AGES, WORDS, World


@dataclass(frozen=True)
class Target:
    """One released authorizer."""

    engine: str
    version: str

    def __str__(self) -> str:
        return f"{self.engine} {self.version}"

    @property
    def age(self) -> str:
        """The newest age of the generator whose words this release knows."""
        own = _number(self.version)
        return max((age for age in AGES if _number(age) <= own), key=_number)

    @property
    def types(self) -> tuple[str, ...]:
        """The names of the resource types that it knows."""
        return tuple(kind.name for kind in WORDS[self.age].types)

    @property
    def operations(self) -> tuple[str, ...]:
        """The names of the operations that it knows."""
        return tuple(operation.name for operation in WORDS[self.age].operations)

    @property
    def knows_types(self) -> bool:
        """Whether it may be asked about a whole resource type."""
        return WORDS[self.age].by_type

    def settings(self, world: World) -> AuthorizerSettings:
        return AuthorizerSettings(
            authorizer=self.engine,
            kafka_version=self.version.rpartition(".")[0],
            super_users=frozenset(world.super_users),
            allow_everyone=world.allow_everyone,
        )


TARGETS = (
    Target("standard", "3.9.2"),
    Target("standard", "4.0.2"),
    Target("standard", "4.1.2"),
    Target("standard", "4.2.1"),
    Target("standard", "4.3.1"),
    Target("standard", "4.4.0"),
    Target("acl", "2.4.1"),
    Target("acl", "2.8.2"),
    Target("acl", "3.5.2"),
    Target("acl", "3.9.2"),
)


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
