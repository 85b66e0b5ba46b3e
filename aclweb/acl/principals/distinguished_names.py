"""How does Java write the subject of a certificate that somebody pastes?

Brokers map the text of X500Principal.getName(): RFC 2253, last part of the certificate first,
nine short names in capitals, every other attribute as its number with a hexadecimal value.
People paste what OpenSSL, keytool or LDAP tools print. `java_name` turns that into Java's
form and says what it changed and what it had to assume.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from aclweb.acl.model import AclError, shown

# The attributes that Java writes with a name, and what else they are called.
_EMAIL = "1.2.840.113549.1.9.1"
_KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}
_NUMBERS = {
    **{keyword: number for number, keyword in _KEYWORDS.items()},
    "COMMONNAME": "2.5.4.3",
    "SN": "2.5.4.4",
    "SURNAME": "2.5.4.4",
    "SERIALNUMBER": "2.5.4.5",
    "COUNTRYNAME": "2.5.4.6",
    "LOCALITYNAME": "2.5.4.7",
    "S": "2.5.4.8",
    "STATEORPROVINCENAME": "2.5.4.8",
    "STREETADDRESS": "2.5.4.9",
    "ORGANIZATIONNAME": "2.5.4.10",
    "ORGANIZATIONALUNITNAME": "2.5.4.11",
    "T": "2.5.4.12",
    "TITLE": "2.5.4.12",
    "DESCRIPTION": "2.5.4.13",
    "BUSINESSCATEGORY": "2.5.4.15",
    "POSTALCODE": "2.5.4.17",
    "NAME": "2.5.4.41",
    "GN": "2.5.4.42",
    "GIVENNAME": "2.5.4.42",
    "INITIALS": "2.5.4.43",
    "GENERATION": "2.5.4.44",
    "GENERATIONQUALIFIER": "2.5.4.44",
    "DNQ": "2.5.4.46",
    "DNQUALIFIER": "2.5.4.46",
    "PSEUDONYM": "2.5.4.65",
    "ORGANIZATIONIDENTIFIER": "2.5.4.97",
    "DOMAINCOMPONENT": "0.9.2342.19200300.100.1.25",
    "USERID": "0.9.2342.19200300.100.1.1",
    "E": _EMAIL,
    "EMAIL": _EMAIL,
    "EMAILADDRESS": _EMAIL,
    "UNSTRUCTUREDNAME": "1.2.840.113549.1.9.2",
    "JURISDICTIONL": "1.3.6.1.4.1.311.60.2.1.1",
    "JURISDICTIONST": "1.3.6.1.4.1.311.60.2.1.2",
    "JURISDICTIONC": "1.3.6.1.4.1.311.60.2.1.3",
}
# Certificates write these in one way only: e-mail addresses as IA5String, the others as PrintableString.
_FIXED_TAGS = {_EMAIL: 0x16, "2.5.4.5": 0x13, "2.5.4.46": 0x13, "1.3.6.1.4.1.311.60.2.1.3": 0x13}
_UTF8, _PRINTABLE, _IA5 = 0x0C, 0x13, 0x16
_PRINTABLE_TEXT = re.compile(r"[A-Za-z0-9 '()+,\-./:=?]*")

_PREFIX = re.compile(r"(?:subject|issuer|owner)\s*[=:]\s*", re.IGNORECASE)
_TYPE = re.compile(r"\s*(?:OID\.)?([A-Za-z][A-Za-z0-9-]*|[0-9]+(?:\.[0-9]+)+)( *)=( *)", re.IGNORECASE)
_SLASH_PART = re.compile(r"/(?=(?:[A-Za-z][A-Za-z0-9-]*|[0-9]+(?:\.[0-9]+)+)=)")
_ESCAPED_BYTE = re.compile(r"\\x([0-9A-Fa-f]{2})")
_HEX = re.compile(r"#((?:[0-9A-Fa-f]{2})+)(?= *(?:[,;+]|$))")


class DistinguishedNameError(AclError):
    """Text that is no distinguished name; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class JavaName:
    """A subject as a broker sees it; `changes` says in sentences what was changed or assumed."""

    text: str
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Attribute:
    """One attribute: the number of its type, how the type was written, and its value or its DER."""

    number: str
    written: str
    value: str
    der: bytes | None = None


_Part = list[_Attribute]


