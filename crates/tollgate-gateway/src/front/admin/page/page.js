"use strict";
(() => {
  const PERIOD_MS = 1000;
  const ANSWER_MS_MAX = 3000;
  // Five minutes.
  const SPAN_S = 300;
  // Samples further apart than this have no line between them: nobody knows what was there.
  const GAP_S = 3.5;
  const KEPT = "tollgate-monitor-samples";

  // The forms of figures, as the server writes them.
  const short = (n) => (n < 99.95 ? n.toFixed(1) : n.toFixed(0)).replace(/\.0$/, "");
  const grouped = (n) => n.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",");
  const bytes = (n) => {
    for (const unit of ["B", "KiB", "MiB", "GiB"]) {
      if (n < 1024) return `${short(n)} ${unit}`;
      n /= 1024;
    }
    return `${short(n)} TiB`;
  };
  const seconds = (n) => {
    if (n > 0 && n < 1) return `${short(n * 1000)} ms`;
    if (n < 60) return `${short(n)} s`;
    const pair = (large, name, smaller, of) =>
      `${Math.floor(n / large)} ${name} ${String(Math.floor((n % large) / (large / of))).padStart(2, "0")} ${smaller}`;
    if (n < 3600) return pair(60, "min", "s", 60);
    return n < 86400 ? pair(3600, "h", "min", 60) : pair(86400, "d", "h", 24);
  };
  const write = (value, form) => {
    if (value === null || value === undefined) return form === "plain" ? "" : "–";
    if (typeof value === "string") return form === "words" ? value.replace(/[-_]/g, " ") : value;
    switch (form) {
      case "number": return String(value);
      case "bytes": return bytes(value);
      case "bytes-per-second": return `${bytes(value)}/s`;
      case "seconds": return seconds(value);
      case "milliseconds": return seconds(value / 1000);
      default: return grouped(value);
    }
  };

  // Figures of the page: each element says where in the status its text stands.
  const at = (data, steps) => steps.reduce((part, step) => part?.[step], data);
  const bound = (root, absolute) =>
    [...root.querySelectorAll("[data-at], [data-state-at], [data-value-at]"), root].flatMap((element) => {
      const { at, stateAt, valueAt } = element.dataset;
      const place = at ?? stateAt ?? valueAt;
      const kind = at !== undefined ? "text" : stateAt !== undefined ? "state" : "value";
      return place === undefined ? [] : [{ element, place, steps: place.split("/").filter(Boolean), kind }];
    })
      .filter(({ place }) => place.startsWith("/") === absolute);
  const fill = (figures, data) => {
    for (const { element, steps, kind } of figures) {
      const value = at(data, steps);
      if (kind === "value") {
        element.value = value ?? "";
      } else if (kind === "state") {
        if (element.dataset.state !== value) element.dataset.state = value ?? "";
      } else {
        const text = write(value, element.dataset.as);
        if (element.textContent !== text) element.textContent = text;
      }
    }
  };
  const figures = bound(document.body, true);
  const lists = [...document.querySelectorAll("[data-rows]")].map((element) => ({
    element,
    steps: element.dataset.rows.split("/").filter(Boolean),
    pattern: element.querySelector("template").content.firstElementChild,
    rows: [...element.children].slice(1).map((row) => bound(row, false)),
  }));
  const fillLists = (status) => {
    for (const { element, steps, pattern, rows } of lists) {
      // A button must not come to mean something else just as it is pressed.
      if (element.matches(":hover, :focus-within") && element.querySelector("button")) continue;
      const items = at(status, steps) ?? [];
      while (rows.length > items.length) {
        rows.pop();
        element.lastElementChild.remove();
      }
      while (rows.length < items.length) {
        const row = pattern.cloneNode(true);
        element.append(row);
        rows.push(bound(row, false));
      }
      items.forEach((item, index) => fill(rows[index], item));
    }
  };

  // What the charts draw: a sample for each answer, kept over a reload of the page.
  const total = (list, figure) => list.reduce((sum, item) => sum + figure(item), 0);
  const charts = [
    {
      title: "Requests a second",
      series: [["answered", "rate"], ["5xx", "failures"]],
      write: (n) => (n < 100 ? short(n) : grouped(n)),
    },
    {
      title: "Work processes",
      series: [["busy", "busy"], ["waiting", "waiting"]],
      write: grouped,
      least: 4,
    },
    {
      title: "Connections",
      series: [["open", "open"]],
      write: grouped,
      least: 4,
    },
    {
      title: "CPU, of one core",
      series: [["used", "cpu"]],
      write: (n) => `${short(n)} %`,
      least: 10,
    },
  ];
  let samples = [];
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
    samples = kept.filter((sample) => sample.at > Date.now() / 1000 - SPAN_S && sample.at <= Date.now() / 1000);
  } catch { /* Without storage the charts begin anew. */ }
  addEventListener("pagehide", () => {
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(samples));
    } catch { /* As above. */ }
  });
  let last = null;
  const sample = (status) => {
    const now = {
      uptime: status.server.uptime_seconds,
      started: status.server.started,
      answered: total(Object.values(status.requests.answered), (count) => count),
      failures: status.requests.answered["5xx"],
      cpu: status.server.cpu_seconds,
    };
    const before = last?.started === now.started && last.uptime < now.uptime ? last : null;
    last = now;
    const each = (figure) => (before ? Math.max(0, now[figure] - before[figure]) / (now.uptime - before.uptime) : null);
    samples.push({
      at: Date.now() / 1000,
      rate: each("answered"),
      failures: each("failures"),
      cpu: before ? each("cpu") * 100 : null,
      busy: total(status.services, (service) => service.pool.busy),
      waiting: total(status.services, (service) => service.pool.waiting),
      open: total(status.listeners, (listener) => listener.connections.open),
    });
    while (samples[0].at < samples.at(-1).at - SPAN_S) samples.shift();
  };

  const SVG = "http://www.w3.org/2000/svg";
  const make = (parent, tag, attributes = {}, text = "") => {
    const element = parent.namespaceURI === SVG || tag === "svg"
      ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text) element.textContent = text;
    parent.append(element);
    return element;
  };
  // The top of a scale: 1, 2 or 5 times a power of ten.
  const roundUp = (n) => {
    const power = 10 ** Math.floor(Math.log10(n));
    return [1, 2, 5, 10].map((step) => step * power).find((top) => top >= n * (1 - 1e-9));
  };
  // The point in time that is looked at, in seconds ago; null is now.
  let lookedAt = null;
  const panel = document.getElementById("charts");
  for (const chart of charts) {
    const figure = make(panel, "figure");
    make(figure, "figcaption", {}, chart.title);
    const legend = make(figure, "p", { class: "legend" });
    chart.values = chart.series.map(([name], index) => {
      const entry = make(legend, "span", { class: `k${index}` });
      const value = make(entry, "b", {}, "–");
      entry.append(` ${name}`);
      return value;
    });
    chart.when = make(legend, "small");
    chart.plot = make(figure, "div", {
      class: "plot", tabindex: "0", role: "slider", "aria-label": `${chart.title}: seconds ago`,
      "aria-valuemin": String(-SPAN_S), "aria-valuemax": "0", "aria-valuenow": "0", "aria-valuetext": "now",
    });
    const svg = make(chart.plot, "svg", { viewBox: "0 0 300 100", preserveAspectRatio: "none", "aria-hidden": "true" });
    for (const y of [0.5, 50, 99.5]) make(svg, "path", { class: "grid", d: `M0 ${y}H300` });
    chart.area = make(svg, "path", { class: "area k0" });
    chart.lines = chart.series.map((_, index) => make(svg, "path", { class: `line k${index}` }));
    chart.cursor = make(svg, "path", { class: "cursor" });
    chart.top = make(chart.plot, "span", { class: "top" });
    const axis = make(figure, "p", { class: "axis", "aria-hidden": "true" });
    make(axis, "span", {}, "5 min ago");
    make(axis, "span", {}, "now");
    const look = (ago) => {
      lookedAt = ago === null ? null : Math.min(SPAN_S, Math.max(0, ago));
      draw();
    };
    chart.plot.addEventListener("pointermove", (event) => {
      const box = chart.plot.getBoundingClientRect();
      look(SPAN_S * (1 - (event.clientX - box.left) / box.width));
    });
    chart.plot.addEventListener("pointerleave", () => look(null));
    chart.plot.addEventListener("blur", () => look(null));
    chart.plot.addEventListener("keydown", (event) => {
      const ago = lookedAt ?? 0;
      const to = {
        ArrowLeft: ago + 1, ArrowDown: ago + 1, ArrowRight: ago - 1, ArrowUp: ago - 1,
        PageDown: ago + 30, PageUp: ago - 30, Home: SPAN_S, End: 0, Escape: null,
      };
      if (!(event.key in to)) return;
      event.preventDefault();
      look(to[event.key]);
    });
  }
  const clock = (at) => new Date(at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const draw = () => {
    if (samples.length === 0) return;
    const now = samples.at(-1).at;
    const x = (at) => (300 * (1 - (now - at) / SPAN_S)).toFixed(2);
    const seen = lookedAt === null ? samples.at(-1) : samples.reduce((best, each) =>
      (Math.abs(now - lookedAt - each.at) < Math.abs(now - lookedAt - best.at) ? each : best));
    for (const chart of charts) {
      const largest = Math.max(...samples.flatMap((each) => chart.series.map(([, name]) => each[name] ?? 0)));
      const top = roundUp(Math.max(largest, chart.least ?? 1));
      const y = (value) => (99.5 - 98 * (value / top)).toFixed(2);
      chart.top.textContent = chart.write(top);
      chart.series.forEach(([, name], index) => {
        let line = "", area = "", from = null, before = null;
        for (const each of samples) {
          if (each[name] === null) { before = null; continue; }
          const point = `${x(each.at)} ${y(each[name])}`;
          if (before === null || each.at - before.at > GAP_S) {
            if (from !== null) area += `V99.5H${from}Z`;
            from = x(each.at);
            line += `M${point}`;
            area += `M${point}`;
          } else {
            line += `L${point}`;
            area += `L${point}`;
          }
          before = each;
        }
        chart.lines[index].setAttribute("d", line);
        if (index === 0) chart.area.setAttribute("d", from === null ? "" : `${area}V99.5H${from}Z`);
        chart.values[index].textContent = seen[name] === null ? "–" : chart.write(seen[name]);
      });
      chart.cursor.setAttribute("d", lookedAt === null ? "" : `M${x(seen.at)} 0V100`);
      chart.when.textContent = lookedAt === null ? "" : clock(seen.at);
      if (document.activeElement === chart.plot) {
        const said = chart.series.map(([name], index) => `${chart.values[index].textContent} ${name}`).join(", ");
        chart.plot.setAttribute("aria-valuenow", String(-Math.round(lookedAt ?? 0)));
        chart.plot.setAttribute("aria-valuetext", `${lookedAt === null ? "now" : clock(seen.at)}: ${said}`);
      }
    }
  };

  // Each second the status anew. Who does not answer is asked again, for as long as the page is open.
  const contact = document.getElementById("contact");
  const pause = document.getElementById("pause");
  const say = (text, lost) => {
    if (contact.textContent !== text) contact.textContent = text;
    document.documentElement.classList.toggle("lost", lost);
  };
  let answered = Date.now() / 1000;
  let shape = null;
  const ask = async () => {
    const response = await fetch(`/status.json${location.search}`, {
      cache: "no-store", redirect: "error", signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.json();
  };
  const isPaused = () => pause.getAttribute("aria-pressed") !== "false";
  const turn = async () => {
    const began = performance.now();
    if (!isPaused()) {
      try {
        const status = await ask();
        answered = Date.now() / 1000;
        // Who paused meanwhile keeps what stands there.
        if (!isPaused()) {
          // Another process may have other services, and has other tokens: the page is made anew, its charts go on.
          shape ??= status.server.started;
          if (shape !== status.server.started) {
            location.reload();
            return;
          }
          fill(figures, status);
          fillLists(status);
          sample(status);
          draw();
          say(write(status.server.state, "words"), false);
        }
      } catch {
        if (!isPaused()) say(`no answer since ${clock(answered)}`, true);
      }
    }
    setTimeout(turn, Math.max(0, PERIOD_MS - (performance.now() - began)));
  };
  pause.hidden = false;
  pause.addEventListener("click", () => {
    const paused = !isPaused();
    pause.setAttribute("aria-pressed", String(paused));
    if (paused) say(`paused at ${clock(Date.now() / 1000)}`, false);
  });
  panel.hidden = false;
  draw();
  turn();
})();
