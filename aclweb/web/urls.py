"""Which address shows which page."""

from django.urls import URLPattern, path

from aclweb.web.ask import client_action_page as client_action
from aclweb.web.ask import explain, home
from aclweb.web.ask import mapping_page as mapping
from aclweb.web.browse import acls, findings, insights, principals, search, topics
from aclweb.web.changes import events
from aclweb.web.changes import pages as changes
from aclweb.web.clusters import pages as clusters
from aclweb.web.drafts import compare, whatif
from aclweb.web.drafts import compare_drafts as drafts
from aclweb.web.shell import session

urlpatterns: list[URLPattern] = [
    path("", home.ask, name="home"),
    path("sign-in/", session.SignIn.as_view(), name="sign-in"),
    path("sign-out/", session.SignOut.as_view(), name="sign-out"),
    path("password/", session.Password.as_view(), name="password"),
    path("clusters/", clusters.index, name="clusters"),
    path("c/<slug:slug>/", clusters.detail, name="cluster"),
    path("c/<slug:slug>/read/", clusters.read_now, name="read-now"),
    path("c/<slug:slug>/accept/", clusters.accept_reading, name="accept-reading"),
    path("c/<slug:slug>/declare/", clusters.declare, name="declare"),
    path("c/<slug:slug>/search/", search.results, name="search"),
    path("c/<slug:slug>/explain/", explain.detail, name="explain"),
    path("c/<slug:slug>/explain/line/", explain.paste, name="explain-line"),
    path("c/<slug:slug>/explain/client/", client_action.detail, name="client-action"),
    path("c/<slug:slug>/topics/", topics.index, name="topics"),
    path("c/<slug:slug>/topics/<path:name>", topics.detail, name="topic"),
    path("c/<slug:slug>/resource/", topics.resource, name="resource"),
    path("c/<slug:slug>/cell/", topics.cell, name="cell"),
    path("c/<slug:slug>/mapping/", mapping.detail, name="mapping"),
    path("c/<slug:slug>/principals/", principals.index, name="principals"),
    path("c/<slug:slug>/principal/", principals.detail, name="principal"),
    path("c/<slug:slug>/acls/", acls.index, name="acls"),
    path("c/<slug:slug>/acls/export/", acls.export, name="acls-export"),
    # What-ifs, changes, insights and audit events.
    path("c/<slug:slug>/what-if/", whatif.detail, name="what-if"),
    path("c/<slug:slug>/what-if/matches/", whatif.matches, name="what-if-matches"),
    path("c/<slug:slug>/what-if/commands/", whatif.commands, name="what-if-commands"),
    path("c/<slug:slug>/what-if/change/", whatif.turn_into_change, name="what-if-change"),
    path("c/<slug:slug>/compare/", compare.detail, name="compare"),
    path("c/<slug:slug>/compare/drafts/", drafts.detail, name="compare-drafts"),
    path("changes/", changes.index, name="changes"),
    path("changes/CR-<int:number>/", changes.detail, name="change"),
    path("changes/CR-<int:number>/commands/", changes.commands, name="change-commands"),
    path("changes/CR-<int:number>/act/", changes.act, name="change-act"),
    path("events/", events.index, name="events"),
    path("c/<slug:slug>/findings/", findings.index, name="findings"),
    path("c/<slug:slug>/findings/again/", findings.again, name="findings-again"),
    path("c/<slug:slug>/insights/", insights.index, name="insights"),
]
