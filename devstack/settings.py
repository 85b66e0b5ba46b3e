"""The product's settings, and the two commands of the stack on one machine: `up` and `seed`."""

from aclweb.settings import *  # noqa: F403
from aclweb.settings import INSTALLED_APPS as _PRODUCT

INSTALLED_APPS = [*_PRODUCT, "devstack"]
