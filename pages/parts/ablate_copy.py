"""A new design out of an experiment: the same once more, or with more repeats."""

from __future__ import annotations

from dataclasses import replace

from agent.errors import InputError
from pages.parts import address, address_ablate, experiments
from pages.parts.ablate_design_begin import copied
from pages.parts.ablate_design_draft import moved
from traces.experiments.design.file import design_text


def copy_design(id: str, repeats: int | None = None) -> None:
    """Begin a new design that is this experiment's, and show it. Its files are the copies that the experiment has.

    Args:
        id: of the experiment.
        repeats: of each condition; None: as many as it had.
    """
    try:
        session = experiments.find(id)
    except InputError as error:
        address.tell(str(error))
        return
    if session is None:
        return
    experiment = moved(session.experiment, session.folder.path)
    again = replace(experiment, repeats=repeats or experiment.repeats)
    address_ablate.open_design(copied(design_text(again)))
