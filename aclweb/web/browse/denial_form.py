"""What may a person say of a group of denials, and which sentence is shown at a wrong field?"""

from __future__ import annotations

import re
from typing import Any

from django import forms

from aclweb.accounts.models import User
from aclweb.changes import queries as changes
from aclweb.insights.denial_marks import DenialError, mark
from aclweb.insights.denials import Denial, State, in_words
from aclweb.inventory.models import Cluster

_CHANGE = re.compile(r"(?:CR-)?([0-9]{1,9})", re.IGNORECASE)


class DenialForm(forms.Form):
    """The state of a group, with the reason, the day or the change that belongs to it."""

    state = forms.ChoiceField(label="State", choices=State.choices, widget=forms.RadioSelect)
    reason = forms.CharField(
        label="Why",
        required=False,
        max_length=500,
        widget=forms.TextInput(attrs={"class": "form-control", "placeholder": "for the next reader"}),
    )
    until = forms.DateField(
        label="Ignored until",
        required=False,
        widget=forms.DateInput(attrs={"class": "form-control", "type": "date"}),
        error_messages={"invalid": "This is no day; write it as 2026-12-31."},
    )
    change = forms.CharField(
        label="Fixed by the change",
        required=False,
        max_length=20,
        widget=forms.TextInput(attrs={"class": "form-control", "placeholder": "none, or CR-7"}),
    )

    def __init__(self, *args: Any, cluster: Cluster, person: User, **kwargs: Any) -> None:
        kwargs.setdefault("auto_id", "denial-%s")
        super().__init__(*args, **kwargs)
        self.cluster, self.person = cluster, person

    @classmethod
    def as_stored(cls, found: Denial) -> dict[str, Any]:
        """Return what the form begins with."""
        said = found.mark
        if said is None:
            return {"state": found.state}
        change = f"CR-{said.change}" if said.change is not None else ""
        return {"state": found.state, "reason": said.reason, "until": said.until, "change": change}

    def clean_change(self) -> int | None:
        text: str = self.cleaned_data["change"].strip()
        if not text:
            return None
        found = _CHANGE.fullmatch(text)
        seen = changes.changes_of(self.person, self.cluster)
        if found is None or not seen.filter(pk=int(found[1])).exists():
            raise forms.ValidationError(
                f"There is no change {text!r} of {self.cluster.name} that you may see; write it as CR-7."
            )
        return int(found[1])

    def mark(self, found: Denial) -> bool:
        """Store the state; return False, with the sentence at its field, where it cannot be set so."""
        given = self.cleaned_data
        try:
            mark(cluster=self.cluster, key=found.key, denial=in_words(found), actor=self.person, **given)
        except DenialError as error:
            self.add_error(error.field or None, str(error))
            return False
        return True
