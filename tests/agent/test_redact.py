"""Secrets are taken out by field name, by shape and by value; everything else stays the very same object."""

import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.context import cap_result
from agent.redact import may_hold_secret, redact, redact_text
from agent.secret_names import is_secret_field

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtYWRlLXVwIn0.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    "name",
    [
        "api_key", "apiKey", "APIKEY", "X-Api-Key", "OPENAI_API_KEY", "Authorization", "proxy-authorization",
        "password", "db_password2", "client_secret", "AWS_SECRET_ACCESS_KEY", "private_key", "token", "accessToken",
        "X-Auth-Token", "GH_TOKEN", "password_1", "token-2", "_auth", "Set-Cookie", "credentials", "api_keys",
        "pgpassword", "PGPASSWORD", "MYSQL_PWD", "pass", "db_pass", "dbpass", "DB_PASS", "bearer", "auth", "proxy_auth",
        "ssh_key", "sshKey", "otp", "totp",
    ],
)  # fmt: skip
def test_a_field_with_this_name_is_hidden_and_marked(name):
    hidden = redact({name: "value-1"})[name]
    assert hidden.startswith("[redacted: ") and "value" not in hidden


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens", "token_count", "prompt_tokens", "completion_tokens", "author", "authority", "next_page_token",
        "key", "stop_token", "first_token_ms", "keyboard", "monkey", "primary_key", "secretary", "tokenizer",
        "sort_key", "", "pass_rate", "passed", "passes", "bypass", "compass", "low_pass", "first_pass", "keyword",
        "oauth_url", "auth_method", "laptop", "public_key", "passengers",
    ],
)  # fmt: skip
def test_a_field_with_this_name_is_left_alone(name):
    value = {name: "value-1"}
    assert redact(value) is value


def test_tool_arguments_lose_keys_headers_and_urls():
    arguments = {
        "api_key": "tvly-abc123",
        "headers": {"Authorization": f"Bearer {JWT}"},
        "url": "https://u:p@h/?token=zz",
        "max_tokens": 50,
        "author": "Ada",
    }
    assert redact(arguments) == {
        "api_key": "[redacted: api_key]",
        "headers": {"Authorization": "[redacted: authorization]"},
        "url": "https://u:[redacted: password]@h/?token=[redacted: token]",
        "max_tokens": 50,
        "author": "Ada",
    }
    assert arguments["api_key"] == "tvly-abc123"


def test_json_inside_a_string_stays_valid_json():
    call = {"function": {"name": "search", "arguments": '{"query": "a \\"quoted\\" word", "api_key": "tvly-abc\\\\"}'}}
    text = redact(call)["function"]["arguments"]
    assert json.loads(text) == {"query": 'a "quoted" word', "api_key": "[redacted: api_key]"}


def test_json_inside_json_inside_a_string_is_searched():
    inner = json.dumps({"password": "hunter2"})
    text = redact_text(json.dumps({"body": inner, "n": 1}))
    assert json.loads(json.loads(text)["body"]) == {"password": "[redacted: password]"}


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdef123456", "sk_live_abcdef123456", "tvly-abc123", "ghp_abcdef1234567890",
        "AKIAIOSFODNN7EXAMPLE", "github_pat_11AAAAAAA0abc", "xoxb-123456-abcdef", "AIzaSyA1234567890abcdefgh",
        "hf_abcdefghijklmnop", JWT, "sk-proj-abcdefghijkl", "sk-ant-abcdefghijkl", "sk-abcdefghijklmnopqrstuv",
        "ghp_abcdefghijklmnopqrst",
    ],
)  # fmt: skip
def test_a_key_is_known_by_its_shape(secret):
    text = redact_text(f"the server said: {secret}, and stopped")
    assert secret not in text
    assert text.startswith("the server said: [redacted: ") and text.endswith("], and stopped")


@pytest.mark.parametrize(
    "prefix",
    [
        "sk-", "sk_live_", "sk_test_", "rk_live_", "tvly-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
        "glpat-", "xoxb-", "xapp-", "AKIA", "ASIA", "AIza", "hf_", "gsk_", "r8_", "npm_", "pypi-", "pplx-", "nvapi-",
        "xai-", "lsv2_", "dop_v1_", "ya29.", "SG.",
    ],
)  # fmt: skip
def test_the_key_of_each_vendor_is_known_where_nothing_else_stands(prefix):
    assert may_hold_secret(prefix + "0A1B2C3D4E5F6G7H")
    assert redact_text(prefix + "0A1B2C3D4E5F6G7H") == "[redacted: key]"


