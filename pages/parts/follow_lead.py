"""Where whoever moves a run looks: noted by the pages that can move it, for those who follow."""

from __future__ import annotations

from pages.parts.history import View
from pages.parts.runs import OpenRun
from pages.parts.tabs import tabs


def take_lead(run: OpenRun) -> None:
    """This session has pressed a button: from now on its look is what those see who follow."""
    run.lead.session = tabs().own


def note_look(run: OpenRun, view: View, selected: int | None) -> None:
    """At each drawing of a page that can move the run: note where it looks, where it is this session that leads.

    Who comes first leads, and who comes when the one that led has gone, such as by a reload.

    Args:
        run: the open run.
        view: where the page looks.
        selected: position of the message that is selected; None: the newest is shown.
    """
    lead, own = run.lead, tabs().own
    if own is None or (lead.session is not None and lead.session != own and tabs().is_here(lead.session)):
        return
    at = view.number - 1 if view.past else None
    changed = (lead.at, lead.message) != (at, selected)
    lead.session, lead.at, lead.message = own, at, selected
    if changed:
        tabs().wake_others(run.id)
