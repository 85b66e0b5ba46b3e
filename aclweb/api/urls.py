"""The addresses of the API. Version 1 is promised: fields are added, never renamed."""

from django.urls import path
from drf_spectacular.views import SpectacularAPIView

from aclweb.api import (
    analyses,
    changes,
    clusters,
    comparing,
    computations,
    details,
    dismissals,
    findings,
    insights,
    log_sources,
    moves,
    needs,
    owners,
    principal_names,
    principals,
    removals,
    views,
)

app_name = "api"

urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("v1/clusters/", clusters.ClusterList.as_view(), name="clusters"),
    path("v1/clusters/<slug:slug>/", clusters.ClusterDetail.as_view(), name="cluster"),
    path("v1/clusters/<slug:slug>/check/", clusters.ClusterCheck.as_view(), name="check"),
    path("v1/clusters/<slug:slug>/move/", moves.ClusterMove.as_view(), name="move"),
    path("v1/clusters/<slug:slug>/move/switch/", moves.SwitchMove.as_view(), name="move-switch"),
    path("v1/clusters/<slug:slug>/removal/", removals.ClusterRemoval.as_view(), name="removal"),
    path("v1/removed-clusters/", removals.RemovedClusters.as_view(), name="removed-clusters"),
    path(
        "v1/removed-clusters/<int:number>/changes/",
        removals.RemovedChanges.as_view(),
        name="removed-cluster-changes",
    ),
    path(
        "v1/clusters/<slug:slug>/broker-settings/",
        clusters.ClusterBrokerSettings.as_view(),
        name="broker-settings",
    ),
    path("v1/clusters/<slug:slug>/acls/", views.AclList.as_view(), name="acls"),
    path("v1/clusters/<slug:slug>/affecting/", views.Affecting.as_view(), name="affecting"),
    path("v1/clusters/<slug:slug>/decide/", views.Decide.as_view(), name="decide"),
    path("v1/clusters/<slug:slug>/what-if/", views.WhatIf.as_view(), name="what-if"),
    path("v1/clusters/<slug:slug>/needs/", needs.Needs.as_view(), name="needs"),
    path("v1/clusters/<slug:slug>/findings/", findings.FindingList.as_view(), name="findings"),
    path(
        "v1/clusters/<slug:slug>/findings/<int:number>/dismiss/",
        dismissals.DismissFinding.as_view(),
        name="finding-dismiss",
    ),
    path(
        "v1/clusters/<slug:slug>/dismissals/<int:number>/",
        dismissals.DismissalDetail.as_view(),
        name="dismissal",
    ),
    path("v1/clusters/<slug:slug>/log-sources/", log_sources.LogSourceList.as_view(), name="log-sources"),
    path("v1/clusters/<slug:slug>/denials/", insights.DenialList.as_view(), name="denials"),
    path("v1/clusters/<slug:slug>/coverage/", insights.CoverageList.as_view(), name="coverage"),
    path("v1/clusters/<slug:slug>/use/", insights.UseList.as_view(), name="use"),
    path("v1/clusters/<slug:slug>/replay/", insights.ReplayList.as_view(), name="replay"),
    path("v1/clusters/<slug:slug>/owners/", owners.OwnerList.as_view(), name="owners"),
    path(
        "v1/clusters/<slug:slug>/principal-names/",
        principal_names.PrincipalNameList.as_view(),
        name="principal-names",
    ),
    path("v1/clusters/<slug:slug>/details/", details.DetailLists.as_view(), name="detail-lists"),
    path("v1/clusters/<slug:slug>/details/<slug:kind>/", details.DetailRows.as_view(), name="details"),
    path("v1/clusters/<slug:slug>/groups/", details.GroupRows.as_view(), name="groups"),
    path("v1/clusters/<slug:slug>/principals/", principals.PrincipalRows.as_view(), name="principals"),
    path(
        "v1/clusters/<slug:slug>/principals/compare/",
        principals.PrincipalComparison.as_view(),
        name="principals-compare",
    ),
    path("v1/clusters/<slug:slug>/analyses/", analyses.AnalysisList.as_view(), name="analyses"),
    path(
        "v1/clusters/<slug:slug>/analyses/<slug:address>/",
        analyses.AnalysisDetail.as_view(),
        name="analysis",
    ),
    path(
        "v1/clusters/<slug:slug>/analyses/<slug:address>/rows/",
        analyses.AnalysisRows.as_view(),
        name="analysis-rows",
    ),
    path("v1/clusters/<slug:slug>/compare/", comparing.Compare.as_view(), name="compare"),
    path(
        "v1/clusters/<slug:slug>/computations/<slug:address>/",
        computations.ComputationDetail.as_view(),
        name="computation",
    ),
    path("v1/changes/", changes.ChangeList.as_view(), name="changes"),
    path("v1/changes/CR-<int:number>/", changes.ChangeDetail.as_view(), name="change"),
]
