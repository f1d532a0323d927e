// A plain text field with line numbers, marked lines and a few keys. The browser owns the text while somebody types: the
// page is told a moment after the last key, and a text of the page is taken only when its version is a new one.

const PAUSE_MS = 400;
const editors = new WeakMap();

export default function (component) {
  const { parentElement, data } = component;
  let editor = editors.get(parentElement);
  if (!editor) {
    editor = make(parentElement);
    editors.set(parentElement, editor);
  }
  editor.component = component;
  show(editor, data);
  return () => tell(editor);
}

function make(root) {
  const area = root.querySelector("textarea");
  const editor = {
    area,
    numbers: root.querySelector(".lab-editor-numbers"),
    bands: root.querySelector(".lab-editor-bands"),
    hint: root.querySelector(".lab-editor-hint"),
    version: null, command: 0, lines: 0, told: null, timer: null, leaving: false,
  };
  area.addEventListener("input", () => changed(editor));
  area.addEventListener("blur", () => tell(editor));
  area.addEventListener("scroll", () => follow(editor));
  area.addEventListener("keydown", (event) => pressed(editor, event));
  return editor;
}

function show(editor, data) {
  const { area } = editor;
  const first = editor.version === null;
  editor.id = data.id;
  data.forgotten.forEach(forget);
  area.setAttribute("aria-label", data.label);
  area.setAttribute("aria-invalid", String(data.marks.length > 0));
  editor.hint.textContent = data.hint;
  if (editor.version !== data.version) {
    editor.version = data.version;
    editor.told = data.text;
    replaceAll(area, data.text);
    const kept = first && !data.changed ? recall(editor.id) : null;
    if (kept !== null && kept !== data.text) {
      area.value = kept;
      tell(editor);
    }
  }
  if (!data.changed && area.value === data.text) forget(editor.id);
  number(editor);
  mark(editor, data.marks);
  if (data.command && data.command.number > editor.command) {
    editor.command = data.command.number;
    if (!first) obey(editor, data.command);
  }
}

function replaceAll(area, text) {
  const caret = Math.min(area.selectionStart, text.length);
  area.value = text;
  area.setSelectionRange(caret, caret);
}

function changed(editor) {
  number(editor);
  remember(editor.id, editor.area.value);
  clearTimeout(editor.timer);
  editor.timer = setTimeout(() => tell(editor), PAUSE_MS);
}

function tell(editor) {
  clearTimeout(editor.timer);
  const text = editor.area.value;
  if (text === editor.told) return;
  editor.told = text;
  editor.component.setStateValue("edit", { text, version: editor.version });
}

function save(editor) {
  tell(editor);
  editor.component.setTriggerValue("save", { text: editor.area.value, version: editor.version });
}

// ---- keys ----

function pressed(editor, event) {
  event.stopPropagation(); // letters are text here, and no shortcuts of the page
  const { area } = editor;
  if (event.isComposing) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
    event.preventDefault();
    save(editor);
  } else if (event.key === "Tab" && !event.shiftKey && !editor.leaving) {
    event.preventDefault();
    insert(area, " ".repeat(editor.component.data.indent));
  } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    const begin = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
    insert(area, "\n" + /^ */.exec(area.value.slice(begin, area.selectionStart))[0]);
  }
  editor.leaving = event.key === "Escape"; // so that Tab can leave the field
}

function insert(area, text) {
  // The old command keeps the browser's own undo, which a change of the value would empty.
  if (!document.execCommand("insertText", false, text)) {
    area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
    area.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

// ---- what the page asks for ----

function obey(editor, command) {
  const { area } = editor;
  if (command.line !== null) {
    const lines = area.value.split("\n");
    const at = Math.min(command.line, lines.length) - 1;
    const begin = lines.slice(0, at).reduce((sum, line) => sum + line.length + 1, 0);
    area.focus();
    area.setSelectionRange(begin, begin + lines[at].length);
    area.scrollTop = Math.max(0, at * lineHeight(area) - area.clientHeight / 3);
    area.scrollLeft = 0;
  }
  if (command.text !== null) {
    area.focus();
    const next = area.value.indexOf("\n", area.selectionEnd);
    const end = next < 0 ? area.value.length : next;
    area.setSelectionRange(end, end);
    insert(area, (end > 0 ? "\n" : "") + command.text);
    tell(editor);
  }
}

// ---- numbers and marks ----

function number(editor) {
  let lines = 1;
  for (const letter of editor.area.value) if (letter === "\n") lines++;
  if (lines === editor.lines) return;
  editor.lines = lines;
  editor.numbers.textContent = Array.from({ length: lines }, (_, at) => at + 1).join("\n") + "\n\n";
  follow(editor);
}

function mark(editor, marks) {
  editor.marks = marks;
  editor.bands.replaceChildren(
    ...marks.map(() => {
      const band = document.createElement("div");
      band.className = "lab-editor-band";
      band.textContent = "✖";
      return band;
    }),
  );
  follow(editor);
}

function follow(editor) {
  const { area, numbers, bands } = editor;
  numbers.scrollTop = area.scrollTop;
  const style = getComputedStyle(area);
  Array.from(bands.children).forEach((band, at) => {
    const top = parseFloat(style.paddingTop) + (editor.marks[at] - 1) * parseFloat(style.lineHeight);
    band.style.top = `${top - area.scrollTop}px`;
  });
}

function lineHeight(area) {
  return parseFloat(getComputedStyle(area).lineHeight);
}

// ---- a reload keeps what is written, as long as the tab is open ----

function key(id) {
  return `agent-lab-script-${id}`;
}

function remember(id, text) {
  try {
    sessionStorage.setItem(key(id), text);
  } catch {} // switched off, or full: then only the session of the server knows
}

function recall(id) {
  try {
    return sessionStorage.getItem(key(id));
  } catch {
    return null;
  }
}

function forget(id) {
  try {
    sessionStorage.removeItem(key(id));
  } catch {}
}
