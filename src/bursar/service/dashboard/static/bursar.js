"use strict";
// Charts, times in the reader's own zone, folding, the slider: on the page and in what htmx brings later.
(function () {
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  const drawn = new Set();

  const share = (v) => (v === null || v === undefined ? "–" : Math.round(v * 1000) / 10 + " %");
  const small = (v) => (v === null || v === undefined || v === 0 ? "" : v.toExponential(3));
  const moment = (s) => new Date(s * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

  const hour = (s) => new Date(s * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const day = (s) => new Date(s * 1000).toLocaleDateString([], { day: "numeric", month: "short" });

  function series(given, one) {
    const colour = css({ step: "--blue", points: "--red", dash: "--quiet" }[one.style] || one.colour || "--blue");
    const look = { label: one.label, stroke: colour, width: 2, spanGaps: true, value: (_, v) => (given.log ? small(v) : share(v)) };
    if (one.style === "step") look.paths = uPlot.paths.stepped({ align: 1 });
    if (one.style === "step") look.points = { show: false };
    if (one.style === "points") Object.assign(look, { paths: () => null, points: { show: true, size: 9, fill: colour } });
    if (one.style === "dash") Object.assign(look, { dash: [6, 5], points: { show: false } });
    return look;
  }

  function draw(place) {
    const given = JSON.parse(place.dataset.chart);
    place.replaceChildren();
    const text = document.createElement("p");
    text.className = "quiet";
    text.textContent = given.x.length ? place.dataset.label + (given.time ? " (" + zone + ")" : "") : "Nothing to draw yet.";
    place.append(text);
    if (!given.x.length) return;
    const axis = { stroke: css("--quiet"), grid: { stroke: css("--line"), width: 0.5 }, ticks: { stroke: css("--line"), width: 1 }, font: "12px system-ui, sans-serif" };
    const power = (v) => (v === null || v === 0 ? "" : v.toExponential(0));
    const chart = new uPlot({
      width: place.clientWidth || 320,
      height: 280,
      cursor: { y: false },
      scales: { x: { time: Boolean(given.time) }, y: given.log ? { distr: 3 } : { range: given.share ? [0, 1.03] : undefined } },
      axes: [given.time ? { ...axis, space: 80, values: (_, marks) => marks.map(given.x[given.x.length - 1] - given.x[0] < 259200 ? hour : day) } : axis, { ...axis, size: 62, values: (_, marks) => marks.map(given.log ? power : (v) => Math.round(v * 100) + " %") }],
      series: [{ label: given.time ? "when" : "ε", value: (_, v) => (v === null ? "–" : given.time ? moment(v) : v.toPrecision(4)) }].concat(given.series.map((one) => series(given, one))),
    }, [given.x].concat(given.series.map((one) => one.values)), place);
    place.setAttribute("role", "figure");
    place.setAttribute("aria-label", place.dataset.label);
    place.chart = chart;
    drawn.add(place);
  }

  function localise(root) {
    root.querySelectorAll("time[datetime]:not([data-local])").forEach((one) => {
      const at = new Date(one.dateTime);
      const day = { year: "numeric", month: "short", day: "numeric" };
      const form = one.dataset.show === "day" ? day : { ...day, hour: "2-digit", minute: "2-digit" };
      one.textContent = at.toLocaleString([], form);
      one.title = at.toISOString() + " · " + zone;
      one.dataset.local = "yes";
    });
    root.querySelectorAll("[data-zone]").forEach((one) => { one.textContent = "(" + zone + ")"; });
  }

  function arrive(root) {
    localise(root);
    root.querySelectorAll("[data-chart]").forEach(draw);
  }

  function noise() {
    // three sliders' worth in one: from half a unit to five hundred, evenly by ratio
    const kind = document.getElementById("ask-kind"), slider = document.getElementById("ask-noise"), what = document.getElementById("what");
    const value = Number((0.5 * Math.pow(1000, slider.value / 300)).toPrecision(2));
    slider.setAttribute("aria-valuetext", "noise " + value);
    const times = /\*\s*\d+\s*$/.exec(what.value);
    what.value = kind.value.replace("?", String(value)) + (times ? times[0] : "");
    what.form.dispatchEvent(new Event("ask"));
  }

  let waiting = 0;
  addEventListener("input", (event) => {
    if (event.target.id === "ask-noise" || event.target.id === "ask-kind") {
      clearTimeout(waiting);
      waiting = setTimeout(noise, 180);
    }
  });

  addEventListener("click", (event) => {
    const fold = event.target.closest(".fold");
    if (fold) {
      const below = fold.closest("li").querySelector(":scope > .below");
      const open = fold.getAttribute("aria-expanded") !== "true";
      fold.setAttribute("aria-expanded", String(open));
      fold.setAttribute("aria-label", fold.getAttribute("aria-label").replace(/^\w+/, open ? "Hide" : "Show"));
      below.hidden = !open;
    }
    if (event.target.closest("[data-close]")) {
      document.getElementById("act").replaceChildren();
      document.getElementById("main").focus();
    }
    const trial = event.target.closest("[data-try]");
    if (trial) {
      const what = document.getElementById("what");
      what.value = trial.dataset.try;
      what.form.dispatchEvent(new Event("ask"));
      what.scrollIntoView({ block: "center" });
    }
    document.querySelectorAll("details.menu[open]").forEach((menu) => {
      if (!menu.contains(event.target) || event.target.closest(".menu ul button")) menu.open = false;
    });
  });

  addEventListener("keydown", (event) => {
    if (event.key === "Escape") document.querySelectorAll("details.menu[open]").forEach((menu) => { menu.open = false; menu.querySelector("summary").focus(); });
  });

  addEventListener("htmx:beforeRequest", (event) => {
    // what was unfolded once is there already
    const fold = event.target.closest && event.target.closest(".fold");
    if (fold && fold.closest("li").querySelector(":scope > .below").childElementCount) event.preventDefault();
  });

  addEventListener("htmx:afterSwap", (event) => {
    arrive(event.target);
    if (event.target.id === "act" && event.target.childElementCount) {
      const first = event.target.querySelector("input:not([type=hidden]), textarea, select, button.primary, button.danger");
      event.target.scrollIntoView({ block: "nearest" });
      (first || event.target).focus();
    }
  });
  addEventListener("resize", () => drawn.forEach((place) => (place.isConnected ? place.chart.setSize({ width: place.clientWidth || 320, height: 280 }) : drawn.delete(place))));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.querySelectorAll("[data-chart]").forEach(draw));
  addEventListener("DOMContentLoaded", () => arrive(document));
})();
