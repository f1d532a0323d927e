"""What a cell says: what its phase did, how the run ended, and what the lesson says there. Plain text throughout.

Names of tools, reasons and sentences out of a trace stand in it as they are, so whoever writes a form escapes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from agent.events import STATE_OF, Phase
from agent.trace import ToolRun, Trace, TraceStep
from traces.export.facts import tokens_words
from traces.export.words import Say
from traces.lessons.lesson import Ask, Lesson, Option, Text
from traces.notebook.cells import Asked, Cell, Notebook

Translate = Callable[[str], str]
"""Gives a sentence that the loop wrote into a trace in the language of a form, as far as there is one."""


def head(cell: Cell, say: Say) -> str:
    """The title of a cell: the state and the phase that acted, with the step."""
    match cell.kind:
        case "idea":
            return say("The lesson")
        case "start":
            return say("The run begins")
        case "lesson":
            return say("Predict and notice")
        case "task":
            return say("Afterwards")
        case "end":
            return say("The end") if cell.phase is None else say("So far")
    if cell.phase is None:
        return say("What comes from outside")
    return f"{STATE_OF[cell.phase]} · {phase_word(cell.phase, say)} · {say('step {n}', n=cell.step)}"


def picture_words(cell: Cell, say: Say) -> str:
    """What the picture of a cell shows, for those who cannot see it."""
    if cell.kind == "phase" and cell.phase is not None:
        return say("The loop in {state}: {phase} acts", state=cell.state, phase=phase_word(cell.phase, say))
    if cell.phase is None:
        return say("The loop in {state}", state=cell.state)
    return say("The loop in {state}: {phase} comes next", state=cell.state, phase=phase_word(cell.phase, say))


def phase_word(phase: Phase, say: Say) -> str:
    """The name of a phase."""
    words = {
        Phase.PREPARE: say("prepare"),
        Phase.CALL: say("call"),
        Phase.APPROVE: say("approve"),
        Phase.EXECUTE: say("execute"),
        Phase.APPEND: say("append"),
        Phase.DECIDE: say("decide"),
    }
    return words[phase]


def did(trace: Trace, cell: Cell, say: Say) -> list[str]:
    """What happened in a cell of kind ``start`` or ``phase``, a sentence each."""
    if cell.kind == "start":
        count = len(cell.messages)
        one = say("Before the first phase there is 1 message in the list.")
        return [one if count == 1 else say("Before the first phase there are {n} messages in the list.", n=count)]
    step = _step(trace, cell.step)
    match cell.phase:
        case Phase.PREPARE if step is not None and step.request is not None and step.request.edits:
            return [_edits(step, say)]
        case Phase.CALL if step is not None:
            return _call(trace, step, say)
        case Phase.APPROVE if step is not None:
            return [_about(run, say) for run in step.tools]
        case Phase.APPEND if step is not None:
            word = say("The program wrote the results into the message list, in the order of the calls.")
            return [word, *(_about(run, say) for run in step.tools)]
        case None:
            return [say("The user, or another program, goes on.")]
    return []


def _step(trace: Trace, number: int) -> TraceStep | None:
    """The step of this number: nearly always it stands at its own place."""
    if 0 < number <= len(trace.steps) and trace.steps[number - 1].index == number:
        return trace.steps[number - 1]
    return next((step for step in trace.steps if step.index == number), None)


def _edits(step: TraceStep, say: Say) -> str:
    edits = step.request.edits if step.request is not None else []
    counts = Counter[tuple[str, str]]()
    for edit in edits:
        counts[edit.op, edit.by] += edit.count
    words = {"drop": say("left out"), "replace": say("replaced"), "insert": say("put in")}
    told = ", ".join(f"{words.get(op, op)} {n} ({by})" for (op, by), n in counts.items())
    return say("The request was not the message list as it stands: {what}.", what=told)


def _call(trace: Trace, step: TraceStep, say: Say) -> list[str]:
    if step.reply is None:
        lines = [say("The model call gave no reply.")]
    elif calls := trace.messages[step.reply].tool_calls:
        lines = [say("The model asks for {tools}. Asking runs nothing.", tools=", ".join(call.name for call in calls))]
    else:
        lines = [say("The model answers with text and asks for no tool.")]
    if step.retries:
        lines.append(say("Attempts before that failed: {n}.", n=len(step.retries)))
    numbers = [say("tokens: {n}", n=tokens_words(step.usage, say))]
    numbers += [] if step.latency_ms is None else [say("{n} ms", n=f"{step.latency_ms:,.0f}")]
    return [*lines, " · ".join(numbers)]


def _about(run: ToolRun, say: Say) -> str:
    """One line about a call: what the program decided, and what came of it."""
    parts = [decision_word(run.decision, say)]
    parts += [say("it failed")] if run.ok is False else []
    parts += [] if run.latency_ms is None else [say("{n} ms", n=f"{run.latency_ms:,.1f}")]
    return f"{run.name} ({run.tool_call_id}): {', '.join(parts)}"


def decision_word(decision: str | None, say: Say) -> str:
    """What the program did about a call; a word of another program as it is."""
    words = {
        None: say("not reported"),
        "run": say("run as asked"),
        "edited": say("run with other arguments"),
        "mocked": say("answered with a given result"),
        "skipped": say("skipped"),
        "rejected": say("rejected by a person"),
        "denied": say("denied by the policy"),
        "timed_out": say("timed out"),
        "unknown": say("outcome unknown"),
    }
    return words.get(decision) or str(decision)


def ending(notebook: Notebook, say: Say, translate: Translate = str) -> list[tuple[str, str]]:
    """How a run ended: names and values. Why it stopped and whether the task is done are two things."""
    trace, outcome = notebook.trace, notebook.trace.outcome
    if notebook.now is not None:
        state, phase = STATE_OF[notebook.now], phase_word(notebook.now, say)
        stands = say("{state}, next: {phase}", state=state, phase=phase)
        return [(say("The run goes on"), stands), (say("Tokens"), tokens_words(trace.usage, say))]
    unknown = say("not reported")
    reason = ": ".join(part for part in (outcome.reason or unknown, translate(outcome.detail)) if part)
    verdict = {True: say("all checks hold"), False: say("a check fails"), None: say("nothing was checked")}
    if outcome.verified is None and outcome.evidence:
        verdict[None] = say("the checks do not decide it")
    told = [(say("Stop reason"), reason), (say("Is the task done?"), verdict[outcome.verified])]
    for item in outcome.evidence:
        mark = "?" if item.ok is None else "✓" if item.ok else "×"
        detail = f" ({translate(item.detail)})" if item.detail else ""
        told.append((say("Evidence"), f"{mark} {translate(item.check)}{detail}"))
    answer = outcome.final or say("none")
    return [*told, (say("Final answer"), answer), (say("Tokens"), tokens_words(trace.usage, say))]


# ---- the lesson ----


def lesson_texts(notebook: Notebook, cell: Cell, say: Say) -> list[tuple[str, str]]:
    """What the lesson says in a cell: what each text is, and the text."""
    lesson = notebook.lesson
    match cell.kind:
        case "idea" if lesson is not None:
            return _before(notebook, lesson, say)
        case "task" if lesson is not None:
            return _after(notebook, lesson, say)
        case "lesson":
            asked = [part for question in cell.questions for part in _question(question, notebook.language, say)]
            return asked + [(say("Notice"), text) for text in cell.texts]
    return []


def _before(notebook: Notebook, lesson: Lesson, say: Say) -> list[tuple[str, str]]:
    language = notebook.language
    told = [(say("Idea"), lesson.idea.of(language)), (say("Question"), lesson.question.of(language))]
    if notebook.variant is not None and len(lesson.variants) > 1:
        told.append((say("Variant"), notebook.variant.title.of(language)))
    return told


def _after(notebook: Notebook, lesson: Lesson, say: Say) -> list[tuple[str, str]]:
    own, language = notebook.own, notebook.language
    told = [] if lesson.task is None else [(say("Task"), lesson.task.of(language))]
    if own.words.strip():
        told.append((say("My answer"), own.words))
    if own.looked and lesson.answer is not None:
        told.append((say("The answer of the lesson"), lesson.answer.of(language)))
    return told + ([] if lesson.takeaway is None else [(say("To keep"), lesson.takeaway.of(language))])


def _question(question: Asked, language: str, say: Say) -> list[tuple[str, str]]:
    ask, right = question.ask, question.answer
    told = [(say("Question"), _asked(ask, language, say))]
    if question.said is not None:
        told.append((say("My prediction"), _predicted(question, language, say)))
    if right is None:
        return told
    told.append((say("The run answers"), _answer(ask, right, language, say)))
    wrong = question.said if question.said != right else None
    whys = [_why(ask, wrong), ask.why, _why(ask, right)]
    return told + [(say("Why"), why.of(language)) for why in whys if why is not None]


def _predicted(question: Asked, language: str, say: Say) -> str:
    if not question.said:
        return say("passed over")
    words = _answer(question.ask, question.said, language, say)
    if question.answer is None:
        return words
    if question.said == question.answer:
        return say("{answer} (right)", answer=words)
    return say("{answer} (not right)", answer=words)


def _asked(ask: Ask, language: str, say: Say) -> str:
    options = "".join(f"\n{chr(ord('A') + at)}. {each.text.of(language)}" for at, each in enumerate(ask.options))
    return f"{ask_words(ask, language, say)}{options}"


def _answer(ask: Ask, answer: str, language: str, say: Say) -> str:
    letter = f"{chr(ord('A') + int(answer))}. " if _option(ask, answer) is not None else ""
    return f"{letter}{choice_words(ask, answer, language, say)}"


def _why(ask: Ask, answer: str | None) -> Text | None:
    option = _option(ask, answer or "")
    return None if option is None else option.why


def _option(ask: Ask, answer: str) -> Option | None:
    """The option that an answer chose; None where the question has none, or a teacher has taken it away since."""
    at = int(answer) if answer.isdecimal() else -1
    return ask.options[at] if 0 <= at < len(ask.options) else None


def ask_words(ask: Ask, language: str, say: Say) -> str:
    """A question in words, without what can be answered. Those of kind ``choice`` are data."""
    if ask.text is not None:
        return ask.text.of(language)
    words = {
        "maker": say("Who makes the next message?"),
        "role": say("Which role does the next message have?"),
        "reply": say("Does the model ask for a tool, or does it answer?"),
        "stop": say("Does the run end with this step, or does it go on?"),
    }
    return words[ask.kind]


def choice_words(ask: Ask, choice: str, language: str, say: Say) -> str:
    """One answer to a question in words. Those of kind ``choice`` are data."""
    if (option := _option(ask, choice)) is not None:
        return option.text.of(language)
    words = {
        "tools": say("It asks for a tool"),
        "text": say("It answers with text"),
        "stops": say("It ends"),
        "goes_on": say("It goes on"),
    }
    return words.get(choice) or named(choice, say)


def named(word: str, say: Say) -> str:
    """A role or a maker in the language of a form; a word of another program as it is."""
    names = {
        "system": say("system"),
        "developer": say("developer"),
        "user": say("user"),
        "assistant": say("assistant"),
        "tool": say("tool"),
        "function": say("function"),
        "model": say("model"),
        "code": say("code"),
        "environment": say("environment"),
    }
    return names.get(word, word)
