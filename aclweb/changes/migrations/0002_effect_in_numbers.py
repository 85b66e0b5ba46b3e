"""Keep the effect of a change packed, and its numbers in columns that lists can read.

Effects that were stored as the JSON of a what-if are packed, and their hashes and those of the
approvals are made anew, because a hash is now of the packed form. An audit event keeps the hash
that it was written with.
"""

import json

from django.db import migrations, models

from aclweb.acl.simulate import LISTS, digest_of, of_entries, packed, unpacked

_HASHED = ("gains", "loses", "depends")


def pack(apps, schema_editor):
    """Pack one effect after the other; the largest known took a quarter of a gigabyte as JSON."""
    Change = apps.get_model("changes", "Change")
    Approval = apps.get_model("changes", "Approval")
    for number in list(Change.objects.filter(impact__isnull=False).values_list("pk", flat=True)):
        change = Change.objects.only("impact", "impact_hash").get(pk=number)
        effect = of_entries(change.impact)
        made_anew = digest_of(effect, _HASHED)
        Change.objects.filter(pk=number).update(
            packed_impact=packed(effect),
            unchanged=effect.unchanged,
            impact_hash=made_anew,
            **{name: effect.counts[name] for name in LISTS},
        )
        Approval.objects.filter(change_id=number, impact_hash=change.impact_hash).update(
            impact_hash=made_anew
        )


def unpack(apps, schema_editor):
    """Store the JSON again; changes that wait have to be submitted anew, because their hashes differ."""
    Change = apps.get_model("changes", "Change")
    for number in list(Change.objects.filter(packed_impact__isnull=False).values_list("pk", flat=True)):
        change = Change.objects.only("packed_impact").get(pk=number)
        effect = unpacked(bytes(change.packed_impact))
        Change.objects.filter(pk=number).update(impact=json.loads(json.dumps(effect.as_dict())))


def _number():
    return models.PositiveBigIntegerField(null=True)


class Migration(migrations.Migration):
    dependencies = [("changes", "0001_initial")]

    operations = [
        migrations.AddField("change", "packed_impact", models.BinaryField(null=True)),
        migrations.AddField("change", "gains", _number()),
        migrations.AddField("change", "loses", _number()),
        migrations.AddField("change", "recovered", _number()),
        migrations.AddField("change", "depends", _number()),
        migrations.AddField("change", "unchanged", _number()),
        migrations.RunPython(pack, unpack),
        migrations.RemoveField("change", "impact"),
    ]