def test_the_output_of_env_loses_its_values_and_keeps_its_names():
    output = "HOME=/root\nOPENAI_API_KEY=abcdefgh\nexport GH_TOKEN='abc'\nDB_PASSWORD=hunter\nPATH=/usr/bin:/bin"
    assert redact_text(output) == (
        "HOME=/root\nOPENAI_API_KEY=[redacted: openai_api_key]\nexport GH_TOKEN='[redacted: gh_token]'\n"
        "DB_PASSWORD=[redacted: db_password]\nPATH=/usr/bin:/bin"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Error 401: Authorization: Bearer abc", "Error 401: Authorization: [redacted: authorization]"),
        ("sent 'Bearer abc.def-123' to it", "sent 'Bearer [redacted: bearer token]' to it"),
        ("redis://:pw@cache/0", "redis://:[redacted: password]@cache/0"),
        ("GET /v1?key=abc&page=2", "GET /v1?key=[redacted: key]&page=2"),
        ("login({'password': 'p w'}) -> 1", "login({'password': '[redacted: password]'}) -> 1"),
        ("x-api-key: abc123", "x-api-key: [redacted: x_api_key]"),
        (r"log: {\"api_key\": \"abc\"}", r"log: {\"api_key\": \"[redacted: api_key]\"}"),
        ("password: hunter2", "password: [redacted: password]"),
        ("PGPASSWORD=hunter psql", "PGPASSWORD=[redacted: pgpassword] psql"),
        ("DB_PASS=hunter\n", "DB_PASS=[redacted: db_pass]\n"),
        ("mysql --password hunter -u ada", "mysql --password [redacted: password] -u ada"),
        ("x --api-key 'a b' --n 2", "x --api-key '[redacted: api_key]' --n 2"),
        ("curl -u ada:hunter https://h", "curl -u ada:[redacted: password] https://h"),
        ("curl -s --user 'ada:h u' https://h", "curl -s --user 'ada:[redacted: password]' https://h"),
        ("curl -sU ada:hunter https://h", "curl -sU ada:[redacted: password] https://h"),
        ('curl -u "sk-abc12345', 'curl -u "[redacted: key]'),
        ("surpass: password=hunter", "surpass: password=[redacted: password]"),
        ("otp: 123456", "otp: [redacted: otp]"),
        ("x --api-key=abc --token abc run", "x --api-key=[redacted: api_key] --token [redacted: token] run"),
        ("run(['mysql', '--password', 'h u'])", "run(['mysql', '--password', '[redacted: password]'])"),
        (r'CMD [\"x\",\"--api-key\",\"abc\"]', r'CMD [\"x\",\"--api-key\",\"[redacted: api_key]\"]'),
        ("{'auth': ('ada'), 'pass': 'hunter'}", "{'auth': ('ada'), 'pass': '[redacted: pass]'}"),
    ],
)  # fmt: skip
def test_a_secret_in_running_text_is_replaced_in_its_place(text, expected):
    assert redact_text(text) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["mysql", "--password", "hunter", "-u", "ada"], ["mysql", "--password", "[redacted: password]", "-u", "ada"]),
        (["x", "--api-key", "correct horse"], ["x", "--api-key", "[redacted: api_key]"]),
        (["x", "--password", "Password1"], ["x", "--password", "[redacted: password]"]),
        (["x", "--password", 1234, "--token", 5], ["x", "--password", "[redacted: password]", "--token", 5]),
        (["x", "--token", "h?key=abc"], ["x", "--token", "[redacted: token]"]),
        (["x", "--api-key=abc", "--n=2"], ["x", "--api-key=[redacted: api_key]", "--n=2"]),
        (["sh", "-c", "x --token abc | y"], ["sh", "-c", "x --token [redacted: token] | y"]),
        (["curl", "-H", "Authorization: Bearer abc"], ["curl", "-H", "Authorization: [redacted: authorization]"]),
    ],
)  # fmt: skip
def test_a_command_given_as_a_list_loses_the_values_of_its_secret_options(command, expected):
    assert redact({"args": command}) == {"args": expected}
    assert redact({"args": tuple(command)}) == {"args": tuple(expected)}
    assert may_hold_secret(json.dumps(command))
    assert may_hold_secret(json.dumps(json.dumps(command)))
    assert json.loads(redact_text(json.dumps(command))) == expected


