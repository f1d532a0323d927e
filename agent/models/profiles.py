"""What hosts of the OpenAI Chat API disagree on. There is no form of a message that all of them accept.

A profile changes only the outgoing copy: the message list keeps what was said, so that a run begun with one host can be
continued with another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Profile:
    """How one host wants its requests."""

    name: str = "default"
    about: str = "Any other server: what came from the model goes back as it came, where the model still needs it."
    """A sentence for people: what is special here, and what to look out for."""
    base_url: str | None = None
    """Where the host usually answers."""
    hosts: tuple[str, ...] = ()
    """How the host is recognised: by its name, subdomains included, with a port where it matters, or by ``:port``."""
    content: Literal["null", "empty", "omit"] = "null"
    """The content of an assistant turn that only calls tools: ``null``, ``""``, or no such key."""
    reasoning: Literal["always", "tool_calls", "never"] = "tool_calls"
    """Which assistant turns go back with their reasoning fields: all, those that call tools, or none. Without
    ``unknown_keys``: none."""
    unknown_keys: bool = True
    """False where keys that a model added to its messages are refused; then only the common ones go back."""
    short_ids: bool = False
    """True where a call id must be nine letters and digits; others are mapped to that form, always to the same one."""
    plain_schemas: bool = False
    """True where tool schemas may hold only the common keywords: references are inlined, other keywords left out."""
    max_tokens_key: str = "max_tokens"
    """The name of the limit on the reply's length."""
    stream_usage: bool = True
    """Whether a stream is asked for its usage (``stream_options``)."""


PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile(),
        Profile(
            name="openai",
            about="OpenAI refuses keys that it does not know and names the reply limit max_completion_tokens.",
            base_url="https://api.openai.com/v1",
            hosts=("api.openai.com",),
            unknown_keys=False,
            max_tokens_key="max_completion_tokens",
        ),
        Profile(
            name="deepseek",
            about="DeepSeek's thinking mode wants the reasoning of every turn that calls tools sent back.",
            base_url="https://api.deepseek.com/v1",
            hosts=("api.deepseek.com",),
        ),
        Profile(
            name="mistral",
            about="Mistral wants call ids of exactly nine letters and digits and refuses keys that it does not know.",
            base_url="https://api.mistral.ai/v1",
            hosts=("api.mistral.ai",),
            unknown_keys=False,
            short_ids=True,
        ),
        Profile(
            name="gemini",
            about="Gemini reads only common JSON Schema keywords and wants the signatures of its calls sent back.",
            base_url="https://generativelanguage.googleapis.com/v1beta/openai",
            hosts=("generativelanguage.googleapis.com",),
            plain_schemas=True,
        ),
        Profile(
            name="openrouter",
            about="OpenRouter passes reasoning_details back to the model that wrote them, on every turn.",
            base_url="https://openrouter.ai/api/v1",
            hosts=("openrouter.ai",),
            reasoning="always",
        ),
        Profile(
            name="groq",
            about="Groq refuses keys that it does not know.",
            base_url="https://api.groq.com/openai/v1",
            hosts=("api.groq.com",),
            unknown_keys=False,
        ),
        Profile(
            name="ollama",
            about=(
                "Ollama silently drops the oldest tokens beyond a small default context, so that a model forgets its "
                "tools. Raise it on the server: OLLAMA_CONTEXT_LENGTH=16384 ollama serve, or PARAMETER num_ctx 16384 "
                "in the Modelfile; this API cannot set it."
            ),
            base_url="http://127.0.0.1:11434/v1",
            hosts=(":11434",),
        ),
        Profile(
            name="llama.cpp",
            about="llama.cpp parses tool calls when llama-server runs with --jinja; set the context with -c 16384.",
            base_url="http://127.0.0.1:8080/v1",
            hosts=("127.0.0.1:8080", "localhost:8080"),
        ),
        Profile(
            name="lmstudio",
            about="LM Studio refuses null as content. Set the context length where the model is loaded.",
            base_url="http://127.0.0.1:1234/v1",
            hosts=(":1234",),
            content="empty",
        ),
        Profile(
            name="vllm",
            about="vLLM parses tool calls when started with --enable-auto-tool-choice and --tool-call-parser.",
            base_url="http://127.0.0.1:8000/v1",
            hosts=("127.0.0.1:8000", "localhost:8000"),
        ),
    )
}
"""The known hosts by name. The base URLs are presets for a page; any other server works with ``default``."""


def profile_for(base_url: str | None) -> Profile:
    """The profile of the host that ``base_url`` names; ``default`` for one that is not known."""
    if base_url is None:
        return PROFILES["openai"]
    parts = urlsplit(base_url)
    host = (parts.netloc.rpartition("@")[2]).lower()
    for profile in PROFILES.values():
        if any(host == known or host.endswith(known if known[0] == ":" else f".{known}") for known in profile.hosts):
            return profile
    return PROFILES["default"]
