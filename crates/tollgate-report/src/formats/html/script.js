"use strict";
(() => {
  const main = document.querySelector("main");
  const make = (tag, set = {}) => Object.assign(document.createElement(tag), set);

  // Several buttons as one tab stop: arrow keys move between them.
  const asOneStop = (buttons) => {
    buttons.forEach((button, place) => {
      button.tabIndex = place ? -1 : 0;
      button.addEventListener("keydown", (event) => {
        const to = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: buttons.length - 1 }[event.key];
        const other = buttons[to];
        if (!other) return;
        event.preventDefault();
        button.tabIndex = -1;
        other.tabIndex = 0;
        other.focus();
      });
    });
  };

  // Figures with a unit are compared in its smallest form.
  const UNITS = { "ns": 1e-3, "µs": 1, "ms": 1e3, "s": 1e6, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9 };
  const numberOf = (text) => {
    const found = /^[<>≥≤±+]?\s*([-−]?)([\d,]*\.?\d+(?:e[-+]?\d+)?)\s*([^\s\d[]*)/.exec(text);
    return found ? Number(`${found[1] && "-"}${found[2].replaceAll(",", "")}`) * (UNITS[found[3]] ?? 1) : null;
  };
  // Without the numbers of its doubts.
  const figureOf = (cell) => [...(cell?.childNodes ?? [])].filter((node) => node.nodeName !== "SUP")
    .map((node) => node.textContent).join("").trim();
  const isNothing = (text) => text === "" || text === "–";

  const sortable = (table) => {
    const bodies = [...table.tBodies];
    const rows = bodies.flatMap((body) => [...body.rows].map((row) => ({ row, body })));
    // A row that is nameless belongs to the one above it.
    if (rows.length < 2 || rows.some(({ row }) => figureOf(row.cells[0]) === "")) return [];
    const heads = [...table.tHead.rows[0].cells];
    const sort = (head, column) => {
      const next = { none: "ascending", ascending: "descending", descending: "none" }[head.ariaSort ?? "none"];
      for (const other of heads) other.removeAttribute("aria-sort");
      if (next === "none") {
        for (const { row, body } of rows) body.append(row);
        return;
      }
      head.ariaSort = next;
      const sign = next === "ascending" ? 1 : -1;
      const keyed = rows.map(({ row }) => {
        const text = figureOf(row.cells[column]);
        return { row, text, number: numberOf(text) };
      });
      const areNumbers = keyed.some(({ number }) => number !== null);
      const isLast = ({ text, number }) => isNothing(text) || (areNumbers && number === null);
      keyed.sort((a, b) => isLast(a) - isLast(b) || (isLast(a) ? 0
        : sign * (areNumbers ? a.number - b.number : a.text.localeCompare(b.text, "en", { numeric: true }))));
      for (const { row } of keyed) bodies[0].append(row);
    };
    return heads.map((head, column) => {
      const button = make("button", { type: "button" });
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(head, column));
      return button;
    });
  };

  const lines = (table) => [table.tHead, ...table.tBodies].flatMap((part) => [...part.rows]
    .map((row) => [...row.cells].map((cell) => cell.textContent.replace(/\s+/g, " ").trim())));
  const markdown = (table) => {
    const [head, ...rows] = lines(table);
    const line = (cells) => `| ${head.map((_, at) => (cells[at] ?? "").replace(/[\\|]/g, "\\$&")).join(" | ")} |`;
    const sides = [...table.tHead.rows[0].cells].map((cell) => (cell.classList.contains("n") ? "--:" : "---"));
    return [line(head), `|${sides.join("|")}|`, ...rows.map(line)].join("\n") + "\n";
  };
  const csv = (table, file) => {
    // The file has unrounded numbers.
    if (file) return decodeURIComponent(file.href.slice(file.href.indexOf(",") + 1));
    const field = (text) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    return lines(table).map((cells) => cells.map(field).join(",")).join("\r\n") + "\r\n";
  };
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Where the page came by plain HTTP there is no clipboard.
      const area = main.appendChild(make("textarea", { value: text }));
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };

  const said = main.appendChild(make("p", { className: "said" }));
  said.setAttribute("role", "status");
  const copying = (table, place) => {
    const scroll = table.parentElement;
    const file = place.nextElementSibling?.querySelector(":scope > a[download]");
    const bar = make("div", { className: "copy" });
    bar.setAttribute("role", "toolbar");
    bar.setAttribute("aria-label", `Copy: ${scroll.getAttribute("aria-label")}`);
    const forms = [["Copy as Markdown", () => markdown(table)], ["Copy as CSV", () => csv(table, file)]];
    const buttons = forms.map(([textContent, text]) => {
      const button = make("button", { type: "button", textContent });
      button.addEventListener("click", async () => {
        await copy(text());
        button.focus();
        said.textContent = button.textContent = "Copied";
        setTimeout(() => { button.textContent = textContent; }, 1500);
      });
      return button;
    });
    asOneStop(buttons);
    bar.append(...buttons);
    place.after(bar);
  };

  for (const table of document.querySelectorAll(".scroll > table")) {
    const buttons = sortable(table);
    asOneStop(buttons);
    // Its heads can be reached by keys and scroll it.
    if (buttons.length) table.parentElement.removeAttribute("tabindex");
    copying(table, table.parentElement);
  }

  const tip = main.appendChild(make("div", { className: "tip", hidden: true }));
  tip.setAttribute("role", "status");
  const show = (svg, { x, y, series, text }) => {
    tip.replaceChildren(make("strong", { textContent: series.name }), ...text.map((textContent) => make("span", { textContent })));
    tip.hidden = false;
    const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(at.x + 12, room)) + scrollX}px`;
    tip.style.top = `${at.y + scrollY + (at.y > tip.offsetHeight + 20 ? -tip.offsetHeight - 12 : 16)}px`;
  };

  // Where the points of a series are: at their markers, else at the corners of its line.
  const places = (group) => {
    const markers = [...group.querySelectorAll(".dot, .hollow")];
    if (markers.length) {
      return markers.map((marker) => (marker.transform.baseVal.length
        ? [marker.transform.baseVal[0].matrix.e, marker.transform.baseVal[0].matrix.f]
        : [marker.cx.baseVal.value, marker.cy.baseVal.value]));
    }
    const line = group.querySelector(".trace") ?? group.querySelector("path");
    const corners = line?.getAttribute("d").matchAll(/[ML]([-\d.]+) ([-\d.]+)/g) ?? [];
    return [...corners].map(([, x, y]) => [Number(x), Number(y)]);
  };

  const NEAR = 24;
  const chart = (svg) => {
    // A narrow picture has the values of the wide one before it.
    const wide = svg.closest(".narrow")?.previousElementSibling.querySelector("svg") ?? svg;
    const { xLabel, yLabel } = wide.dataset;
    const all = [...wide.querySelectorAll("[data-points]")].flatMap(({ dataset }) => {
      const group = svg.querySelector(`[data-series="${dataset.series}"]`);
      if (!group || !dataset.points) return [];
      const series = { name: dataset.name, group, label: svg.querySelector(`[data-label="${dataset.series}"]`), isOff: false };
      const texts = dataset.points.split("|").map((text) => text.split(";"));
      series.points = places(group).map(([x, y], place) => {
        const [at, value] = texts[place] ?? [];
        return { x, y, series, text: [at && (xLabel ? `${xLabel}: ${at}` : at), value && `${yLabel}: ${value}`].filter(Boolean) };
      });
      return series.points.length ? [series] : [];
    });
    if (!all.length) return;
    const ring = document.createElementNS(svg.namespaceURI, "circle");
    ring.setAttribute("class", "ring");
    ring.setAttribute("r", 7);
    svg.append(ring);
    let now = null;
    const leave = () => { ring.removeAttribute("cx"); svg.classList.remove("on"); tip.hidden = true; };
    const go = (point) => {
      now = point;
      svg.classList.add("on");
      ring.setAttribute("cx", point.x);
      ring.setAttribute("cy", point.y);
      show(svg, point);
    };
    const toggle = (series) => {
      series.isOff = !series.isOff;
      for (const part of [series.group, series.label]) part?.classList.toggle("off", series.isOff);
      leave();
      said.textContent = `${series.name}: ${series.isOff ? "hidden" : "shown"}`;
    };
    for (const series of all) series.label?.addEventListener("click", () => toggle(series));
    svg.addEventListener("pointermove", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const shown = all.filter((series) => !series.isOff).flatMap((series) => series.points);
      const far = (point) => Math.hypot(point.x - at.x, point.y - at.y);
      const nearest = shown.reduce((best, point) => (best && far(best) <= far(point) ? best : point), null);
      if (nearest && far(nearest) < NEAR) go(nearest); else leave();
    });
    svg.addEventListener("pointerleave", leave);
    // One tab stop: arrow keys go from point to point.
    svg.setAttribute("tabindex", "0");
    svg.querySelector("desc")?.append(" Left and right go from point to point, up and down from series to series. Enter hides or shows a series.");
    svg.addEventListener("focus", () => { if (svg.matches(":focus-visible")) go(now ?? all[0].points[0]); });
    svg.addEventListener("blur", leave);
    svg.addEventListener("keydown", (event) => {
      const { series } = now ?? all[0].points[0];
      const at = Math.max(0, series.points.indexOf(now));
      const other = (step) => all[(all.indexOf(series) + step + all.length) % all.length];
      const last = series.points.length - 1;
      const to = {
        ArrowRight: () => go(series.points[Math.min(at + 1, last)]),
        ArrowLeft: () => go(series.points[Math.max(at - 1, 0)]),
        Home: () => go(series.points[0]),
        End: () => go(series.points[last]),
        ArrowDown: () => go(other(1).points[Math.min(at, other(1).points.length - 1)]),
        ArrowUp: () => go(other(-1).points[Math.min(at, other(-1).points.length - 1)]),
        Enter: () => toggle(series),
        " ": () => toggle(series),
        Escape: leave,
      }[event.key];
      if (!to) return;
      event.preventDefault();
      to();
    });
  };
  document.querySelectorAll("svg.chart").forEach(chart);
})();
