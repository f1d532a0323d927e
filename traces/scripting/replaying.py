"""A recording said again by the loop itself, in memory and at once, and where the replay is not what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent import clock
from agent.events import Phase
from agent.loop import Loop
from agent.models.recording import Recording
from agent.models.replay import Difference, same_messages, same_outcome
from agent.scripts import Script
from agent.stops import BY_A_PERSON, StopReason
from agent.trace import Trace
from traces.scripting.data import script_of

_WARNING = "lenient replay:"


@dataclass(frozen=True, slots=True)
class Replayed:
    """A replay that is over."""

    script: Script
    loop: Loop
    """The run. It has not ended where the recording breaks off in the middle of a turn."""
    messages: tuple[Difference, ...] = ()
    """Where the message list is not the recorded one, calls and results included."""
    outcome: tuple[Difference, ...] = ()
    """Where the stop reason or the final answer are not."""
    remarks: tuple[str, ...] = ()
    """What is no difference but worth knowing, one sentence each."""

    @property
    def trace(self) -> Trace:
        """What the replay left behind."""
        return self.loop.trace

    @property
    def differences(self) -> tuple[Difference, ...]:
        """All of them."""
        return (*self.messages, *self.outcome)


def replay(source: Trace | Script, *, stop_after_s: float | None = None) -> Replayed:
    """Play a recording to its end: nothing is called, and nothing is waited for.

    A request that is not the recorded one does not end the replay; it is remarked.

    Args:
        source: a trace of any format; or a script that was made of one. What a script does not hold answers of is run
            for real.
        stop_after_s: seconds after which the rest is left out, which is remarked; None: however long it takes.

    Raises:
        InputError: the trace keeps what no script can hold; the text says what.
    """
    script = source if isinstance(source, Script) else script_of(source)
    loop = script.loop(pace=0, replay="lenient", parallel=False)
    recorded = script.recorded
    end = None if stop_after_s is None else clock.monotonic() + stop_after_s
    late = False
    loop.start(script.opening)
    while not late and (loop.phase is not None or loop.more):
        if recorded is not None and _breaks_off(loop, script, recorded):
            break
        late = end is not None and clock.monotonic() > end
        if loop.waiting:
            loop.finish()
        loop.advance()
    if recorded is None:
        return Replayed(script, loop)
    messages = tuple(same_messages(recorded, loop.messages))
    remarks = [f"stopped after {stop_after_s:g} seconds: the rest was not replayed"] if late else []
    remarks += _remarks(script, recorded, loop)
    return Replayed(script, loop, messages, tuple(same_outcome(recorded, loop.trace.outcome)), tuple(remarks))


def _breaks_off(loop: Loop, script: Script, recorded: Recording) -> bool:
    """Whether the recording ends here, in the middle of a turn: with calls or words that it holds no answer to."""
    made, known = loop.run.counters.model_calls, len(recorded.requests)
    if len(loop.messages) < recorded.length or made < known:
        return False
    unanswered = loop.phase is Phase.PREPARE and known < len(script.turns)
    return unanswered or (loop.phase is Phase.APPROVE and made == len(script.turns))


def _remarks(script: Script, recorded: Recording, loop: Loop) -> Iterator[str]:
    now = loop.trace.outcome
    if now.reason is None:
        yield "the recording ends in the middle of a turn, and so does the replay"
    elif recorded.reason in BY_A_PERSON:
        yield f"a person ended the recorded run ({recorded.reason}); the replay ended with {now.reason}"
    elif now.reason == StopReason.SCRIPT_EXHAUSTED and not recorded.says_how_it_ended:
        yield "the recording does not go on from here: the script has run out"
    warned = [f"step {step.index}: {words}" for step in loop.trace.steps for words in _warnings(step.warnings)]
    yield from warned


def _warnings(warnings: list[str]) -> Iterator[str]:
    return (words for words in warnings if words.startswith(_WARNING))
