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
  const selected = (text) => {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  };
  const copyButton = (name, text) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.setAttribute("aria-label", name);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text());
      } catch {
        selected(text());
      }
      button.focus();
      button.classList.add("done");
      setTimeout(() => button.classList.remove("done"), 2000);
    });
    return button;
  };
  for (const code of document.querySelectorAll("li code:only-child, pre.typed")) {
    code.after(copyButton("Copy this", () => code.textContent.trimEnd()));
  }
  const summary = () => {
    const head = document.querySelectorAll(".verdict .word, .verdict h1");
    const lines = [Array.from(head, (part) => part.textContent).join(": ")];
    const parts = "#finding .standing, #finding p, #finding h4, #finding li, #finding pre, footer p";
    for (const part of document.querySelectorAll(parts)) {
      if (part.closest("details")) continue;
      const text = part.textContent.trim();
      lines.push(part.tagName === "H4" ? `${text}:` : part.tagName === "LI" ? `- ${text}` : text);
    }
    return lines.join("\n");
  };
  const verdict = document.querySelector(".verdict");
  if (verdict) {
    const button = copyButton("Copy the summary", summary);
    button.classList.add("summary");
    verdict.append(button);
  }
  for (const grid of document.querySelectorAll(".grid")) {
    grid.addEventListener("keydown", (event) => {
      const cells = Array.from(grid.querySelectorAll("b"));
      const at = cells.indexOf(event.target);
      const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: cells.length - 1}[event.key];
      if (!cells[to]) return;
      event.preventDefault();
      cells[to].focus();
    });
  }
  for (const lanes of document.querySelectorAll(".lanes")) {
    const box = lanes.querySelector(".scroll");
    const plot = box.querySelector("svg");
    const tools = document.createElement("div");
    tools.className = "tools";
    let zoom = 1;
    for (const [name, factor] of [["Zoom in", 2], ["Zoom out", 0.5]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => {
        const middle = (box.scrollLeft + box.clientWidth / 2) / plot.clientWidth;
        zoom = Math.min(64, Math.max(1, zoom * factor));
        plot.setAttribute("width", `${zoom * 100}%`);
        box.scrollLeft = middle * plot.clientWidth - box.clientWidth / 2;
      });
      tools.append(button);
    }
    lanes.before(tools);
  }
})();
