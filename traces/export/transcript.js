"use strict";
// Everything of the trace comes out of the data block and is put into the page as text, never as HTML.
const trace = JSON.parse(document.getElementById("data").textContent);
const PREVIEW = 20000; // characters shown of one text; a button shows the rest
const AT_ONCE = 200; // messages drawn before the browser may answer again
const words = trace.words; // our own texts in the language of the page; an English page has none
const ICONS = { system: "⚙", developer: "⚙", user: "♟", assistant: "✦", tool: "⚒", function: "⚒" };

function t(text, values = {}) {
  const said = Object.hasOwn(words, text) ? words[text] : text;
  return said.replace(/\{(\w+)\}/g, (whole, name) => (Object.hasOwn(values, name) ? values[name] : whole));
}

const number = (value) => value.toLocaleString("en");
const role = (name) => (Object.hasOwn(ICONS, name) ? t(name) : name);
const maker = (name) => (["user", "model", "code", "environment"].includes(name) ? t(name) : name);

function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function block(text) {
  const box = document.createDocumentFragment();
  const pre = make("pre", text.slice(0, PREVIEW));
  pre.tabIndex = 0;
  box.append(pre);
  if (text.length > PREVIEW) {
    const more = make("button", t("Show all {n} characters", { n: number(text.length) }));
    more.addEventListener("click", () => { pre.textContent = text; more.remove(); search(); });
    box.append(more);
  }
  return box;
}

function link(place, text) {
  const anchor = make("a", text);
  anchor.href = `#m${place}`;
  return anchor;
}

function article(message, position) {
  const place = position + 1;
  const box = make("article");
  box.id = `m${place}`;
  if (Object.hasOwn(ICONS, message.role)) box.classList.add(message.role);
  const title = make("h2");
  title.append(link(place, `#${place}`), ` ${Object.hasOwn(ICONS, message.role) ? ICONS[message.role] : "•"} ${role(message.role)}`);
  box.append(title);
  const facts = [t("made by {maker}", { maker: maker(message.maker) }), message.agent,
    message.step === undefined ? null : t("step {n}", { n: message.step }), message.at, message.about].filter(Boolean);
  box.append(make("p", facts.join(" · "), "small"));
  if (message.asked !== undefined) {
    const line = make("p", `${t("result of {tool}, asked for in", { tool: message.tool || t("a call") })} `, "small");
    line.append(link(message.asked + 1, `#${message.asked + 1}`));
    box.append(line);
  }
  if (message.orphan) box.append(make("p", `⚠ ${t("a result without a call")}`, "small bad"));
  if (message.failed) box.append(make("p", `✗ ${t("the tool failed")}`, "small bad"));
  if (message.reasoning) box.append(make("p", t("reasoning"), "small"), block(message.reasoning));
  if (message.text) box.append(block(message.text));
  for (const [name, id, args] of message.calls || []) {
    box.append(make("p", `${t("asks for {tool}", { tool: name })}   ${id}`, "small"), block(args));
  }
  for (const source of message.images || []) {
    const image = make("img");
    image.alt = t("image of this message");
    image.loading = "lazy";
    image.src = source;
    box.append(image);
  }
  return box;
}

function textOf(message) {
  const calls = (message.calls || []).map((call) => call.join(" "));
  return [message.role, message.agent, message.tool, message.reasoning, message.text, ...calls].filter(Boolean)
    .join("\n").toLowerCase();
}

