"""The report as one HTML file: it opens offline, requests nothing, and can be printed.

It is a tree of elements, so that no text of a design, a run or a trace can become HTML. The policy in its head allows
the scripts that stand in it by their hashes, and no address at all. Without scripts it lacks only the pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from agent import jsontext
from traces.experiments.analysis.summary import Summary
from traces.experiments.design.experiment import Experiment
from traces.experiments.outcomes import OUTCOMES
from traces.experiments.report.design import asked, design_part, limits_part
from traces.experiments.report.findings import arms_part, effects_part, stability_part, verdicts_part
from traces.experiments.report.runs import again_part, runs_part
from traces.experiments.rows import Row
from traces.experiments.running.creating import State
from traces.export.elements import Piece, element, section, whole_page
from traces.export.inline import inert, source_hash
from traces.export.words import Say, sayer

WORDS = Path(__file__).parent
"""The folder in which the Chinese of the report stands: ``words_zh.json``."""


def report_page(
    experiment: Experiment, rows: Sequence[Row], summary: Summary, state: State, language: str = "en"
) -> bytes:
    """The report in UTF-8.

    Args:
        experiment: the design.
        rows: the runs, in the order of the design.
        summary: what was found.
        state: id, versions and hashes.
        language: of our own words; see :data:`traces.export.words.LANGUAGES`.

    Raises:
        InputError: there is no such language.
    """
    from traces.figures.inline import library_script

    say = sayer(language, WORDS)
    title = experiment.title or say("An experiment")
    pictures = _pictures(experiment, rows, summary, say)
    main = element(
        "main",
        element("h1", title),
        asked(experiment, say),
        *_status(experiment, rows, state, say),
        verdicts_part(summary, say, sentences=language == "en"),
        stability_part(summary, say),
        section(
            say("Pictures"),
            element(
                "noscript", element("p", say("The pictures need the script of this page; the tables have the numbers."))
            ),
            *(_place(name, text) for name, text, _ in pictures),
            id="pictures",
        ),
        arms_part(summary, say),
        effects_part(summary, say),
        limits_part(experiment, say),
        design_part(experiment, say),
        runs_part(rows, say),
        again_part(experiment, state, say),
    )
    data = inert(jsontext.dumps({name: drawn for name, _, drawn in pictures}, compact=True))
    own, library, style = _asset("report.js"), library_script(), _asset("report.css")
    policy = (
        f"default-src 'none'; script-src '{source_hash(library)}' '{source_hash(own)}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    body = element(
        "body", main, element("script", type="application/json", id="data"), element("script"), element("script")
    )
    for script, text in zip(body.iter("script"), (data, library, own), strict=True):
        script.text = text
    return whole_page(title, policy, style, body, language)


def _status(experiment: Experiment, rows: Sequence[Row], state: State, say: Say) -> list[Piece]:
    """What a reader must know before all else: that runs are missing, and why."""
    pieces: list[Piece] = []
    if len(rows) < experiment.size:
        text = say(
            "Only {n} of {all} runs are here. Who looks early, and stops when it suits, finds effects where there are "
            "none.",
            n=f"{len(rows):,}",
            all=f"{experiment.size:,}",
        )
        pieces.append(element("p", text, class_="warning"))
    if state.remark:
        pieces.append(element("p", state.remark, class_="warning"))
    return pieces


def _place(name: str, text: str) -> Element:
    """Where a picture will be drawn."""
    place = element("div", class_="picture", id=f"picture-{name}", role="img", aria_label=text)
    return element("figure", element("figcaption", text), place)


def _pictures(
    experiment: Experiment, rows: Sequence[Row], summary: Summary, say: Say
) -> list[tuple[str, str, dict[str, Any]]]:
    """Name, caption and data of each picture that has something to show."""
    from traces.figures import ablation
    from traces.figures.inline import as_data

    def t(text: str) -> str:
        return say(text)

    drawn = [
        ("forest", say("Effects with their intervals; the grey band is the difference that would not matter."),
         ablation.forest(summary, [summary.outcome], t=t)),
        ("reasons", say("Why the runs ended."), ablation.stop_reasons(summary, t=t)),
        ("turns", say("Steps and tokens beside the baseline twin: large signs are means, faint ones pairs of runs."),
         ablation.turns_and_tokens(rows, summary, t=t)),
        *((f"curve-{at}", say("The primary outcome along a parameter; the dashed line is the baseline."),
           ablation.curve(experiment, summary, sweep, t=t)) for at, sweep in enumerate(ablation.sweeps(experiment))),
        ("strips", say("The message list of each run, one cell a message."), ablation.strips(experiment, rows, t=t)),
        ("others", say("The other outcomes. No verdict speaks of them, and their intervals are not corrected."),
         ablation.forest(summary, [name for name in OUTCOMES if name != summary.outcome], t=t)),
    ]  # fmt: skip
    return [(name, text, as_data(figure)) for name, text, figure in drawn if figure.data]


def _asset(name: str) -> str:
    return (WORDS / name).read_text(encoding="utf-8")
