"""Addresses are written as Java prints them, or refused with a sentence."""

import pytest

from aclweb.acl.matching.addresses import as_java_prints
from aclweb.acl.model.vocabulary import AclError


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("10.0.6.30", "10.0.6.30"),
        (" 10.0.6.30 ", "10.0.6.30"),
        ("::1", "0:0:0:0:0:0:0:1"),
        ("2001:DB8::00a1", "2001:db8:0:0:0:0:0:a1"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1%eth0"),
    ],
)
def test_an_address_is_written_as_java_prints_it(typed, printed):
    assert as_java_prints(typed) == printed


@pytest.mark.parametrize("typed", ["", "localhost", "10.0.0.0/8", "10.0.0.1:9092", "*", "010.0.0.1", "1.2.3"])
def test_what_is_not_one_address_is_refused_with_the_value(typed):
    with pytest.raises(AclError, match="is not an address") as refused:
        as_java_prints(typed)

    assert repr(typed) in str(refused.value)
