// SPDX-License-Identifier: MIT
// Makes the page of `./redzone decode --html` easier to use. Without it the page can be read just as well: it
// adds the filter, the sliders, and the arrow keys in grids. It makes no HTML from text.
"use strict";
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const make = (name, properties = {}, children = []) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };

  // The list of bugs: each word must be somewhere in the item.
  const form = document.getElementById("filter");
  if (form) {
    const words = document.getElementById("words");
    const fresh = document.getElementById("new");
    const items = all(".bugs > li");
    const apply = () => {
      const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const item of items) {
        const text = item.textContent.toLowerCase();
        const fits = wanted.every((word) => text.includes(word)) && !(fresh?.checked && item.className === "known");
        item.hidden = !fits;
        const section = document.getElementById(item.id.replace("item", "bug"));
        if (section) section.hidden = !fits;
        shown += fits;
      }
      const filtered = wanted.length || fresh?.checked;
      document.getElementById("found").textContent = filtered ? `${shown} of ${items.length}` : "";
    };
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", apply);
    form.hidden = items.length < 2;
  }

  // Several reports in one place: a slider shows one at a time.
  let serial = 0;
  for (const steps of all(".steps")) {
    const shown = [...steps.children];
    if (shown.length < 2) continue;
    const id = `step-${++serial}`;
    const range = make("input", { type: "range", id, min: 1, max: shown.length, step: 1, value: 1 });
    const label = make("label", { htmlFor: id }, [`${steps.dataset.what} `, range]);
    const back = make("button", { type: "button", textContent: "Previous" });
    const next = make("button", { type: "button", textContent: "Next" });
    const said = make("output", { htmlFor: id });
    const show = (number) => {
      range.value = number;
      shown.forEach((step, at) => { step.hidden = at !== number - 1; });
      said.textContent = `${number} of ${shown.length}: ${shown[number - 1].dataset.title}`;
      range.setAttribute("aria-valuetext", said.textContent);
      back.disabled = number === 1;
      next.disabled = number === shown.length;
    };
    const move = (by, button, other) => {
      show(Number(range.value) + by);
      // A button that is switched off loses the focus.
      if (button.disabled) other.focus();
    };
    range.addEventListener("input", () => show(Number(range.value)));
    back.addEventListener("click", () => move(-1, back, next));
    next.addEventListener("click", () => move(1, next, back));
    steps.before(make("div", { className: "stepper" }, [label, back, next, said]));
    steps.show = (step) => { if (shown.includes(step)) show(shown.indexOf(step) + 1); };
    show(1);
  }

  // A link to a report that the slider or the filter hides.
  const follow = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    const section = target.closest(".bug");
    if (section?.hidden && form) {
      form.reset();
      form.dispatchEvent(new Event("input"));
    }
    target.closest(".steps")?.show?.(target.closest(".step"));
    target.scrollIntoView();
    target.focus({ preventScroll: true });
  };
  addEventListener("hashchange", follow);
  if (location.hash) follow();

  // Grids: one cell takes part in the order of Tab, the arrow keys go from there.
  for (const grid of all(".grid")) {
    const rows = all(".row", grid).map((row) => all(".cell", row));
    const about = grid.nextElementSibling;
    const cells = rows.flat();
    if (!cells.length) continue;
    grid.setAttribute("role", "grid");
    about.hidden = false;
    const start = cells.find((cell) => cell.classList.contains("bad")) ?? cells[0];
    for (const cell of cells) {
      cell.setAttribute("role", "gridcell");
      cell.tabIndex = cell === start ? 0 : -1;
    }
    const tell = (event) => {
      const cell = event.target.closest(".cell");
      if (cell) about.textContent = cell.title;
    };
    grid.addEventListener("mouseover", tell);
    grid.addEventListener("focusin", tell);
    grid.addEventListener("click", (event) => event.target.closest(".cell")?.focus());
    grid.addEventListener("keydown", (event) => {
      const y = rows.findIndex((row) => row.includes(event.target));
      if (y < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
      const x = rows[y].indexOf(event.target);
      const to = {
        ArrowLeft: [x - 1, y], ArrowRight: [x + 1, y], ArrowUp: [x, y - 1], ArrowDown: [x, y + 1],
        Home: [0, y], End: [rows[y].length - 1, y],
      }[event.key];
      const cell = to && rows[to[1]]?.[to[0]];
      if (to) event.preventDefault();
      if (!cell) return;
      event.target.tabIndex = -1;
      cell.tabIndex = 0;
      cell.focus();
    });
  }
})();