@pytest.mark.parametrize(
    "command",
    [
        ["x", "--password-file", "/etc/x"], ["x", "--password", "--verbose"], ["x", "--password"],
        ["x", "--max-tokens", "50"], ["--password", "the password of the user"], ["--password", "Password of the user"],
        ["x", "--password", "$PASS"], ["the word after --password", "hunter"], ["password", "hunter"],
        ["x", "--password", None, True, ["a"], {"b": 1}], ["x", "--token", ["a"]], ["x", "--password", ""],
    ],
)  # fmt: skip
def test_a_list_without_the_value_of_a_secret_option_comes_back_as_the_same_object(command):
    assert redact(command) is command


def test_a_private_key_goes_as_a_whole_even_when_it_is_cut_off():
    block = "-----BEGIN RSA PRIVATE KEY-----\nMIIB\nabc\n-----END RSA PRIVATE KEY-----"
    assert redact_text(f"a\n{block}\nb") == "a\n[redacted: private key]\nb"
    assert redact_text("a\n-----BEGIN PRIVATE KEY-----\nMIIB") == "a\n[redacted: private key]"


@pytest.mark.parametrize(
    "text",
    [
        '"max_tokens": 50, "token_count": 3, "completion_tokens": 3', "author: Ada", "$API_KEY", "api_key=$API_KEY",
        "export OPENAI_API_KEY=${KEY}", "def login(password: str, token: str | None = None)", "token: 50",
        "api_key=None", "key = os.environ['API_KEY']", "api_key=settings.api_key", "the bearer of bad news",
        "task-2024 and risk-12345", "the password: please type it", "https://example.org:8080/a@b?page=2",
        "计算结果是 20。", "", "sk-", "<api_key>", '{"api_key": "$API_KEY", "password": ""}',
        '{"properties": {"token": {"type": "string"}}}', "api_key: <your key>",
        "PASS: test_login_2 (0.01s)", "pass=12 fail=0", "bypass=yes1", "auth: basic1", "docker run -u 1000:1000 x",
        "use --password to set it", "--password $PASS", "curl -u ada: https://h", "curl -u $USER:$PASS https://h",
        "PWD=/home/ada", "-" * 3000, "sk-learn-is-a-library", "--pass-rate 5 --max-tokens 50",
        "the --password option is required", "--password must be given", "--password-file /etc/x",
        "add_argument('--password', required=True)", "option('--token', token)", "('password', 'hunter')",
        "['--password', 'Password of the user']", "f('--password', '--token')", "['--password', '$PASS']",
    ],
)  # fmt: skip
def test_a_text_without_a_secret_comes_back_as_the_same_object(text):
    assert redact_text(text) is text


def test_a_count_under_token_or_pass_stays_and_a_number_under_password_goes():
    value = {"token": 5, "pass": 3, "password": 1234, "otp": 99}
    assert redact(value) == {**value, "password": "[redacted: password]", "otp": "[redacted: otp]"}


def test_an_exact_value_is_hidden_wherever_it_stands():
    value = {"note": ["the key hunter-seven works"], "hunter-seven": 1}
    assert redact(value, secrets=["hunter-seven"]) == {
        "note": ["the key [redacted: secret] works"],
        "[redacted: secret]": 1,
    }


def test_an_exact_value_with_a_quote_is_hidden_inside_json_text():
    assert redact_text(json.dumps({"said": 'my "pass" word'}), secrets=['my "pass" word']) == (
        '{"said": "[redacted: secret]"}'
    )


