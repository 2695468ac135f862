"use strict";
// Draws every element with data-chart, on the page and in what htmx brings later.
(function () {
  const colours = ["--blue", "--orange", "--green", "--red"];
  const value = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function draw(place) {
    if (place.dataset.drawn) return;
    place.dataset.drawn = "yes";
    const given = JSON.parse(place.dataset.chart);
    const text = document.createElement("p");
    text.className = "quiet";
    text.textContent = given.x.length ? place.dataset.label : "Nothing to draw yet.";
    place.before(text);
    if (!given.x.length) return;
    const axis = { stroke: value("--quiet"), grid: { stroke: value("--line"), width: 0.5 }, ticks: { stroke: value("--line"), width: 1 } };
    const power = (v) => (v === null || v === 0 ? "" : v.toExponential(0));
    const share = (v) => Math.round(v * 100) + " %";
    const number = given.log ? (v) => (v === null ? "" : v.toExponential(3)) : (v) => (v === null ? "" : share(v));
    const options = {
      width: place.clientWidth || 600,
      height: 260,
      scales: { x: { time: Boolean(given.time) }, y: given.log ? { distr: 3 } : { range: given.share ? [0, 1.02] : undefined } },
      axes: [axis, { ...axis, size: 70, values: (_, marks) => marks.map(given.log ? power : share) }],
      series: [{}].concat(given.series.map((one, i) => ({
        label: one.label, stroke: value(colours[i % colours.length]), width: 2, value: (_, v) => number(v),
        paths: given.time ? uPlot.paths.stepped({ align: 1 }) : undefined,
      }))),
    };
    const chart = new uPlot(options, [given.x].concat(given.series.map((one) => one.values)), place);
    addEventListener("resize", () => chart.setSize({ width: place.clientWidth || 600, height: 260 }));
  }

  const all = (root) => root.querySelectorAll("[data-chart]").forEach(draw);
  addEventListener("DOMContentLoaded", () => all(document));
  addEventListener("htmx:afterSwap", (event) => all(event.target));
})();
