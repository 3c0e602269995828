// The page: controls, reading values by pointer and keyboard, the filter of the claims.

(() => {
  const panels = JSON.parse(document.getElementById("data").textContent);
  const views = [...document.querySelectorAll("[data-panel]")].map((root) => view(root, panels[root.dataset.panel]));
  const linked = document.getElementById("linked");

  function view(root, panel) {
    const find = (selector) => root.querySelector(selector);
    const all = (selector) => [...root.querySelectorAll(selector)];
    const svg = find(".chart"), plot = find(".plot"), tip = find(".tip");
    const control = (name) => find(`[data-do="${name}"]`);
    let drawn = { points: [], lines: [], need: 0 }, at = null, width = 0, left = 0;

    /** Draw this panel, then those that it is aligned with: their margin is the largest that one of them needs. */
    function redraw() {
      if (!width) return;
      paint(0);
      const group = views.filter((v) => v.panel.aligned && v.panel.aligned === panel.aligned);
      const most = Math.max(...group.map((v) => v.margins().need));
      for (const v of group) if (v.margins().left !== most) v.paint(most);
    }

    function paint(margin) {
      if (!width) return;
      left = margin;
      hide();
      const on = new Set(all("[data-method]:checked").map((box) => box.dataset.method));
      const state = { x: control("x").value, y: control("y").value, on };
      for (const name of ["logx", "logy", "band"]) state[name] = control(name).checked;
      state.end = Number(control("end").value) / 100;
      state.left = left;
      state.span = panel.aligned ? panels.filter((p) => p.aligned === panel.aligned).flatMap((p) => abscissas(p, state.x)) : [];
      drawn = draw(svg, panel, state, width);
      for (const [i, line] of drawn.lines.entries()) all(".method .nodata")[i].hidden = line.there;
      const names = drawn.lines.filter((l) => l.on && l.there).map((l) => l.method.label);
      const label = (which) => control(which).selectedOptions[0].label;
      svg.setAttribute("aria-label", `${panel.title}: ${label("y")} against ${label("x")}; ${names.join(", ") || "no curve"}`);
      const notes = [];
      const plural = (n) => (n === 1 ? "1 value that is" : `${n} values that are`);
      if (drawn.hidden) notes.push(`Not on the log scale: ${plural(drawn.hidden)} zero or less.`);
      if (drawn.cut) notes.push("The range of runs is left out where it reaches zero.");
      find("[data-note]").textContent = notes.join(" ");
    }

    function hide() {
      at = null;
      tip.hidden = true;
      svg.querySelector(".here")?.remove();
    }

    function show(point) {
      hide();
      at = point;
      const { method } = point.line;
      make(svg, "circle", { class: `here ink${method.ink}`, cx: point.px, cy: point.py, r: 6 });
      const label = (which) => control(which).selectedOptions[0].label;
      const rows = [[label("x"), say(point.x)], [label("y"), say(point.middle)]];
      const spread = point.low !== null && point.high !== null && point.low < point.high;
      if (spread) rows.push(["range", `${say(point.low)} to ${say(point.high)}`]);
      tip.replaceChildren(Object.assign(document.createElement("b"), { textContent: method.label }));
      for (const [name, value] of rows) {
        const row = tip.appendChild(document.createElement("div"));
        row.append(Object.assign(document.createElement("span"), { textContent: name }), " ", value);
      }
      tip.className = `tip ink${method.ink}`;
      tip.hidden = false;
      const zoom = svg.clientWidth / width;
      const left = point.px * zoom + (point.px > width / 2 ? -tip.offsetWidth - 14 : 14);
      const top = point.py * zoom + (point.py * zoom > tip.offsetHeight + 20 ? -tip.offsetHeight - 10 : 12);
      tip.style.left = `${Math.max(0, Math.min(left, svg.clientWidth - tip.offsetWidth))}px`;
      tip.style.top = `${top}px`;
    }

    function point(event) {
      const rect = svg.getBoundingClientRect(), zoom = width / rect.width;
      const [x, y] = [(event.clientX - rect.left) * zoom, (event.clientY - rect.top) * zoom];
      let best = null, least = 60 ** 2;
      for (const p of drawn.points) {
        const far = (p.px - x) ** 2 + (p.py - y) ** 2;
        if (far < least) [best, least] = [p, far];
      }
      if (!best) hide();
      else if (best !== at) show(best);
    }

    function step(event) {
      const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
      if (event.key === "Escape") hide();
      if (!moves || !drawn.points.length) return;
      event.preventDefault();
      const lines = drawn.lines.filter((l) => drawn.points.some((p) => p.line === l));
      if (!at) return show(drawn.points.find((p) => p.line === lines[0]));
      const line = lines[(lines.indexOf(at.line) + moves[1] + lines.length) % lines.length];
      const mine = drawn.points.filter((p) => p.line === line);
      if (line === at.line) return show(mine[Math.max(0, Math.min(mine.indexOf(at) + moves[0], mine.length - 1))]);
      const near = (p) => Math.abs(p.px - at.px);
      show(mine.reduce((a, b) => (near(b) < near(a) ? b : a)));
    }

    /** Set a control as if by hand, where the panel has it; what an axis brings along comes with it. */
    function set(name, value) {
      const node = control(name);
      if (node.type === "checkbox") node.checked = value;
      else if (node.type === "range") node.value = value;
      else {
        const axis = panel[name + "s"].find((a) => a.id === value);
        if (!axis) return;
        node.value = value;
        control("log" + name).checked = axis.log;
      }
    }

    function tick(id, value) {
      for (const box of all("[data-method]")) if (box.dataset.method === id) box.checked = value;
    }

    const pick = (how) => {
      for (const box of all("[data-method]")) box.checked = how === "all" || (how === "paper" && box.dataset.paper === "1");
    };

    const self = { panel, set, tick, pick, redraw, paint, margins: () => ({ left, need: drawn.need }) };
    const changed = ({ target: { dataset, type, checked, value } }) => {
      const change = dataset.method
        ? (v) => v.tick(dataset.method, checked)
        : (v) => v.set(dataset.do, type === "checkbox" ? checked : value);
      everywhere(self, change, ["x", "logx", "end"].includes(dataset.do));
    };
    root.addEventListener("change", changed);
    control("end").addEventListener("input", changed);
    root.addEventListener("click", ({ target: { dataset } }) => dataset.pick && everywhere(self, (v) => v.pick(dataset.pick)));
    svg.addEventListener("pointermove", point);
    svg.addEventListener("pointerdown", point);
    svg.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", step);
    new ResizeObserver(() => {
      const now = Math.round(plot.clientWidth);
      if (now === width) return;
      width = now;
      redraw();
    }).observe(plot);
    return self;
  }

  /** Change a panel: all of them where they are linked, and those with the same x axis where the change is of it. */
  function everywhere(self, change, ofX = false) {
    const aligned = (v) => ofX && v.panel.aligned && v.panel.aligned === self.panel.aligned;
    for (const v of views.filter((v) => linked.checked || v === self || aligned(v))) {
      change(v);
      v.redraw();
    }
  }

  const claims = [...document.querySelectorAll("[data-verdict]")];
  for (const radio of document.querySelectorAll('[name="verdict"]')) {
    radio.addEventListener("change", () => {
      for (const row of claims) row.hidden = radio.value !== "" && row.dataset.verdict !== radio.value;
      const count = claims.filter((row) => !row.hidden).length;
      document.getElementById("claims-count").textContent = `${count} of ${claims.length} claims`;
    });
  }

  for (const box of document.querySelectorAll(".scroll")) {
    const hint = document.createElement("p");
    Object.assign(hint, { className: "note sideways", textContent: "Scroll the table sideways →", hidden: true });
    box.before(hint);
    new ResizeObserver(() => { hint.hidden = box.scrollWidth <= box.clientWidth + 1; }).observe(box);
  }
})();
