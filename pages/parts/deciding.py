"""What a person can say to a run as it stands: decide about its calls, let it go on after a limit, try again."""

from __future__ import annotations

from agent.events import Phase
from pages.parts.approving import approval_panel, decided_list, editing
from pages.parts.extending import extend_button
from pages.parts.history import View
from pages.parts.paused import failure_panel
from pages.parts.runs import OpenRun
from pages.parts.transport import Drawn, note_editor


def decide_panel(run: OpenRun, drawn: Drawn, view: View, *, ready: bool) -> None:
    """Draw it.

    Args:
        run: the open run.
        drawn: the snapshot of it that the page is drawn from.
        view: where the page looks.
        ready: nothing keeps the run from moving.
    """
    writes = False
    failure_panel(run)
    if view.past:
        decided_list(view.pending)
    elif drawn.done and ready:
        extend_button(run)
    elif view.phase is Phase.APPROVE and ready and not drawn.busy:
        approval_panel(run)
        writes = editing(run)
    note_editor(run, writes=writes)