// -- the head --
const head = make("header");
const bar = make("div", undefined, "bar");
const field = make("input");
field.type = "search";
field.placeholder = t("Search all messages  ( / )");
field.setAttribute("aria-label", t("Search all messages"));
const count = make("span", "", "small");
count.setAttribute("role", "status");
const back = make("button", "↑");
back.setAttribute("aria-label", t("Previous message found"));
const on = make("button", "↓");
on.setAttribute("aria-label", t("Next message found"));
bar.append(field, back, on, count);
const roles = new Map();
for (const message of trace.messages) roles.set(message.role, (roles.get(message.role) || 0) + 1);
const boxes = new Map();
function box(name, text, checked) {
  const label = make("label");
  const input = make("input");
  input.type = "checkbox";
  input.checked = checked;
  input.addEventListener("change", search);
  label.append(input, ` ${text}`);
  bar.append(label);
  boxes.set(name, input);
}
for (const [name, count] of roles) box(`role ${name}`, `${role(name)} ${number(count)}`, true);
box("errors", t("errors only"), false);
const theme = make("button", t("Light / dark"));
theme.addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === "dark" ||
    (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "light" : "dark";
});
bar.append(theme);
head.append(make("h1", trace.title), bar);
const about = make("dl");
for (const [name, value] of trace.facts) about.append(make("dt", name), make("dd", value));
if (trace.end) about.append(make("dt", t("End")), make("dd", trace.end));
for (const note of trace.notes) about.append(make("dt", t("Note")), make("dd", note));
const list = make("main");
document.body.append(head, about, list);

// -- search, filters and links --
const texts = [];
let found = [];
let drawn = 0;
let current = -1;

function search() {
  const wanted = field.value.trim().toLowerCase();
  const errors = boxes.get("errors").checked;
  found = [];
  trace.messages.forEach((message, position) => {
    if (wanted && texts[position] === undefined) texts[position] = textOf(message);
    const shown = boxes.get(`role ${message.role}`).checked && (!errors || message.failed || message.orphan) &&
      (!wanted || texts[position].includes(wanted));
    if (shown) found.push(position);
    if (position < drawn) list.children[position].hidden = !shown;
  });
  current = -1;
  count.textContent = t("{found} of {all} messages", { found: number(found.length), all: number(trace.messages.length) });
  highlight(wanted);
}

function highlight(wanted) {
  if (!window.CSS || !CSS.highlights) return;
  CSS.highlights.delete("found");
  if (!wanted) return;
  const ranges = [];
  for (const position of found.slice(0, 300)) {
    for (const pre of position < drawn ? list.children[position].querySelectorAll("pre") : []) {
      const text = pre.firstChild ? pre.firstChild.data.toLowerCase() : "";
      for (let at = text.indexOf(wanted); at >= 0 && ranges.length < 2000; at = text.indexOf(wanted, at + wanted.length)) {
        if (at + wanted.length > pre.firstChild.length) break; // a letter became longer when it was made small
        const range = new Range();
        range.setStart(pre.firstChild, at);
        range.setEnd(pre.firstChild, at + wanted.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}

function move(by) {
  if (!found.length) return;
  current = current < 0 ? (by > 0 ? 0 : found.length - 1) : (current + by + found.length) % found.length;
  history.replaceState(null, "", `#m${found[current] + 1}`);
  land();
}

function land() {
  const position = Number((location.hash.match(/^#m(\d+)$/) || [])[1]) - 1;
  if (!(position >= 0 && position < trace.messages.length)) return;
  draw(position + 1);
  if (list.children[position].hidden) {
    field.value = "";
    for (const [name, input] of boxes) input.checked = name !== "errors";
    search();
  }
  list.children[position].scrollIntoView({ block: "start" });
  requestAnimationFrame(() => list.children[position].scrollIntoView({ block: "start" }));
}

function draw(upto) {
  const some = document.createDocumentFragment();
  for (; drawn < Math.min(upto, trace.messages.length); drawn++) some.append(article(trace.messages[drawn], drawn));
  list.append(some);
}

function drawAll() {
  const before = drawn;
  draw(drawn + AT_ONCE);
  const shown = new Set(found);
  for (let position = before; position < drawn; position++) list.children[position].hidden = !shown.has(position);
  if (drawn < trace.messages.length) setTimeout(drawAll);
  else highlight(field.value.trim().toLowerCase());
}

let waiting;
field.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 120); });
field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  clearTimeout(waiting);
  if (current < 0) search();
  move(event.shiftKey ? -1 : 1);
});
on.addEventListener("click", () => move(1));
back.addEventListener("click", () => move(-1));
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== field) { event.preventDefault(); field.focus(); }
});
addEventListener("hashchange", land);
search();
drawAll();
land();