KEY = "Zx9Qf81LmN/7pqRstUvWx2kTbY"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": "Zx9Qf81LmN\\/7pqRstUvWx2kTbY"}', {"a": "[redacted: secret]"}),
        ('{"a": "\\u005ax9Qf81LmN/7pqRstUvWx2kTbY"}', {"a": "[redacted: secret]"}),
        ('{"a": "h?api_key\\u003dABCDEF1234567890"}', {"a": "h?api_key=[redacted: api_key]"}),
        ('{"pass\\u0077ord": "hunter2xyz"}', {"password": "[redacted: password]"}),
        ('{"a": "--token\\u0020hunter"}', {"a": "--token [redacted: token]"}),
        ('{"a": "https:\\/\\/u:hunter2@h"}', {"a": "https://u:[redacted: password]@h"}),
        ('{"a": "\\u5bc6\\u7801\\u662f\\u4e94-7"}', {"a": "[redacted: secret]"}),
    ],
)  # fmt: skip
def test_a_secret_is_found_however_its_json_text_is_escaped(text, expected):
    secrets = [KEY, "密码是五-7"]
    assert may_hold_secret(text, secrets)
    assert may_hold_secret(json.dumps({"arguments": text}), secrets)
    assert json.loads(redact_text(text, secrets)) == expected
    assert json.loads(redact({"arguments": text}, secrets)["arguments"]) == expected
    assert redact_text(f"it said {text}", secrets) == f"it said {json.dumps(expected, ensure_ascii=False)}"


def test_an_escape_without_a_secret_changes_nothing():
    for text in ('{"url": "https:\\/\\/example.org\\/a", "b": "x \\u003c y"}', r"a regex: \/path\/\u0041", '"\\u4f60"'):
        assert redact_text(text, [KEY, "密码是五-7"]) is text


def test_an_exact_value_with_a_quote_is_hidden_in_json_inside_json_inside_json():
    line = json.dumps({"arguments": json.dumps({"body": json.dumps({"said": 'my "pass" word'})})})
    assert may_hold_secret(line, ['my "pass" word'])
    assert "pass" not in redact_text(line, ['my "pass" word'])


def test_a_key_that_comes_twice_hides_nothing():
    assert "hunter" not in redact_text('{"password": "hunter", "password": ""}')


def test_what_a_placeholder_wraps_is_searched():
    assert redact({"api_key": "<hunter-seven>", "password": "{hf_abcdefghijklmnop"}, ["hunter-seven"]) == {
        "api_key": "<[redacted: secret]>",
        "password": "{[redacted: key]",
    }


def test_what_a_cut_has_left_of_an_exact_value_is_hidden():
    cut = "\n[… 90 of 200 characters omitted]\n"
    for left in (8, 15, len(KEY) - 1):
        for before, after in (("use ", ""), ("use ", cut + "more"), ("use ", "… more"), ("", "...")):
            text = before + KEY[:left] + after
            assert may_hold_secret(json.dumps(text), [KEY])
            assert redact_text(text, [KEY]) == before + "[redacted: secret]" + after
        for before, after in (("", " is it"), ("more" + cut, " is it"), ("…", "")):
            text = before + KEY[-left:] + after
            assert may_hold_secret(json.dumps(text), [KEY])
            assert redact_text(text, [KEY]) == before + "[redacted: secret]" + after
    for text in (f"{KEY[:7]}{cut}", f"a {KEY[:8]} b", f"x{KEY[-9:-1]}"):
        assert redact_text(text, [KEY]) is text


@pytest.mark.parametrize("blank", [" ", ""])
def test_no_cut_of_a_long_result_leaves_a_part_of_a_key(blank):
    text = "w " * 95 + f"the value{blank}{KEY}{blank}and " + "tail " * 400
    for limit in range(20, 400):
        shown = redact_text(cap_result(text, limit), [KEY])
        assert KEY[:8] not in shown
        assert KEY[-8:] not in shown


def test_a_stand_in_for_a_key_is_not_searched_for():
    text = "ollama runs at port 11434"
    assert redact_text(text, secrets=["ollama", "x"]) is text


def test_a_value_without_secrets_is_the_same_object_at_every_depth():
    value = {"a": [1, {"b": ["c", None, True, 2.5]}], "usage": {"prompt_tokens": 3}}
    assert redact(value) is value


def test_only_the_changed_branch_is_copied():
    value = {"kept": {"a": 1}, "changed": {"token": "abc"}}
    new = redact(value)
    assert new["kept"] is value["kept"]
    assert list(new) == ["kept", "changed"]


