"use strict";
(() => {
  const value = (row, at) => {
    const cell = row.cells[at];
    if (!cell) return "";
    const given = cell.dataset.v;
    return given === undefined ? cell.textContent.trim() : given;
  };
  const order = (a, b) => {
    if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1;
    const [x, y] = [Number(a), Number(b)];
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
  };
  for (const table of document.querySelectorAll("table[data-sort]")) {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    heads.forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...body.rows].map((row) => [value(row, at), row]);
        rows.sort(([a], [b]) => (a === "" || b === "" ? order(a, b) : down ? order(b, a) : order(a, b)));
        body.append(...rows.map(([, row]) => row));
      });
    });
  }
  let number = 0;
  for (const table of document.querySelectorAll("table[data-filter]")) {
    const rows = [...table.tBodies[0].rows];
    const label = document.createElement("label");
    const input = document.createElement("input");
    const told = document.createElement("span");
    const box = document.createElement("div");
    input.type = "search";
    input.id = "filter-" + ++number;
    label.htmlFor = input.id;
    label.textContent = "Show only rows with";
    told.setAttribute("role", "status");
    box.className = "find";
    box.append(label, input, told);
    const texts = rows.map((row) => row.textContent.toLowerCase());
    input.addEventListener("input", () => {
      const wanted = input.value.toLowerCase();
      let shown = 0;
      rows.forEach((row, at) => {
        row.hidden = !texts[at].includes(wanted);
        shown += row.hidden ? 0 : 1;
      });
      told.textContent = wanted ? shown + " of " + rows.length : "";
    });
    table.closest(".scroll").before(box);
  }
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((details) => (details.open = true));
  });
  addEventListener("afterprint", () => opened.forEach((details) => (details.open = false)));
})();
