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
_THING = (
    r"(?:file|folder|record|entry|ticket|issue|event|meeting|reminder|task|order|booking|reservation|account|"
    r"appointment)"
)
_CHANGED = r"created|deleted|removed|updated|cancell?ed|booked|scheduled|renamed|moved|modified|refunded"
_THING_ZH = r"(?:文件|文件夹|记录|订单|会议|日程|提醒|任务|预订|预约|邮件|消息|通知)"
_CHANGED_ZH = r"(?:创建|删除|更新|修改|取消|预订|预定|安排|发送|保存|写入)"
_NO_CALL = (
    re.compile(rf"(?i){_I}(?:{_CHANGED}) {_NOUN}(?:[\w'’-]+ ){{0,3}}{_THING}\b(?! list)"),
    re.compile(
        r"(?i)\b(?:based on|according to) the (?:tool|function)(?:['’]s)?(?: call)? (?:results?|outputs?|responses?)\b"
    ),
    re.compile(rf"我(?:已经?|刚刚?)?(?:成功)?{_CHANGED_ZH}(?:好|完)?了[^。，]{{0,20}}{_THING_ZH}"),
    re.compile(r"(?:工具|函数)(?:调用)?返回的?(?:结果|内容|数据)(?:显示|表明|来看|，)"),
)
"""What no text can truly say while not one tool has been called."""
_SHORT = 400
"""Characters of an answer up to which it speaks of what was done here, and not of what somebody else tells."""
_NO_CALL_SHORT = (
    re.compile(
        rf"(?i)^\W{{0,4}}(?:the|your) (?:[\w'’-]+ ){{0,2}}(?:{_THING}|e-?mail|message) (?:has|have) been "
        rf"(?:successfully )?(?:{_CHANGED}|sent|saved)\b"
    ),
    re.compile(rf"^\W{{0,4}}{_THING_ZH}(?:已经?|已成功){_CHANGED_ZH}"),
    re.compile(rf"^\W{{0,4}}已(?:经|成功)?{_CHANGED_ZH}(?:好|完)?了?[^。，]{{0,10}}{_THING_ZH}"),
)
_LOOKS = re.compile(
    r"(?:get|fetch|check|lookup|look_up|query|find|read|retrieve)[_-]?(?:current[_-]|latest[_-])?(\w{4,})"
)
"""The name of a tool that only looks something up, and what."""
_ADDRESSED = re.compile(
    r"(?i)\bfor you\b|\bas you (?:asked|requested|wanted)\b|(?<=已)将|(?<=已经)将|[为给替帮][你您]|[你您]的"
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
    plain = _ADDRESSED.sub("", text)
    if (words := states(plain, _patterns(material, called, len(text)))) is not None:
        return words
    for action, tools in _ACTIONS:
        if action.search(text) and not any(tools.search(name) for name in called):
            words = states(plain, (action,))
            if words is not None:
                return words
    return None


def _patterns(material: Material, called: set[str], length: int) -> list[re.Pattern[str]]:
    """How a text may speak of tools that were not called."""
    missing = sorted((name for name in material.names if name not in called), key=len, reverse=True)
    patterns = [_by_name("|".join(map(re.escape, missing)))] if missing else []
    if not called:
        patterns += _NO_CALL
        patterns += _NO_CALL_SHORT if length <= _SHORT else ()
        things = [found[1].replace("_", " ") for name in missing if (found := _LOOKS.fullmatch(name.lower()))]
        if things:
            patterns.append(_looked_up("|".join(map(re.escape, things))))
    return patterns


def _by_name(names: str) -> re.Pattern[str]:
    name = rf"[`\"'“*「]*(?<![A-Za-z0-9_.-])(?:{names})(?![A-Za-z0-9_-])[`\"'”*」]*"
    return re.compile(
        rf"(?i){_I}(?:checked|searched|verified|looked (?:it|this|that) up|asked|confirmed)(?: \w+){{0,3}} "
        rf"(?:with|using|via|through) (?:the )?{name}"
        rf"|^(?:using|after (?:calling|using|running)|by (?:calling|using)) (?:the )?{name}(?: tool| function)?,? "
        rf"(?:I|we) (?:found|learned|got|see|determined|obtained)\b"
        rf"|(?:我(?:们)?(?:已经?|刚刚?)?|已经?)(?:通过|使用|利用|调用)了?\s*{name}\s*(?:工具|函数)?[^。，]{{0,4}}"
        rf"(?:查询|查到|搜索|获取|得到|获得)"
        rf"|通过(?:调用|使用)?了?\s*{name}\s*(?:工具|函数)?，?我?(?:们)?(?:得知|查到|得到|获得|知道)"
    )


def _looked_up(things: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?i){_I}(?:checked|looked up|fetched|retrieved|pulled up) (?:the |your )?(?:\w+ )?(?:{things})\b"
    )
