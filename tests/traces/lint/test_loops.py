"""Loops: the same call with the same result, cycles, the same error once more, and what each of them cost."""

from __future__ import annotations

from typing import Any

from tests.traces.lint.talk import asks, call, found, names, result, says, talk, used, user


def rounds(*pairs: tuple[dict[str, Any], str], **numbers: Any) -> list[dict[str, Any]]:
    return [message for ask, text in pairs for message in ({**asks(ask), **numbers}, result(text))]


def test_the_third_equal_call_with_an_equal_result_is_a_loop() -> None:
    look = (call("look", where="here"), "nothing")
    trace = talk(user("go"), *rounds(look, look, look, look, _usage=used(100)), says("Nothing here."))
    (finding,) = found(trace, "exact_loop")
    assert (finding.message, finding.evidence, finding.cost_calls) == (1, tuple(range(1, 9)), 3)
    assert finding.cost_tokens == 3 * 110


def test_arguments_in_another_order_are_the_same() -> None:
    one, other = (call("look", a=1, b=2), "x"), (call("look", b=2, a=1), "x")
    assert names(talk(user("go"), *rounds(one, other, one), says("x"))) == ["exact_loop"]


def test_two_equal_calls_are_no_loop_and_neither_are_changing_results() -> None:
    look = call("look", where="here")
    assert names(talk(user("go"), *rounds((look, "x"), (look, "x")), says("x"))) == []
    assert names(talk(user("go"), *rounds((look, "x"), (look, "y"), (look, "z")), says("z"))) == []


def test_equal_calls_in_one_reply_are_a_loop_too() -> None:
    calls = asks(*(call("look", f"c{n}") for n in range(3)))
    assert names(talk(user("go"), calls, *(result("x", f"c{n}") for n in range(3)), says("x"))) == ["exact_loop"]


def test_abab_with_the_same_results() -> None:
    a, b = (call("open", file="a"), "A"), (call("open", file="b"), "B")
    trace = talk(user("go"), *rounds(a, b, a, b, a, b), says("A and B"))
    (finding,) = found(trace, "abab_loop")
    assert (finding.facts["count"], finding.cost_calls) == (3, 4)


def test_a_cycle_whose_results_change_is_work() -> None:
    a = call("edit", text="a")
    trace = talk(
        user("go"), *rounds((a, "saved"), (call("test"), "1 failed"), (a, "saved"), (call("test"), "ok")), says("ok")
    )
    assert names(trace) == []


def test_the_same_error_retried() -> None:
    bad = (call("read", path="x"), '{"error": "no such file: x"}')
    trace = talk(user("go"), *rounds(bad, bad), says("I could not read it."))
    (finding,) = found(trace, "same_error_retried")
    assert (finding.message, finding.cost_calls) == (1, 1)
    assert "no such file" in finding.sentence


def test_the_same_error_whatever_the_arguments() -> None:
    error = "Error: not logged in"
    trace = talk(user("go"), *rounds(*((call("read", path=str(n)), error) for n in range(3))), says("Please log in?"))
    (finding,) = found(trace, "same_error_retried")
    assert "whatever the arguments" in finding.sentence


def test_a_busy_server_may_be_asked_three_times() -> None:
    busy = (call("get"), '{"error": "503 service unavailable"}')
    assert names(talk(user("go"), *rounds(busy, busy, busy), says("It is unavailable."))) == []
    assert names(talk(user("go"), *rounds(*[busy] * 4), says("It is unavailable."))) == ["same_error_retried"]