_WORDS = st.sampled_from(
    [
        "password", "api_key", "token", "max_tokens", "=", ": ", '"', "'", "Bearer ", "sk-abc12345", JWT, "?token=",
        "\\", "https://u:p@h/", "[redacted: key]", "{", "}", "(", "]", " ", "\n", "hunter2", "$KEY", "好", "<x>",
        "&key=", "-----", "--", "--password ", "curl", " -u ", "ada:", "', '", "--token",
        "pass", "auth", "otp", "\t", "sk-proj-", "\u2003", "İ", "\u212a",
    ]
)  # fmt: skip


@given(st.lists(_WORDS, max_size=12).map("".join))
def test_a_second_pass_changes_nothing(text):
    once = redact_text(text)
    assert redact_text(once) == once


_NAMES = st.lists(_WORDS | st.sampled_from(["_1", "2", "_", "my", "X-"]), min_size=1, max_size=3).map("".join)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | _NAMES, inner, max_size=3),
    max_leaves=10,
)


@given(_VALUES, st.booleans())
def test_where_the_quick_look_says_no_there_is_nothing_to_take_out(value, compact):
    text = json.dumps([value], ensure_ascii=False, separators=(",", ":") if compact else None)
    changed = redact(value, secrets=["hunter2"]) is not value
    assert may_hold_secret(text, secrets=["hunter2"]) or not changed


@given(_VALUES, st.frozensets(st.sampled_from("aeknoprstw=:/-_ ?")))
def test_a_text_that_spells_its_characters_as_escapes_is_read_like_any_other(value, spelt):
    def spell(character):
        return f"\\u{ord(character[0]):04x}" if character[0] in spelt else character[0]

    def spell_string(string):
        return re.sub(r"\\u....|\\.|.", spell, string[0])

    plain = json.dumps([value])
    text = re.sub(r'"(?:\\.|[^"\\])*"', spell_string, plain)
    assert json.loads(text) == [value]
    changed = redact([value], secrets=["hunter2"])
    assert json.loads(redact_text(text, secrets=["hunter2"])) == changed
    assert may_hold_secret(text, secrets=["hunter2"]) or changed == [value]


@given(_VALUES)
def test_json_text_stays_json_text_of_the_same_shape(value):
    text = json.dumps([value])
    assert json.loads(redact_text(text)) == redact([value])


@pytest.mark.parametrize("piece", ["-", "max_token=", "password \n", "-u a:", "pass\\n", "curl -u", "'--token', "])
def test_a_long_line_of_one_thing_is_read_to_its_end(piece):
    assert redact_text(piece * 5000 + " password=hunter2").endswith(" password=[redacted: password]")


_HOSTILE = [
    "--a", "--pass", "--key-", ":", "=", "-", " ", "\\", "u", "pwd=/", "auth:", "token=", "token:", "/-u", "-u a:b ",
    "-eyJ", "eyJabcdef.", "sk-", "_xoxsk-", "key\\n", "-----BEGIN ", "PRIVATE KEY", "bearer ", "?a=", 'token="',
    '?a=[redacted: "', "/--user", "--token ", "'--token', ", "--token --", '{"a":', "\\u0077", "\\/", "\\u005c",
    "curl -u", "...", "://a", "Zx9Qf81L...",
]  # fmt: skip
"""Pieces that some pattern here can begin with, go on with or stop at."""


def _seconds(call, text):
    """What a call takes at its best of three."""
    times = []
    for _ in range(3):
        before = time.thread_time()
        call(text, [KEY])
        times.append(time.thread_time() - before)
    return min(times)


@pytest.mark.parametrize("piece", _HOSTILE)
@pytest.mark.parametrize(
    ("begin", "end"),
    [("", ""), ("curl -", "(curl password=hunter2"), ('token="', ": x")],
)
def test_the_time_grows_with_the_length_of_a_text_and_not_with_its_square(begin, piece, end):
    short, long = (begin + piece * (size // len(piece)) + end for size in (2_500, 25_000))
    for call in (may_hold_secret, redact_text):
        assert _seconds(call, long) < 40 * max(_seconds(call, short), 0.0001)


def test_the_name_rule_can_be_asked_alone():
    assert is_secret_field("OPENAI_API_KEY")
    assert not is_secret_field("max_tokens")
