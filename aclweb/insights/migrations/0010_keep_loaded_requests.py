from datetime import date, timedelta
from itertools import islice

from django.db import migrations

from aclweb.insights.requests import NEWEST_DAYS, key_of, principal_key, resource_key

_ROWS_AT_ONCE = 1_000


def keep_what_is_loaded(apps, schema_editor):
    """Bring the requests of what pages show now into the new tables, so that nobody waits for the next load."""
    alias = schema_editor.connection.alias
    load_model, seen_model = (apps.get_model("insights", name) for name in ("Load", "SeenRequest"))
    done = set()
    for load in load_model.objects.using(alias).filter(current=True).defer("manifest").order_by("-loaded_at"):
        if load.cluster_id not in done:
            done.add(load.cluster_id)
            _keep(apps, alias, load, seen_model.objects.using(alias).filter(load=load).order_by("pk"))


def _keep(apps, alias, load, seen):
    requests, totals, sets, days = (
        apps.get_model("insights", name).objects.using(alias)
        for name in ("LoggedRequest", "RequestTotals", "DaySet", "RequestDay")
    )
    set_of_day = {}
    rows = seen.iterator(_ROWS_AT_ONCE)
    while batch := list(islice(rows, _ROWS_AT_ONCE)):
        made = requests.bulk_create(_request(requests.model, load, each) for each in batch)
        totals.bulk_create(
            _totals(totals.model, load, each, number.pk) for each, number in zip(batch, made, strict=True)
        )
        of_days = []
        for each, number in zip(batch, made, strict=True):
            for day, lines in _newest(load, each.days):
                if day not in set_of_day:
                    # No day of a result has this digest, so the next load stores the day anew.
                    set_of_day[day] = sets.create(cluster_id=load.cluster_id, day=day, digest="")
                of_days.append(days.model(day_set=set_of_day[day], request=number.pk, lines=lines))
        days.bulk_create(of_days)
    load.day_sets.add(*set_of_day.values())


def _request(model, load, row):
    return model(
        cluster_id=load.cluster_id,
        key=key_of(
            row.principal, row.host, row.operation, row.resource_type, row.resource_name, row.allowed
        ),
        principal=row.principal,
        principal_key=principal_key(row.principal),
        host=row.host,
        operation=row.operation,
        resource_type=row.resource_type,
        resource_name=row.resource_name,
        resource_key=resource_key(row.resource_type, row.resource_name),
        allowed=row.allowed,
    )


def _totals(model, load, row, number):
    sums = {f"lines_{days}": sum(lines for _, lines in _newest(load, row.days, days)) for days in (7, 30, 90)}
    return model(
        cluster_id=load.cluster_id,
        request_id=number,
        added_in=load.pk,
        digest=0,
        lines=row.lines,
        **sums,
        first_at=row.first_at,
        last_at=row.last_at,
        api_names=row.api_names,
        sample="" if row.allowed else row.sample,
        decided_now=row.decided_now,
    )


def _newest(load, days, count=NEWEST_DAYS):
    """Return the (day, lines) of the last days of the log."""
    if load.last_at is None:
        return []
    last = load.last_at.date()
    first = last - timedelta(days=count - 1)
    return [(day, lines) for day, lines in days if first <= date.fromisoformat(day) <= last]


def forget_loads(apps, schema_editor):
    """Without their requests, loads would say that nothing was asked; the next refresh reads the table again."""
    loads = apps.get_model("insights", "Load").objects.using(schema_editor.connection.alias)
    loads.filter(current=True).update(current=False)


class Migration(migrations.Migration):
    dependencies = [("insights", "0009_requests_by_day")]

    operations = [migrations.RunPython(keep_what_is_loaded, forget_loads, elidable=True)]
