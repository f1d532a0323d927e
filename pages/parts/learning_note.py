"""The small note that a learner keeps at the end of a lesson."""

from __future__ import annotations

from agent.trace import Trace
from traces.lessons.lesson import Lesson


def learning_note(lesson: Lesson, trace: Trace) -> None:
    """Draw the note on a lesson beside the trace of its run: read, write, save, download.

    Args:
        lesson: the lesson.
        trace: of its run, which has ended.
    """


def notebook_link(trace_id: str, lesson: Lesson | None = None) -> None:
    """Draw the way to the notebook of a run.

    Args:
        trace_id: of the run.
        lesson: whose run it is, if of one.
    """
