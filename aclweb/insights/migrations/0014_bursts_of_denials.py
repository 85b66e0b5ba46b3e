"""Keep of each group of denials the latest day with far more than usual."""

from django.db import migrations, models

from aclweb.insights.denial_bursts import burst_facts, log_days_of

_AT_ONCE = 1_000


def find_bursts(apps, schema_editor):
    """Find those of what pages show now, so that nobody waits for the next load."""
    alias = schema_editor.connection.alias
    load_model = apps.get_model("insights", "Load").objects.using(alias)
    group_model = apps.get_model("insights", "DenialGroup").objects.using(alias)
    log_day = apps.get_model("insights", "LogDay").objects.using(alias)
    for load in load_model.filter(current=True).defer("manifest"):
        of_log = log_days_of(load, log_day.filter(load=load))
        changed = []
        for group in group_model.filter(load=load).iterator(_AT_ONCE):
            facts = burst_facts(group.days, of_log)
            if facts["burst_day"] is not None:
                vars(group).update(facts)
                changed.append(group)
        group_model.bulk_update(changed, list(burst_facts((), 0)), batch_size=_AT_ONCE)


class Migration(migrations.Migration):
    dependencies = [("insights", "0013_last_good_refresh")]

    operations = [
        migrations.AddField("denialgroup", "burst_day", models.DateField(null=True)),
        migrations.AddField("denialgroup", "burst_lines", models.PositiveBigIntegerField(default=0)),
        migrations.AddField("denialgroup", "burst_usual", models.PositiveBigIntegerField(default=0)),
        migrations.RunPython(find_bursts, migrations.RunPython.noop, elidable=True),
    ]
