"""The rule about calls that a text speaks of and that were never made."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.models.text_calls import claims_a_call, states
from traces.lint.findings import Finding, Rule, Severity
from traces.lint.material import Answer, Material, short

CLAIMED = Rule(
    "claimed_call",
    Severity.ERROR,
    "Claimed but never made",
    ("Message {n} speaks of a call that was never made: {words}",),
    "The user believes that something was done or looked up, and it was not.",
    "Do not take the model's word: check that the call is in the trace, and ask again where it is not.",
)
RULES = (CLAIMED,)

_I = r"\b(?:I|we)(?:['’]ve| have)?(?: just| already| now| also| successfully| then)* "
_NOUN = r"(?:the |your |this |that |a |an |all |my |our |it\b)"
_ACTIONS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        re.compile(
            rf"(?i){_I}(?:searched|googled|looked up|browsed) (?:for |through |on )?(?:the (?:web|internet|database)|"
            rf"online|google|the latest)|{_I}searched (?:for|online)|"
            r"我(?:已经?|刚刚?)?(?:在网上|上网|在线)?(?:搜索|搜|查询|检索)(?:过)?了"
        ),
        re.compile(
            r"(?i)search|web|brows|fetch|google|find|look|query|grep|retriev|get|http|url|read|list|run|exec|sh"
        ),
    ),
    (
        re.compile(
            rf"(?i){_I}(?:saved|written|wrote|stored|exported) (?:{_NOUN}[\w ]{{0,40}})?(?:to|into|in|as) [\w ]{{0,30}}"
            rf"(?:file|disk|folder|`|['\"]?[\w/-]+\.\w{{2,4}}\b)|"
            r"我(?:已经?|刚刚?)?(?:将|把)?[^。，]{0,20}(?:保存|写入|存储|导出)(?:到|至|在|为|成|好)?了?[^。，]{0,20}(?:文件|磁盘|文件夹|目录)"
        ),
        re.compile(
            r"(?i)save|writ|creat|edit|patch|file|stor|insert|updat|bash|sh|exec|command|run|python|code|replac|put|"
            r"upload|export|note|memory|document|canvas|artifact|add|append"
        ),
    ),
    (
        re.compile(
            rf"(?i){_I}(?:ran|run|executed|re-?ran) {_NOUN}?(?:\w+ ){{0,2}}(?:tests?|test suite|script|command|program|"
            r"query|build|linter)\b|我(?:已经?|刚刚?)?(?:运行|执行|跑)(?:过)?了[^。，]{0,10}(?:测试|脚本|命令|程序|代码)"
        ),
        re.compile(r"(?i)run|exec|bash|sh|python|code|command|terminal|test|query|sql|build|lint|script|repl|notebook"),
    ),
    (
        re.compile(
            rf"(?i){_I}(?:sent|emailed|mailed) {_NOUN}(?:\w+ ){{0,3}}(?:e-?mail|message|invitation|notification|"
            r"invite)\b|我(?:已经?|刚刚?)?(?:发送|寄出|发出|发)(?:过)?了[^。，]{0,10}(?:邮件|消息|通知|邀请)"
        ),
        re.compile(r"(?i)send|mail|messag|post|notif|reply|slack|invit|sms|create|schedule|exec|run|sh|http|command"),
    ),
)
"""What a text says was done, and a word in the name of any tool that could have done it."""
_ADDRESSED = re.compile(
    r"(?i)\bfor you\b|\bas you (?:asked|requested|wanted)\b|(?<=已)将|(?<=已经)将|[为给替][你您]|[你您]的"
)
"""Words that make a sentence advice or a plan, but not here."""


def check(material: Material) -> Iterator[Finding]:
    """Look at the answers of a trace that has tools; without tools a text can only be about something else."""
    if not material.names:
        return
    called: set[str] = set()
    for answer in material.answers:
        called |= {call.run.name for call in answer.calls}
        if (words := _claim(material, answer, called)) is None:
            continue
        step = answer.step
        yield Finding(
            rule=CLAIMED,
            facts={"n": answer.message + 1, "words": short(words, 200)},
            message=answer.message,
            step=step.index if step else None,
            evidence=(answer.message,),
        )


def _claim(material: Material, answer: Answer, called: set[str]) -> str | None:
    text = answer.text
    if not text:
        return None
    if (words := claims_a_call(text, material.names, called=called)) is not None:
        return words
    for action, tools in _ACTIONS:
        if action.search(text) and not any(tools.search(name) for name in called):
            words = states(_ADDRESSED.sub("", text), (action,))
            if words is not None:
                return words
    return None
