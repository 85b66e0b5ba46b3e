"""A process of its own that records events: `python -m tests.audit.recorder NAME COUNT`."""

import sys

import django
from django.db import transaction

django.setup()  # models can only be imported after this

from aclweb.audit import trail  # noqa: E402

trail.register("test.counted", "{actor} counted {number}.")

name, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    try:
        with transaction.atomic():
            trail.record(actor=name, verb="test.counted", target="CR-1", number=number)
            if number % 5 == 4:
                raise ZeroDivisionError  # work that fails leaves no event and no gap
    except ZeroDivisionError:
        pass
