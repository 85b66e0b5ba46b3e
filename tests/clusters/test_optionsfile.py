"""A file of settings is read as an admin writes it, PEM is checked at once, and nothing of a key is ever printed."""

from __future__ import annotations

import datetime
import json
import logging

import pytest
from django.core.management import CommandError, call_command

from aclweb.audit.models import Event
from aclweb.clusters import KINDS, ClusterError
from aclweb.clusters.admin_api import ADMIN_API
from aclweb.clusters.connection import pem
from aclweb.clusters.connection.options import check_options, tls_context
from aclweb.clusters.connection.options_file import OptionsFileError, read_options
from aclweb.inventory.models import Cluster
from tests.clusters.certificates import Authority

CA = Authority("Example CA")
CERTIFICATE, KEY = CA.issue("O=Example", "OU=Platform", "CN=aclweb")
OTHER_CERTIFICATE, OTHER_KEY = CA.issue("CN=other")


@pytest.fixture
def folder(tmp_path):
    for name, text in (("ca.crt", CA.pem), ("client.crt", CERTIFICATE), ("client.key", KEY)):
        (tmp_path / name).write_text(text)
    return tmp_path


def written(text: str, ending: str) -> str:
    return ending.join(text.strip().split("\n"))


@pytest.mark.parametrize(
    "value",
    [
        "@ca.crt",
        CA.pem,
        written(CA.pem, "\\\n"),
        written(CA.pem, " \\\n  "),
        written(CA.pem, "\\n\\\n"),
        written(CA.pem, "\\n"),
        written(CA.pem, " "),
        CA.pem.replace("\n", "\r\n"),
    ],
    ids=["file", "pasted", "continued", "continued-indented", "java", "escapes", "blanks", "crlf"],
)
def test_every_way_to_write_a_certificate_that_people_try_is_read(folder, value):
    text = f"# ours\nsecurity.protocol = SSL\nssl.ca.pem={value}\nclient.id=a=b\n"

    found = read_options(text, "prod.options", folder)

    assert found == {"security.protocol": "SSL", "ssl.ca.pem": CA.pem, "client.id": "a=b"}
    assert tls_context(check_options(ADMIN_API, found)).get_ca_certs()


def test_a_chain_of_pasted_certificates_is_one_setting(folder):
    found = read_options(f"ssl.ca.pem={CA.pem}{CERTIFICATE}sasl.username=x", "F", folder)

    assert found == {"ssl.ca.pem": CA.pem + CERTIFICATE, "sasl.username": "x"}


def test_the_protocol_follows_from_the_settings_where_it_is_not_given():
    own = {"ssl.ca.pem": CA.pem, "ssl.certificate.pem": CERTIFICATE, "ssl.key.pem": KEY}
    login = {"sasl.mechanism": "PLAIN", "sasl.username": "a", "sasl.password": "b"}

    assert check_options(ADMIN_API, own).protocol == "SSL"
    assert check_options(ADMIN_API, own | login).protocol == "SASL_SSL"
    assert check_options(ADMIN_API, login).protocol == "SASL_PLAINTEXT"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"ssl.ca.pem": KEY}, "ssl.ca.pem holds a private key where a certificate belongs"),
        ({"ssl.certificate.pem": KEY, "ssl.key.pem": KEY}, "ssl.certificate.pem holds a private key"),
        (
            {"ssl.certificate.pem": CERTIFICATE, "ssl.key.pem": CERTIFICATE},
            "ssl.key.pem holds a certificate where a private key belongs",
        ),
        (
            {"ssl.certificate.pem": CERTIFICATE, "ssl.key.pem": OTHER_KEY},
            "does not belong to the first certificate in ssl.certificate.pem (CN=aclweb,OU=Platform,O=Example",
        ),
        ({"ssl.ca.pem": CA.pem[:300]}, "ssl.ca.pem is not PEM text"),
        ({"ssl.ca.pem": CA.pem.replace("M", "N", 3)}, "cannot be read"),
        (
            dict(
                zip(
                    ("ssl.certificate.pem", "ssl.key.pem"),
                    CA.issue("CN=late", days=-1),
                    strict=True,
                )
            ),
            "is not valid now: CN=late, issued by CN=Example CA, valid until "
            f"{datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1):%Y-%m-%d}",
        ),
        (
            {"ssl.certificate.pem": CERTIFICATE + OTHER_CERTIFICATE, "ssl.key.pem": KEY},
            "are no chain: CN=other has not issued CN=aclweb",
        ),
        (
            dict(zip(("ssl.certificate.pem", "ssl.key.pem"), CA.issue("x", password="pw"), strict=True)),
            "is encrypted; give its password as ssl.key.password",
        ),
        (
            dict(zip(("ssl.certificate.pem", "ssl.key.pem"), CA.issue("x", password="pw"), strict=True))
            | {"ssl.key.password": "other"},
            "cannot be read with the password",
        ),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_pem_that_could_never_work_is_refused_at_once_in_a_sentence(given, sentence):
    with pytest.raises(ClusterError) as caught:
        check_options(ADMIN_API, {"security.protocol": "SSL"} | given)

    assert sentence in str(caught.value)


