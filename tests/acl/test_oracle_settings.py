"""Super users and the default are read from a broker's configuration as that version's own class reads them."""

from __future__ import annotations

from urllib.parse import quote_plus, unquote_plus

import pytest

from aclweb.acl.model.authorizers import ALLOW_EVERYONE_KEY, SUPER_USERS_KEY, AuthorizerSettings
from aclweb.acl.model.vocabulary import AclError
from tests.oracle.targets import Target
from tests.oracle.worlds import Dice
from tests.random_cases import SCALE

USERS = (
    *("User:a", "User:b", "User:a", "User:CN=a,OU=b", "User:*", "Group:a:b", ":a", "User:", ":"),
    *(
        " User:a",
        "User:a ",
        "\tUser:a\n",
        "\xa0User:a",
        "User:a\u2003",
        "User: a",
        "\0User:a\x1f",
        "User:é\U0001f600",
    ),
    *("", "", " ", "\t", "\xa0", "alice", "User", "User=a", "*"),
)
SWITCHES = (
    *("true", "false", "TRUE", "False", "tRuE", " true", "true ", "\ttrue\n", "\xa0true", "true\u2003"),
    *(
        "",
        " ",
        "yes",
        "1",
        "0",
        "no",
        "on",
        "tru",
        "truee",
        "true;false",
        "\uff54rue",
        "fal\u0131se",
        "nul",
        "null",
    ),
)


def random_config(dice: Dice) -> dict[str, object]:
    config: dict[str, object] = {}
    if dice.chance(90):
        config[SUPER_USERS_KEY] = ";".join(dice.one_of(USERS) for _ in range(dice.below(5)))
    if dice.chance(60):
        config[ALLOW_EVERYONE_KEY] = dice.one_of(SWITCHES)
    return config


def as_kafka_tells(target: Target, config: dict[str, object]) -> str:
    try:
        settings = AuthorizerSettings.read(
            authorizer=target.engine, kafka_version=target.version.rpartition(".")[0], config=config
        )
    except AclError:
        return "refused"
    users = sorted(quote_plus(user, safe="*-._") for user in settings.super_users)
    return " ".join([str(settings.allow_everyone).lower(), *users])


@pytest.mark.parametrize(
    "target", [Target("standard", "4.4.0"), Target("standard", "3.9.2"), Target("acl", "3.9.2")], ids=str
)
def test_a_configuration_is_read_or_refused_as_the_class_reads_or_refuses_it(target, java_program):
    dice = Dice(f"settings {target}")
    configs = [random_config(dice) for _ in range(300 * SCALE)]
    keys = (SUPER_USERS_KEY, ALLOW_EVERYONE_KEY)
    program = java_program("Settings", target.version)
    answers = list(
        program.ask_many(
            " ".join(
                [target.engine, *(quote_plus(str(config[key])) if key in config else "-" for key in keys)]
            )
            for config in configs
        )
    )

    different = [
        (config, kafka, ours)
        for config, kafka in zip(configs, answers, strict=True)
        if (ours := as_kafka_tells(target, config)) != kafka
    ]
    assert not different, f"{len(different)} differ, such as {different[:3]}"
    refused = answers.count("refused") / len(answers)
    allowing = sum(answer.startswith("true") for answer in answers) / len(answers)
    assert 0.2 < refused < 0.9
    assert allowing > 0.02
    assert any(
        "+" not in user and unquote_plus(user) == "User:*" for answer in answers for user in answer.split()
    )
