"use strict";
const panels = JSON.parse(document.getElementById("panels").textContent);
const ink = "#1d2733", line = "#e6ebf0";
const axis = { gridcolor: line, zerolinecolor: "#c3ccd5", linecolor: "#c3ccd5", exponentformat: "e", automargin: true };
const options = {
  responsive: true, displaylogo: false, modeBarButtons: [["toImage", "resetScale2d"]],
};
let following = false;

function draw(place) {
  const panel = panels[Number(place.dataset.panel)];
  const traces = panel.traces.map((trace) => ({
    type: "scatter", mode: panel.few ? "lines+markers" : "lines", name: trace.name, x: trace.x, y: trace.y,
    line: { color: trace.color, width: 1.6 }, hovertemplate: "%{y:.6g}",
  }));
  const layout = {
    margin: { l: 12, r: 12, t: 8, b: 8 }, font: { color: ink, size: 12 }, hovermode: "x unified",
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    modebar: { bgcolor: "rgba(0,0,0,0)", color: "#a9b4bf", activecolor: ink },
    showlegend: traces.length > 1, legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom" },
    xaxis: { ...axis, title: { text: "time [s]", standoff: 6 } },
    yaxis: { ...axis, title: { text: panel.unit, standoff: 6 }, ...(panel.range ? { range: panel.range } : {}) },
  };
  return Plotly.newPlot(place, traces, layout, options).then(() => place.on("plotly_relayout", (to) => follow(place, to)));
}

// A span of time chosen in one plot is shown in all.
function follow(source, to) {
  const span = to["xaxis.autorange"]
    ? { "xaxis.autorange": true }
    : "xaxis.range[0]" in to && { "xaxis.range": [to["xaxis.range[0]"], to["xaxis.range[1]"]] };
  if (following || !span) return;
  following = true;
  const others = [...document.querySelectorAll(".canvas")].filter((place) => place !== source && place.layout);
  Promise.all(others.map((place) => Plotly.relayout(place, span))).finally(() => { following = false; });
}

document.querySelectorAll(".canvas").forEach(draw);
