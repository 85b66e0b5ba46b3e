"""Ask before a worker replays an edit on every request of the log, of which a card replays the most frequent alone."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from aclweb.acl.model import Delta
from aclweb.acl.notation import write_delta
from aclweb.insights.replay import MOST_REQUESTS
from aclweb.inventory.models import Cluster
from aclweb.web.shell.htmx import render_page


def page(request: HttpRequest, cluster: Cluster, delta: Delta, *, back: str, name: str) -> HttpResponse:
    """Return a page with one button that starts the analysis `replay`. back: the page that asked; name: its name."""
    context = {
        "cluster": cluster,
        "delta": write_delta(delta),
        "added": len(delta.add),
        "removed": len(delta.remove),
        "most": MOST_REQUESTS,
        "back": back,
        "name": name,
    }
    return render_page(request, "drafts/replay_all.html", None, context, section="insights")
