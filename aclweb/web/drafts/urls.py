"""The addresses of drafts: the what-if and its parts, and comparisons."""

from django.urls import path

from aclweb.web.drafts import compare, compare_drafts, computation, saved, whatif

urlpatterns = [
    path("c/<slug:slug>/what-if/", whatif.detail, name="what-if"),
    path("c/<slug:slug>/what-if/matches/", whatif.matches, name="what-if-matches"),
    path("c/<slug:slug>/what-if/commands/", whatif.commands, name="what-if-commands"),
    path("c/<slug:slug>/what-if/change/", whatif.request_change, name="what-if-change"),
    path("c/<slug:slug>/what-if/compute/", whatif.compute, name="what-if-compute"),
    path("c/<slug:slug>/what-if/save/", whatif.save, name="what-if-save"),
    path("c/<slug:slug>/drafts/", saved.index, name="drafts"),
    path("c/<slug:slug>/drafts/<slug:key>/rename/", saved.rename, name="draft-rename"),
    path("c/<slug:slug>/drafts/<slug:key>/remove/", saved.remove, name="draft-remove"),
    path("c/<slug:slug>/computations/<slug:address>/", computation.detail, name="computation"),
    path("c/<slug:slug>/computations/<slug:address>/cancel/", computation.cancel, name="computation-cancel"),
    path("c/<slug:slug>/computations/<slug:address>/again/", computation.again, name="computation-again"),
    path("c/<slug:slug>/computations/<slug:address>/change/", computation.change, name="computation-change"),
    path("c/<slug:slug>/compare/", compare.detail, name="compare"),
    path("c/<slug:slug>/compare/draft/", compare.draft, name="compare-draft"),
    path("c/<slug:slug>/compare/compute/", compare.compute, name="compare-compute"),
    path("c/<slug:slug>/compare/drafts/", compare_drafts.detail, name="compare-drafts"),
]
