"""An experiment that is over, made up: its design, its rows and what was found. Two models, a sweep, every finding."""

from __future__ import annotations

from agent.faults import Fault
from agent.interventions import Intervention
from traces.experiments.analysis.summary import Arm, Effect, Estimate, Stability, Summary, Verdict
from traces.experiments.cells import cells
from traces.experiments.design.experiment import ArmedFault, Budget, Condition, Experiment, ModelSpec, Subject
from traces.experiments.rows import Row

NASTY = "<img src=x onerror=alert(1)>"
"""A name that would do something if it ever became HTML."""
BLANKED, TOOL_FAILS = "results blanked", f"one tool fails {NASTY}"


def keep_last(count: int) -> Condition:
    change = Intervention("keep_last_results", {"count": count})
    return Condition(name=f"keep last {count}", interventions=(change,), sweep="keep last", value=count)


EXPERIMENT = Experiment(
    title=f"Does it need its results? {NASTY}",
    subjects=(
        Subject(name="code_word", scenario="code_word"),
        Subject(name="recorded", trace="subjects/run.json", step=2, mode="decision"),
        Subject(name="own", task=f"Say the word.\n{NASTY}", system="Be brief.", evidence=({"answer_contains": "B"},)),
    ),
    models=(
        ModelSpec(name="script"),
        ModelSpec(name="qwen", kind="live", model="qwen2.5", base_url="http://127.0.0.1:8080/v1", max_tokens=150),
    ),
    conditions=(
        Condition(name=BLANKED, interventions=(Intervention("blank_results", {"tools": ["read_file"]}),)),
        Condition(name=TOOL_FAILS, faults=(ArmedFault(Fault("tool_raises"), 2),)),
        keep_last(0),
        keep_last(2),
    ),
    repeats=4,
    seed=7,
    budget=Budget(tokens=100_000),
)


def rows() -> list[Row]:
    """One row a cell. Blanked results make a loop; one run of the baseline was stopped, one failed."""
    found = []
    for at, cell in enumerate(cells(EXPERIMENT)):
        loops = cell.condition == BLANKED
        found.append(
            Row(
                subject=cell.subject,
                model=cell.model,
                condition=cell.condition,
                repeat=cell.repeat,
                seed=cell.seed,
                trace_id=cell.trace_id("0123456789ab"),
                status="stopped" if at == 3 else "error" if at == 5 else "ended",
                reason="stopped_by_user"
                if at == 3
                else "model_error"
                if at == 5
                else "max_iterations"
                if loops
                else "final",
                verified=not loops,
                answer="" if loops else f"=BANANA {NASTY}",
                steps=8 if loops else 2 + cell.repeat % 2,
                calls=7 if loops else 1,
                tokens=2000 + 10 * at if loops else 400 + at,
                strip="su" + "ct" * 8 if loops else "suctctx a".replace(" ", ""),
            )
        )
    return found


def _arm(model: str, condition: str, value: float, started: int = 12) -> Arm:
    won = round(value * started)
    return Arm(
        model=model,
        condition=condition,
        started=started,
        ended=started,
        errors=0,
        stopped=0,
        outcomes={
            "success": Estimate(value, max(0, value - 0.2), min(1, value + 0.2), started),
            "tokens": Estimate(1234, 1000, 1500, started),
        },
        reasons={"final": won, "max_iterations": started - won} if won < started else {"final": won},
        run_to_run=0.1,
        task_to_task=0.2,
    )


def summary() -> Summary:
    """What was found: each kind of finding once."""
    values = {"baseline": 0.9, BLANKED: 0.0, TOOL_FAILS: 0.9, "keep last 0": 0.3, "keep last 2": 0.8}
    names = [model.name for model in EXPERIMENT.models]
    effects = [
        effect
        for model in names
        for name, value in values.items()
        if name != "baseline"
        for effect in (
            Effect(
                model, name, "success", value - 0.9, value - 1, value - 0.75, 0.001, 0.004, "McNemar, exact", 12, 0, 9
            ),
            Effect(
                model, name, "tokens", 800 * value, 800 * value - 90, 800 * value + 120, 0.2, None, "permutation", 12
            ),
            Effect(model, name, "steps", 2 * value, 2 * value - 0.5, 2 * value + 0.5, 0.2, None, "permutation", 12),
        )
    ]
    findings = {BLANKED: "effect", TOOL_FAILS: "none", "keep last 0": "inconclusive", "keep last 2": "refused"}
    return Summary(
        title=EXPERIMENT.title,
        outcome="success",
        alpha=0.05,
        margin=0.1,
        runs=EXPERIMENT.size,
        arms=tuple(_arm(model, name, value) for model in names for name, value in values.items()),
        effects=tuple(effects),
        verdicts=tuple(
            Verdict(
                model, name, finding, 40 if finding == "inconclusive" else None, f"A sentence {NASTY}", ("Mind.",), 0.1
            )
            for model in names
            for name, finding in findings.items()
        ),
        stability=tuple(Stability(model, 0.9, 0.1, -0.2, 0.2, True, False) for model in names),
        remarks=("One run proves nothing.",),
    )
