"""Are the certificates and the key of a connection what they should be, whose are they, and until when?

Nothing here repeats any PEM text: certificates are named by subject and expiry, keys not at all.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization

from aclweb.acl.principals import DistinguishedNameError, java_name

CA, CERTIFICATE, KEY = "ssl.ca.pem", "ssl.certificate.pem", "ssl.key.pem"
TOKEN_CA = "sasl.oauthbearer.ssl.ca.pem"  # noqa: S105
# Those of the connection to the servers themselves.
TLS_SETTINGS = (CA, CERTIFICATE, KEY)
PEM_SETTINGS = (*TLS_SETTINGS, TOKEN_CA)
KEY_PASSWORD = "ssl.key.password"  # noqa: S105

_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----(.*?)-----END \1-----", re.DOTALL)
_WRITTEN_LINE_BREAK = re.compile(r"\\[rn]|\\\s*\n")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a setting, as a sentence. setting: empty where its name may be no name but a pasted key."""

    setting: str
    sentence: str


def tidied(text: str, setting: str) -> str:
    """Return the blocks that belong to this setting with their lines as PEM has them, or the text if there is none.

    What was put on one line (with blanks, or `\\n` for line breaks) gets its lines back. What
    is beside the blocks is left out, and so is a key beside a certificate.
    """
    found = list(_blocks(text))
    wanted = [block for label, block in found if _fits(label, setting)]
    return "".join(wanted or (block for _, block in found)) or text


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    for label, body in _BLOCK.findall(_WRITTEN_LINE_BREAK.sub("\n", text)):
        lines = [line.strip() for line in body.strip().splitlines()]
        headers = [line for line in lines if ":" in line]  # an old encrypted key says how it is encrypted
        letters = "".join("".join(line.split()) for line in lines if ":" not in line)
        begin, end = f"-----BEGIN {label}-----", f"-----END {label}-----"
        top = [*headers, ""] if headers else []
        yield label, "\n".join([begin, *top, *textwrap.wrap(letters, 64), end, ""])


def _fits(label: str, setting: str) -> bool:
    return label.endswith("PRIVATE KEY") if setting == KEY else label.endswith("CERTIFICATE")


def faults(given: Mapping[str, str], *, now: datetime | None = None) -> list[Fault]:
    """Return what is wrong with the PEM settings; `now` decides what has expired."""
    moment = now or datetime.now(UTC)
    found: list[Fault] = []
    read: dict[str, list[x509.Certificate]] = {}
    for setting in (CA, CERTIFICATE, TOKEN_CA):
        if setting in given:
            read[setting] = _read_certificates(given[setting], setting, found)
    for setting in (CA, TOKEN_CA):
        if read.get(setting) and all(_is_out(one, moment) for one in read[setting]):
            sentence = (
                f"Setting {setting} holds no certificate that is valid now: {_described(read[setting][0])}."
            )
            found.append(Fault(setting, sentence))
    own = read.get(CERTIFICATE, [])
    if own and _is_out(own[0], moment):
        sentence = f"The certificate in {CERTIFICATE} is not valid now: {_described(own[0])}."
        found.append(Fault(CERTIFICATE, sentence))
    found += [Fault(CERTIFICATE, sentence) for sentence in _chain_faults(own)]
    key = _read_key(given, found) if KEY in given else None
    if own and key is not None and not _same_key(own[0], key):
        sentence = (
            f"The key in {KEY} does not belong to the first certificate in {CERTIFICATE} ({_described(own[0])}); "
            "give the key that it was made with."
        )
        found.append(Fault(KEY, sentence))
    return found


def described(given: Mapping[str, str]) -> tuple[str, ...]:
    """Return a sentence about each certificate of settings without faults."""
    sentences = [f"Trusts {_described(one)}." for one in _certificates(given.get(CA, ""))]
    sentences += [
        f"Trusts at the token endpoint {_described(one)}." for one in _certificates(given.get(TOKEN_CA, ""))
    ]
    for place, one in enumerate(_certificates(given.get(CERTIFICATE, ""))):
        sentences.append(f"{'With the intermediate' if place else 'Shows itself as'} {_described(one)}.")
    return tuple(sentences)


def subject_of(certificate_pem: str) -> str | None:
    """Return the subject of the first certificate as brokers write it, None where there is none."""
    first = next(iter(_certificates(certificate_pem)), None)
    return _name(first.subject) if first is not None else None


