"""Pieces of scripts to begin with and to insert: the format by example."""

from __future__ import annotations

from dataclasses import dataclass

from pages.parts.words import t


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a script."""

    label: str
    """What it is, in the language of the session."""
    text: str
    """It ends without a line break."""


def starter() -> str:
    """A new script: small, and with a remark on each of its parts."""
    return "\n".join(
        [
            f"# {t('The run: what the user asks, and which tools are on offer.')}",
            "title: What is 2 + 3?",
            "task: What is 2 + 3?",
            "tools: [add]",
            f"# {t('What the model says: the first model call gets the first turn, and so on.')}",
            "turns:",
            "  - calls:",
            "      - {name: add, arguments: {a: 2, b: 3}}",
            f"  # {t('A turn with rules looks at what the request really holds; the first rule that fits speaks.')}",
            "  - rules:",
            "      - when: {result: missing}",
            "        text: I was given no result.",
            "    default:",
            "      text: The sum is 5.",
            "",
        ]
    )


def snippets() -> list[Snippet]:
    """Pieces to insert, the most used first. Turns and tools are written with the blanks of their list."""
    return [
        Snippet(t("A turn that calls a tool"), "  - calls:\n      - {name: add, arguments: {a: 2, b: 3}}"),
        Snippet(t("A turn that answers"), "  - text: The answer is 5."),
        Snippet(
            t("Two calls with results written down"),
            "  - calls:\n"
            '      - {name: add, arguments: {a: 1, b: 2}, result: "3", took_ms: 20}\n'
            "      - {name: add, arguments: {a: 3, b: 4}, error: out of order, retryable: true}",
        ),
        Snippet(
            t("A turn with rules"),
            "  - rules:\n"
            "      - when: {result: missing}\n"
            "        calls:\n"
            "          - {name: add, arguments: {a: 2, b: 3}}\n"
            '      - when: {contains: "5"}\n'
            "        text: The sum is 5.\n"
            "    default:\n"
            "      text: I do not know.",
        ),
        Snippet(
            t("Words of the user between two turns"),
            "  - before: [And now twice as much, please.]\n    text: That makes 10.",
        ),
        Snippet(
            t("Usage, time and a finish reason"),
            "  - text: The answer is\n"
            "    usage: {prompt_tokens: 120, completion_tokens: 4}\n"
            "    latency_ms: 300\n"
            "    finish_reason: length",
        ),
        Snippet(
            t("A reply as a provider sends it"),
            "  - raw:\n"
            "      role: assistant\n"
            "      content: null\n"
            "      tool_calls:\n"
            '        - {id: "", type: function, function: {name: add, arguments: "{\\"a\\": 2, \\"b\\""}}',
        ),
        Snippet(t("A model call that fails"), "  - error: {text: too many requests, kind: provider, status: 429}"),
        Snippet(
            t("A fault after a reply"),
            "  - calls:\n      - {name: add, arguments: {a: 2, b: 3}}\n    faults: [tool_raises]",
        ),
        Snippet(
            t("A tool of the script"),
            "tools:\n"
            "  - add\n"
            "  - name: lookup\n"
            "    description: Looks up an order.\n"
            "    results:\n"
            "      - {arguments: {id: 1}, result: sent, took_ms: 20}\n"
            "      - {error: no such order, retryable: false}",
        ),
        Snippet(
            t("Limits, and what may run"),
            "max_steps: 5\nlimits: {repeated_calls: 3, failing_steps: 3}\npolicy: {deny: [cancel_order]}",
        ),
        Snippet(t("Checks of the answer"), 'evidence:\n  - answer_contains: "5"\n  - tool_succeeded: add'),
    ]


def keys() -> dict[str, list[tuple[str, str]]]:
    """The keys of a script, each with what it means, under the names of the sections of ``FORMAT.md``."""
    return {
        "The script": [
            ("title, summary", t("What the list shows; with _zh the Chinese.")),
            ("task, user", t("The user's message, or a list: one for each turn of the conversation.")),
            ("system", t("The system text.")),
            ("tools", t("Names from the toolbox, or tools of the script with their own results.")),
            ("turns", t("What the model says, one item for each model call; a plain text is a final answer.")),
            ("seed", t("For chances: the same seed, the same run.")),
            ("max_steps, limits, policy, context", t("What may stop the run, and what it may do.")),
            ("protocol, parallel, options", t("How the model is asked.")),
            ("evidence", t("Checks that say whether the task is done.")),
            ("recorded, replay", t("What a recording held, and how strictly it is followed.")),
        ],
        "A turn": [
            ("text, calls, reasoning", t("The reply; a call has name, arguments and perhaps an id.")),
            ("result, error, took_ms", t("In a call: what the tool answers; without it the real tool runs.")),
            ("message, raw, error", t("A whole message; a reply as a provider sends it; a call that fails.")),
            ("usage, latency_ms, finish_reason", t("Tokens, milliseconds, and the provider's word for the end.")),
            ("before", t("What is said from outside before this turn.")),
            ("faults", t("What goes wrong after this reply.")),
            ("repeat", t("How many times the turn is said.")),
        ],
        "Rules": [
            ("rules, default", t("First match wins; in a turn, or in place of turns for every model call.")),
            ("result", t("present, missing, blank or error: the results of the last calls.")),
            ("contains, tool", t("A text in these results; the tool whose calls are looked at.")),
            ("calls, turn", t("How many calls the request holds; which model call it is.")),
            ("offered, hidden, last_error", t("A tool on offer or not; a text in the last error.")),
            ("prompt_over, request_contains", t("More tokens than this; a text anywhere in the request.")),
            ("chance, not, any", t("How often, by the seed; what must not hold; of these one.")),
        ],
    }