def java_name(pasted: str) -> JavaName:
    """Return a pasted subject as X500Principal.getName() gives it; raise DistinguishedNameError."""
    text = _without_outer_space(pasted)
    is_openssl = False
    changes: list[str] = []
    prefix = _PREFIX.match(text)
    if prefix is not None:
        text = text[prefix.end() :]
        changes.append(f"{shown(prefix[0].strip())} before the name was left out.")
    if _SLASH_PART.match(text):
        is_openssl = True
        parts = _read_slashes(text)
    else:
        reader = _Reader(text)
        parts = reader.parts()
        is_subject = prefix is not None and not prefix[0].lower().startswith("owner")
        is_openssl = reader.has_spaced_signs or (is_subject and reader.has_spaced_commas)
    if is_openssl and len(parts) > 1:
        parts.reverse()
        changes.append(
            "The order was turned round: OpenSSL prints the first part of the certificate first, Java the last."
        )
    written = ",".join("+".join(_written(part, is_openssl, changes) for part in several) for several in parts)
    if len(changes) == (prefix is not None) and written != text:
        changes.append("Spaces, capitals of the short names and escapes were put as Java writes them.")
    return JavaName(written, tuple(dict.fromkeys(changes)))


def _without_outer_space(pasted: str) -> str:
    text = pasted.strip(" \t\r\n")
    backslashes = len(text) - len(text.rstrip("\\"))
    if backslashes % 2 and pasted.rstrip("\t\r\n").startswith(
        f"{text} ", len(pasted) - len(pasted.lstrip(" \t\r\n"))
    ):
        # The last space is escaped and belongs to the name.
        return f"{text} "
    return text


def _read_slashes(text: str) -> list[_Part]:
    """Return the parts of `/CN=a/O=b`, where nothing is escaped but bytes outside of ASCII."""
    parts: list[_Part] = []
    for piece in _SLASH_PART.split(text)[1:]:
        written, _sign, value = piece.partition("=")
        parts.append([_Attribute(_number(written), written, _with_bytes(value))])
    return parts


