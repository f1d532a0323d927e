// Draws the pictures in the colours of the page, and again when these change or it is printed.
"use strict";
(() => {
  const pictures = JSON.parse(document.getElementById("data").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const lines = "rgba(128, 128, 128, 0.25)";
  const clear = "rgba(0, 0, 0, 0)";

  function colours(layout, text) {
    const changed = { "font.color": text, paper_bgcolor: clear, plot_bgcolor: clear };
    const axes = new Set(["xaxis", "yaxis", ...Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key))]);
    for (const axis of axes) changed[axis + ".gridcolor"] = lines;
    return changed;
  }

  function textColour() {
    return getComputedStyle(document.body).color;
  }

  function paint(text) {
    for (const [name, figure] of Object.entries(pictures)) {
      Plotly.relayout("picture-" + name, colours(figure.layout, text));
    }
  }

  for (const [name, figure] of Object.entries(pictures)) {
    const place = document.getElementById("picture-" + name);
    Plotly.newPlot(place, figure.data, figure.layout, { responsive: true, displayModeBar: false });
  }
  paint(textColour());
  dark.addEventListener("change", () => paint(textColour()));
  addEventListener("beforeprint", () => paint("#1c1e21"));
  addEventListener("afterprint", () => paint(textColour()));
})();
