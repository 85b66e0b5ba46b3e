"""The addresses of what is in force: ACLs, resources, principals, search, findings and what the logs show."""

from django.urls import path

from aclweb.web.browse import (
    acls,
    analyses,
    analysis_page,
    broker_hours,
    choosing,
    completing,
    coverage,
    denials,
    findings,
    least_privilege,
    principals,
    search,
    topics,
    use_days,
    use_map,
    week,
)

urlpatterns = [
    path("c/<slug:slug>/search/", search.results, name="search"),
    path("c/<slug:slug>/completions/<slug:kind>/", completing.names, name="completions"),
    path("c/<slug:slug>/choose/", choosing.names, name="choose"),
    path("c/<slug:slug>/topics/", topics.index, name="topics"),
    path("c/<slug:slug>/topics/<path:name>", topics.detail, name="topic"),
    path("c/<slug:slug>/resource/", topics.resource, name="resource"),
    path("c/<slug:slug>/cell/", topics.cell, name="cell"),
    path("c/<slug:slug>/principals/", principals.index, name="principals"),
    path("c/<slug:slug>/principal/", principals.detail, name="principal"),
    path("c/<slug:slug>/principal/least-privilege/", least_privilege.detail, name="least-privilege"),
    path("c/<slug:slug>/acls/", acls.index, name="acls"),
    path("c/<slug:slug>/acls/export/", acls.export, name="acls-export"),
    path("c/<slug:slug>/findings/", findings.index, name="findings"),
    path("c/<slug:slug>/findings/again/", findings.again, name="findings-again"),
    path("c/<slug:slug>/insights/", denials.index, name="insights"),
    path("c/<slug:slug>/insights/denials/mark/", denials.mark, name="denials-mark"),
    path("c/<slug:slug>/insights/denials/export/", denials.export, name="denials-export"),
    path("c/<slug:slug>/insights/use/", use_map.index, name="use-map"),
    path("c/<slug:slug>/insights/use/days/", use_days.detail, name="use-days"),
    path("c/<slug:slug>/insights/analyses/", analyses.index, name="analyses"),
    path("c/<slug:slug>/insights/analyses/start/", analyses.start, name="analysis-start"),
    path("c/<slug:slug>/insights/analyses/<slug:address>/", analysis_page.detail, name="analysis"),
    path("c/<slug:slug>/insights/analyses/<slug:address>/cancel/", analysis_page.end, name="analysis-cancel"),
    path(
        "c/<slug:slug>/insights/analyses/<slug:address>/export/", analysis_page.export, name="analysis-export"
    ),
    path("c/<slug:slug>/insights/week/", week.index, name="week"),
    path("c/<slug:slug>/insights/coverage/", coverage.index, name="coverage"),
    path("c/<slug:slug>/insights/coverage/broker/", broker_hours.detail, name="broker-hours"),
    path("c/<slug:slug>/insights/coverage/export/", coverage.export, name="coverage-export"),
    path("c/<slug:slug>/insights/coverage/retire/", coverage.retire_broker, name="broker-retire"),
]