def _with_bytes(value: str) -> str:
    if not _ESCAPED_BYTE.search(value):
        return value
    data = re.sub(rb"\\x([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), value.encode("utf-8"))
    return _decoded(data)


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DistinguishedNameError(
            f"The escaped bytes {data[:40]!r} are not UTF-8; paste what `openssl x509 -nameopt RFC2253,utf8` prints."
        ) from error


def _number(written: str) -> str:
    if written[0].isdigit():
        return written
    number = _NUMBERS.get(written.upper())
    if number is None:
        raise DistinguishedNameError(
            f"{shown(written)} is no attribute that is known here; write its number, such as 2.5.4.3 for CN."
        )
    return number


class _Reader:
    """A reader of RFC 4514 text, with the spaces and quotes of older writers."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.has_spaced_signs = False
        self.has_spaced_commas = False

    def parts(self) -> list[_Part]:
        if not self._text:
            return []
        parts = [[self._attribute()]]
        while self._at < len(self._text):
            sign = self._text[self._at]
            self._at += 1
            if sign == "+":
                parts[-1].append(self._attribute())
                continue
            self.has_spaced_commas |= self._text[self._at : self._at + 1] == " "
            parts.append([self._attribute()])
        return parts

    def _attribute(self) -> _Attribute:
        found = _TYPE.match(self._text, self._at)
        if found is None:
            raise DistinguishedNameError(
                f"At {shown(self._text[self._at : self._at + 40])} a part such as CN=name is expected; "
                "a comma inside of a value is written \\,."
            )
        self.has_spaced_signs |= bool(found[2] and found[3])
        self._at = found.end()
        number = _number(found[1])
        hexadecimal = _HEX.match(self._text, self._at)
        if hexadecimal is not None:
            self._at = hexadecimal.end()
            self._require_end()
            return _Attribute(number, found[1], "", bytes.fromhex(hexadecimal[1]))
        if self._text[self._at : self._at + 1] == '"':
            return _Attribute(number, found[1], self._quoted())
        return _Attribute(number, found[1], self._plain())

    def _require_end(self) -> None:
        while self._text[self._at : self._at + 1] == " ":
            self._at += 1
        if self._at < len(self._text) and self._text[self._at] not in ",;+":
            raise DistinguishedNameError(
                f"After a value a comma is expected at {shown(self._text[self._at : self._at + 40])}."
            )

    def _quoted(self) -> str:
        self._at += 1
        found = bytearray()
        while self._at < len(self._text):
            if self._text[self._at] == '"':
                self._at += 1
                self._require_end()
                return _decoded(bytes(found))
            self._take(found)
        raise DistinguishedNameError("A value that starts with a quotation mark has none at its end.")

    def _plain(self) -> str:
        found = bytearray()
        kept = 0
        while self._at < len(self._text) and self._text[self._at] not in ",;+":
            was_escaped = self._text[self._at] == "\\"
            if self._text[self._at] in '"<>' and not was_escaped:
                raise DistinguishedNameError(
                    f"The character {self._text[self._at]} inside of a value is written with a backslash before it."
                )
            is_space = self._text[self._at] == " "
            self._take(found)
            if was_escaped or not is_space:
                kept = len(found)
        return _decoded(bytes(found[:kept]))

    def _take(self, found: bytearray) -> None:
        """Take one character, or an escaped character or byte."""
        sign = self._text[self._at]
        if sign != "\\":
            found += sign.encode("utf-8", "surrogatepass")
            self._at += 1
            return
        byte = self._text[self._at + 1 : self._at + 3]
        if re.fullmatch("[0-9A-Fa-f]{2}", byte):
            found.append(int(byte, 16))
            self._at += 3
            return
        if not byte or (byte[0].isalnum() and byte[0].isascii()):
            raise DistinguishedNameError(
                f"The escape {shown(self._text[self._at : self._at + 3])} is a backslash before neither a sign "
                "nor two hexadecimal digits."
            )
        found += byte[0].encode("utf-8", "surrogatepass")
        self._at += 2


def _written(attribute: _Attribute, is_openssl: bool, changes: list[str]) -> str:
    keyword = _KEYWORDS.get(attribute.number)
    if keyword is None:
        der = attribute.der
        if der is None:
            der = _encoded(attribute, is_openssl, changes)
        return f"{attribute.number}=#{der.hex()}"
    value = attribute.value if attribute.der is None else _text_of(attribute.der)
    return f"{keyword}={_escaped(value)}"


def _encoded(attribute: _Attribute, is_openssl: bool, changes: list[str]) -> bytes:
    """Return the DER that a certificate most likely has for a value that Java writes in hexadecimal."""
    tag = _FIXED_TAGS.get(attribute.number)
    is_printable = _PRINTABLE_TEXT.fullmatch(attribute.value) is not None
    if tag is None:
        # OpenSSL makes UTF8String of everything, keytool PrintableString where it can.
        tag = _UTF8 if is_openssl or not is_printable else _PRINTABLE
        changes.append(
            f"Java writes {attribute.written} as {attribute.number} in hexadecimal, with the kind of text that the "
            f"certificate has: {tag:02x} was assumed, it may be 0c (UTF-8) or 13 (printable)."
        )
    else:
        changes.append(
            f"Java writes {attribute.written} as {attribute.number} with its value in hexadecimal."
        )
    if not (attribute.value.isascii() if tag == _IA5 else is_printable):
        tag = _UTF8
    data = attribute.value.encode("utf-8", "surrogatepass")
    length = len(data)
    if length < 0x80:
        return bytes([tag, length]) + data
    size = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(size)]) + size + data


def _text_of(der: bytes) -> str:
    """Return the text of a DER value; raise DistinguishedNameError."""
    if len(der) >= 2 and der[0] in (_UTF8, _PRINTABLE, _IA5):
        length, start = der[1], 2
        if length > 0x80:
            start += length & 0x7F
            length = int.from_bytes(der[2:start], "big")
        if len(der) == start + length:
            return _decoded(der[start:])
    raise DistinguishedNameError(
        f"The value #{der.hex()[:40]} is no text in UTF8String, PrintableString or IA5String; write it as text."
    )


def _escaped(value: str) -> str:
    """Return a value as Java writes it: signs of RFC 2253 and outer spaces escaped, nothing else."""
    outer = len(value) - len(value.lstrip(" \r")), len(value.rstrip(" \r"))
    written = []
    for at, character in enumerate(value):
        if character == "\0":
            written.append("\\00")
        elif character in ',=+<>#;"\\' or not outer[0] <= at < outer[1]:
            written.append("\\" + character)
        else:
            written.append(character)
    return "".join(written)
