"""The WSGI application that gunicorn serves."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from aclweb.runtime import datadir, idle, loading, storage

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aclweb.settings")
datadir.make_private(settings.ACLWEB_DATA_DIR)

with loading.without_garbage_collection():
    application = get_wsgi_application()

storage.refuse_a_newer_database()

# Only after the site is set up can its models be imported.
from aclweb.insights import denial_causes, principals  # noqa: E402
from aclweb.inventory.access import prepare  # noqa: E402
from aclweb.inventory.current import warming  # noqa: E402
from aclweb.web.shell import liveness  # noqa: E402

warming.start(prepare, principals.prepare, beside=[denial_causes.prepare])
liveness.watch()
idle.watch()