def test_an_encrypted_key_works_with_its_password():
    certificate, key = CA.issue("CN=locked", password="pw")
    given = {"ssl.certificate.pem": certificate, "ssl.key.pem": key, "ssl.key.password": "pw"}

    tls_context(check_options(ADMIN_API, given))


def test_only_the_key_of_a_mixed_file_is_kept_as_key_and_certificates_as_such():
    mixed = f"Bag Attributes\n{KEY}subject=CN = aclweb\n{CERTIFICATE}"

    assert pem.tidied(mixed, pem.KEY) == KEY
    assert pem.tidied(mixed, pem.CERTIFICATE) == CERTIFICATE


def test_a_mechanism_that_is_not_offered_is_all_that_is_reported():
    with pytest.raises(ClusterError) as caught:
        check_options(ADMIN_API, {"security.protocol": "SASL_SSL", "sasl.mechanism": "AWS_MSK_IAM"})

    assert str(caught.value) == (
        "Setting sasl.mechanism 'AWS_MSK_IAM' is not offered; use PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, "
        "OAUTHBEARER or GSSAPI."
    )


# --- the command --------------------------------------------------------------------


@pytest.mark.django_db
def test_the_files_are_named_on_the_command_line_and_stored_as_text(folder, capsys):
    call_command(
        *("cluster", "add", "prod", "--kind", "admin", "--address", "b1:9093"),
        *("--ca", folder / "ca.crt", "--certificate", folder / "client.crt", "--key", folder / "client.key"),
    )

    told = capsys.readouterr().out
    assert "Trusts CN=Example CA" in told
    assert "Shows itself as CN=aclweb,OU=Platform,O=Example, issued by CN=Example CA, valid until 20" in told
    stored = Cluster.objects.get(slug="prod").options
    assert stored == {"ssl.ca.pem": CA.pem, "ssl.certificate.pem": CERTIFICATE, "ssl.key.pem": KEY}


@pytest.mark.django_db
def test_a_file_named_alone_replaces_only_its_setting(folder):
    (folder / "prod.options").write_text(
        "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=a\nsasl.password=b\nssl.ca.pem=@ca.crt\n"
    )
    call_command(
        *("cluster", "add", "prod", "--kind", "admin", "--address", "b1:9093"),
        *("--options", folder / "prod.options"),
    )
    (folder / "new.crt").write_text(Authority("New CA").pem)

    call_command("cluster", "set", "prod", "--ca", folder / "new.crt")

    stored = Cluster.objects.get(slug="prod").options
    assert (stored["sasl.password"], stored["ssl.ca.pem"]) == ("b", (folder / "new.crt").read_text())


