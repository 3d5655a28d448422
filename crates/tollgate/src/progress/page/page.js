"use strict";
// Asks for the state each second and shows it. Nothing of it is ever read as markup.
const at = (id) => document.getElementById(id);
const say = (id, text) => { if (at(id).textContent !== text) at(id).textContent = text; };
const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat("en");
const number = (value) => (value === null ? "–" : value >= 1000 ? whole.format(Math.round(value)) : digits.format(value));
const time = (value) => (value === null ? "–" : `${number(value)} ms`);
const span = (seconds) => (seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`);
let silent = 0;

function line(points, of, top, begin, width, kind) {
  let text = "", up = true;
  for (const point of points) {
    const value = of(point);
    if (value === null) { up = true; continue; }
    const x = (point.at_s - begin) / width * 600, y = 120 - value / top * 116;
    text += `${up ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
    up = false;
  }
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("class", kind);
  // A point without a neighbour is a dot.
  path.setAttribute("d", text.replace(/M([\d.]+ [\d.-]+)(?=M|$)/g, "M$1h0.01"));
  return path;
}

function chart(id, points, lines, unit, label) {
  const begin = points.length ? points[0].at_s - 1 : 0;
  const width = Math.max(points.length ? points[points.length - 1].at_s - begin : 0, 30);
  const all = points.flatMap((point) => lines.map(([of]) => of(point))).filter((value) => value !== null);
  const most = Math.max(...all, 0), top = most || 1;
  at(id).replaceChildren(...lines.map(([of, kind]) => line(points, of, top, begin, width, kind)));
  say(label, all.length ? `up to ${number(most)}${unit}` : "");
  const axis = at(id).nextElementSibling.children;
  axis[0].textContent = points.length ? span(Math.round(begin)) : "";
  axis[1].textContent = points.length ? span(Math.round(begin + width)) : "";
}

function show(state) {
  say("title", state.title);
  document.title = state.title;
  say("doing", state.doing);
  say("far", state.far);
  if (state.left_s === null) at("bar").removeAttribute("value");
  else at("bar").value = state.elapsed_s / Math.max(state.elapsed_s + state.left_s, 0.001);
  const now = state.now ?? { per_second: null, p50_ms: null, p99_ms: null };
  say("rate", now.per_second === null ? "–" : `${number(now.per_second)}/s`);
  say("p50", time(now.p50_ms));
  say("p99", time(now.p99_ms));
  const all = state.answered + state.failed;
  say("failed", state.failed ? `${whole.format(state.failed)} (${digits.format(state.failed / all * 100)} %)` : "none");
  chart("throughput", state.points, [[(point) => point.per_second, "k0"], [(point) => point.failed || null, "k2"]], "/s", "rates");
  chart("response", state.points, [[(point) => point.p50_ms, "k0"], [(point) => point.p99_ms, "k1"]], " ms", "times");
}

async function look() {
  const contact = at("contact");
  try {
    const answer = await fetch("state.json", { cache: "no-store", signal: AbortSignal.timeout(5000) });
    show(await answer.json());
    silent = 0;
    contact.className = "live";
    say("contact", "running");
  } catch {
    silent += 1;
    if (silent > 1) {
      contact.className = "lost";
      say("contact", "ended, or out of reach");
    }
  }
  setTimeout(look, 1000);
}
look();
