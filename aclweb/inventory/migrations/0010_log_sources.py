import django.db.models.deletion
from django.db import migrations, models


def keep_paths(apps, schema_editor):
    """Make each line of `log_paths` a log source."""
    alias = schema_editor.connection.alias
    sources = apps.get_model("inventory", "LogSource").objects.using(alias)
    clusters = apps.get_model("inventory", "Cluster").objects.using(alias)
    for pk, text in clusters.exclude(log_paths="").values_list("pk", "log_paths"):
        paths = dict.fromkeys(line.strip()[:1000] for line in text.splitlines() if line.strip())
        sources.bulk_create(sources.model(cluster_id=pk, path=path) for path in paths)


def give_paths_back(apps, schema_editor):
    alias = schema_editor.connection.alias
    found = {}
    for pk, path in apps.get_model("inventory", "LogSource").objects.using(alias).order_by("pk").values_list(
        "cluster_id", "path"
    ):
        found.setdefault(pk, []).append(path)
    clusters = apps.get_model("inventory", "Cluster").objects.using(alias)
    for pk, paths in found.items():
        clusters.filter(pk=pk).update(log_paths="\n".join(paths))


class Migration(migrations.Migration):
    """What is known of each log of a cluster, made from a text with a path a line."""

    dependencies = [("inventory", "0009_lint_runs")]

    operations = [
        migrations.CreateModel(
            name="LogSource",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", models.CharField(max_length=1000)),
                ("broker", models.CharField(blank=True, max_length=200)),
                ("time_zone", models.CharField(blank=True, max_length=64)),
                ("layout", models.CharField(blank=True, max_length=60)),
                ("pattern", models.CharField(blank=True, max_length=500)),
                (
                    "level",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "not declared"),
                            ("DEBUG", "permits and denials (DEBUG)"),
                            ("INFO", "denials only (INFO)"),
                        ],
                        default="",
                        max_length=5,
                    ),
                ),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="log_sources",
                        to="inventory.cluster",
                    ),
                ),
            ],
            options={"ordering": ["pk"]},
        ),
        migrations.AddConstraint(
            model_name="logsource",
            constraint=models.UniqueConstraint(fields=("cluster", "path"), name="log_source_once"),
        ),
        migrations.RunPython(keep_paths, give_paths_back),
    ]