BODY = [line for line in KEY.split("\n") if line and "-----" not in line]
LEAKS = {
    "pasted without a setting": KEY,
    "lines without the first": "\n".join(BODY),
    "value of an unknown setting": f"my.key={''.join(BODY)}",
    "in place of a setting": "\n".join(f"{line}=x" for line in BODY),
    "after the beginning of a setting": f"ssl.keystore{BODY[0]}=x",
    "as protocol": f"security.protocol={BODY[0]}",
    "as mechanism": f"security.protocol=SASL_SSL\nsasl.mechanism={BODY[0]}",
    "as timeout": f"request.timeout.ms={BODY[0]}",
    "as user with a line break": f"security.protocol=SASL_SSL\nsasl.username={BODY[0]}\0",
    "as certificate": f"ssl.ca.pem={KEY}",
    "cut off": f"ssl.key.pem={KEY[:-30]}",
    "cut off and continued": f"ssl.key.pem={KEY[:100]}\\\n",
    "cut in the middle": f"ssl.certificate.pem={CERTIFICATE}ssl.key.pem={KEY.replace(BODY[1], '')}",
    "of another certificate": f"ssl.certificate.pem={OTHER_CERTIFICATE}ssl.key.pem={KEY}",
    "without its certificate": f"ssl.key.pem={KEY}",
    "as the file to read": f"ssl.key.pem=@{BODY[0]}",
    "for a protocol without it": f"security.protocol=PLAINTEXT\nssl.key.pem={KEY}",
    "twice": f"ssl.key.pem={KEY}ssl.key.pem={KEY}",
    "in the client's name": f"client.id={KEY}",
}


@pytest.mark.django_db
@pytest.mark.parametrize("act", ["add", "set"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", LEAKS.values(), ids=LEAKS)
def test_no_refusal_holds_a_piece_of_a_key(folder, cluster, capsys, caplog, text, kind, act):
    caplog.set_level(logging.DEBUG)
    file = folder / "leak.options"
    file.write_text(f"# a comment\n{text}\n")
    Cluster.objects.filter(pk=cluster.pk).update(kind=kind)
    words = ["add", "prod", "--kind", kind, "--address", "b1:9093"] if act == "add" else ["set", cluster.slug]

    with pytest.raises(CommandError) as caught:
        call_command("cluster", *words, "--options", file)

    printed = capsys.readouterr()
    events = " ".join(str(vars(event)) for event in Event.objects.all())
    said = " ".join([str(caught.value), printed.out, printed.err, caplog.text, events])
    letters = "".join(BODY)
    pieces = {letters[at : at + 12] for at in range(len(letters) - 11)}
    assert not [piece for piece in pieces if piece in said]
    assert str(caught.value).endswith((".", ". "))


def test_a_line_that_sets_nothing_is_reported_by_its_number(folder):
    with pytest.raises(OptionsFileError, match=r"^F:3: this line has no setting with a value"):
        read_options("client.id=x\n\nnonsense\n", "F", folder)


@pytest.mark.django_db
def test_a_key_that_others_may_read_is_taken_and_warned_of(folder, capsys):
    (folder / "client.key").chmod(0o640)
    (folder / "prod.options").write_text("security.protocol=SSL\nssl.ca.pem=@ca.crt\n")
    (folder / "prod.options").chmod(0o644)
    call_command(
        *("cluster", "add", "prod", "--kind", "admin", "--address", "b1:9093"),
        *("--options", folder / "prod.options", "--certificate", folder / "client.crt"),
        *("--key", folder / "client.key", "--json"),
    )

    told = capsys.readouterr()
    assert json.loads(told.out)["cluster"] == "prod"
    assert told.err == (
        f"The file {folder / 'client.key'} holds a secret, and its group may read it (mode 0640). "
        f"Run: chmod 600 {folder / 'client.key'}\n"
    )

    (folder / "prod.options").write_text(
        "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=a\nsasl.password=b\n"
    )
    call_command("cluster", "set", "prod", "--options", folder / "prod.options")

    told = capsys.readouterr().err
    assert "prod.options holds a secret, and everybody on this machine may read it (mode 0644)" in told


@pytest.mark.django_db
def test_a_key_named_in_the_settings_is_looked_at_and_a_private_one_is_not_warned_of(folder, capsys):
    (folder / "prod.options").write_text(
        "security.protocol=SSL\nssl.certificate.pem=@client.crt\nssl.key.pem=@client.key\n"
    )
    (folder / "client.key").chmod(0o644)
    words = ("--kind", "admin", "--address", "b1:9093", "--options", folder / "prod.options")

    call_command("cluster", "add", "open", *words)
    assert "client.key holds a secret" in capsys.readouterr().err

    (folder / "client.key").chmod(0o600)
    call_command("cluster", "add", "private", *words)
    assert capsys.readouterr().err == ""
