"""Which text did somebody upload, or what is wrong with the file?"""

from __future__ import annotations

from django.http import HttpRequest


def uploaded_text(
    request: HttpRequest, field: str, *, most_bytes: int, instead: str
) -> tuple[str | None, str]:
    """Return the text of the file in a field of the form, None where there is none, and what is wrong with it.

    A byte order mark is taken off and line ends become line feeds. most_bytes: a larger file is not read. instead: how
    to load a larger one, as the end of a sentence.
    """
    file = request.FILES.get(field)
    if file is None:
        return None, ""
    if (file.size or 0) > most_bytes:
        return "", f"The file has {file.size:,} bytes; up to {most_bytes:,} are read here, {instead}."
    try:
        return file.read().decode("utf-8-sig").replace("\r\n", "\n"), ""
    except UnicodeDecodeError as error:
        return "", f"The file is no UTF-8 text: byte {error.start + 1:,} cannot be read. Save it as UTF-8."
