(() => {
  "use strict";
  const order = (a, b) => {
    const difference = Number(a) - Number(b);
    return Number.isNaN(difference) ? a.localeCompare(b, "en", {numeric: true}) : difference;
  };
  const sort = (table, heading) => {
    const up = heading.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
    const text = (row) => row.cells[heading.cellIndex].textContent;
    const rows = Array.from(table.tBodies[0].rows).sort((a, b) => {
      const x = text(a);
      const y = text(b);
      if (x === "" || y === "") return (x === "") - (y === "");
      return up ? order(x, y) : order(y, x);
    });
    table.tBodies[0].append(...rows);
  };
  const search = (table, words, status) => {
    const rows = Array.from(table.tBodies[0].rows);
    for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(words);
    const shown = rows.filter((row) => !row.hidden).length;
    status.textContent = words === "" ? "" : `${shown} of ${rows.length} rows`;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    for (const heading of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, heading));
      heading.append(button);
    }
  }
  for (const find of document.querySelectorAll(".find")) {
    const table = find.nextElementSibling.querySelector("table");
    const status = find.querySelector("[role=status]");
    find.querySelector("input").addEventListener("input", (event) => {
      search(table, event.target.value.trim().toLowerCase(), status);
    });
    find.hidden = false;
  }
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  });
})();
