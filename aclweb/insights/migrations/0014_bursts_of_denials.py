"""Keep of each group of denials the latest day with far more than usual."""

from datetime import date, timedelta
from itertools import islice

from django.db import migrations, models

_AT_ONCE = 1_000
_NEWEST_DAYS = 90
_LEAST = 100
_TIMES_USUAL = 10


def find_bursts(apps, schema_editor):
    """Find those of what pages show now, so that nobody waits for the next load."""
    alias = schema_editor.connection.alias
    load_model = apps.get_model("insights", "Load").objects.using(alias)
    group_model = apps.get_model("insights", "DenialGroup").objects.using(alias)
    log_day = apps.get_model("insights", "LogDay").objects.using(alias)
    dated = load_model.filter(current=True, first_at__isnull=False, last_at__isnull=False)
    for load in dated.defer("manifest"):
        last = load.last_at.date()
        begin = last - timedelta(days=_NEWEST_DAYS - 1)
        logged = log_day.filter(load=load, day__gte=begin, day__lte=last).values("day").distinct().count()
        of_log = logged or (last - max(load.first_at.date(), begin)).days + 1
        groups = group_model.filter(load=load).iterator(_AT_ONCE)
        while some := list(islice(groups, _AT_ONCE)):
            changed = [group for group in some if _take_burst(group, begin.isoformat(), of_log)]
            group_model.bulk_update(changed, ["burst_day", "burst_lines", "burst_usual"])


def _take_burst(group, begin, of_log):
    """Give a group its latest burst from `begin` on, of so many days of the log; return whether it has one."""
    days = [(day, lines) for day, lines in group.days if day >= begin]
    usual = _median([lines for _, lines in days], of_log)
    bursts = [(day, lines) for day, lines in days if lines >= _LEAST and lines > _TIMES_USUAL * usual]
    if bursts:
        day, group.burst_lines = max(bursts)
        group.burst_day, group.burst_usual = date.fromisoformat(day), usual
    return bool(bursts)


def _median(lines, of_log):
    """Return the denials of the median day, where all other days of the log have none."""
    silent = max(0, of_log - len(lines))
    place = (silent + len(lines)) // 2 - silent
    return sorted(lines)[place] if lines and place >= 0 else 0


class Migration(migrations.Migration):
    dependencies = [("insights", "0013_last_good_refresh")]

    operations = [
        migrations.AddField("denialgroup", "burst_day", models.DateField(null=True)),
        migrations.AddField("denialgroup", "burst_lines", models.PositiveBigIntegerField(default=0)),
        migrations.AddField("denialgroup", "burst_usual", models.PositiveBigIntegerField(default=0)),
        migrations.RunPython(find_bursts, migrations.RunPython.noop, elidable=True),
    ]