def shown(certificate_pem: str) -> str:
    """Return subject, issuer and expiry of the first certificate in words."""
    first = next(iter(_certificates(certificate_pem)), None)
    return _described(first) if first is not None else "one that cannot be read"


def _certificates(text: str) -> list[x509.Certificate]:
    try:
        return list(x509.load_pem_x509_certificates(text.encode("ascii", "replace"))) if text else []
    except ValueError:
        return []


def _read_certificates(text: str, setting: str, found: list[Fault]) -> list[x509.Certificate]:
    labels = [label for label, _ in _BLOCK.findall(text)]
    if not labels:
        sentence = f"Setting {setting} is not PEM text; it starts with '-----BEGIN' and ends with '-----END'."
        found.append(Fault(setting, sentence))
        return []
    if not any(_fits(label, setting) for label in labels):
        kind = "a private key" if any(_fits(label, KEY) for label in labels) else "no certificate"
        place = f"; the key belongs in {KEY}" if kind == "a private key" else ""
        found.append(Fault(setting, f"Setting {setting} holds {kind} where a certificate belongs{place}."))
        return []
    certificates = _certificates(text)
    if not certificates:
        sentence = f"Setting {setting} holds a certificate that cannot be read; it may be cut off."
        found.append(Fault(setting, sentence))
    return certificates


def _read_key(given: Mapping[str, str], found: list[Fault]) -> object | None:
    text, password = given[KEY], given.get(KEY_PASSWORD)
    labels = [label for label, _ in _BLOCK.findall(text)]
    if not labels:
        sentence = f"Setting {KEY} is not PEM text; it starts with '-----BEGIN' and ends with '-----END'."
        found.append(Fault(KEY, sentence))
        return None
    if not any(_fits(label, KEY) for label in labels):
        kind = "a certificate" if any(_fits(label, CERTIFICATE) for label in labels) else "something else"
        place = f"; it belongs in {CERTIFICATE}" if kind == "a certificate" else ""
        found.append(Fault(KEY, f"Setting {KEY} holds {kind} where a private key belongs{place}."))
        return None
    try:
        return serialization.load_pem_private_key(
            text.encode("ascii", "replace"), password.encode() if password else None
        )
    except TypeError:
        if password:
            # A password that is not needed does no harm.
            return serialization.load_pem_private_key(text.encode("ascii", "replace"), None)
        found.append(
            Fault(KEY_PASSWORD, f"The key in {KEY} is encrypted; give its password as {KEY_PASSWORD}.")
        )
    except (ValueError, UnsupportedAlgorithm):
        if password:
            sentence = f"The key in {KEY} cannot be read with the password in {KEY_PASSWORD}."
            found.append(Fault(KEY_PASSWORD, sentence))
        else:
            found.append(Fault(KEY, f"The key in {KEY} cannot be read; it may be cut off."))
    return None


def _same_key(certificate: x509.Certificate, key: object) -> bool:
    form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    own = getattr(key, "public_key")()  # noqa: B009
    return bool(certificate.public_key().public_bytes(*form) == own.public_bytes(*form))


def _chain_faults(own: list[x509.Certificate]) -> Iterator[str]:
    for lower, upper in itertools.pairwise(own):
        try:
            lower.verify_directly_issued_by(upper)
        except (ValueError, TypeError, InvalidSignature):
            yield (
                f"The certificates in {CERTIFICATE} are no chain: {_name(upper.subject)} has not issued "
                f"{_name(lower.subject)}; begin with the client's own, and let each be followed by its issuer's."
            )


def _is_out(certificate: x509.Certificate, now: datetime) -> bool:
    return not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc


def _described(certificate: x509.Certificate) -> str:
    begins = ""
    if certificate.not_valid_before_utc > datetime.now(UTC):
        begins = f"from {certificate.not_valid_before_utc:%Y-%m-%d %H:%M} "
    return (
        f"{_name(certificate.subject)}, issued by {_name(certificate.issuer)}, "
        f"valid {begins}until {certificate.not_valid_after_utc:%Y-%m-%d %H:%M} UTC"
    )


def _name(name: x509.Name) -> str:
    text = name.rfc4514_string()
    try:
        return java_name(text).text or "(no subject)"
    except DistinguishedNameError:
        return text
