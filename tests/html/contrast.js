// Texts of the page whose contrast with what is behind them is too low, as readable complaints.
//
// Behind a text is the nearest ancestor with a background; behind the text of a drawing the last
// filled shape before it that holds its middle, else the drawing itself. Evaluates to a list.
(() => {
  const kLeast = 4.5;
  const numbers = (color) => (color.match(/[\d.]+/g) || []).map(Number);
  const isClear = (color) => color === "none" || numbers(color)[3] === 0;
  const luminance = (color) => {
    const [r, g, b] = numbers(color).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  };
  const backgroundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (!isClear(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const holds = (shape, box) => {
    const at = shape.getBoundingClientRect();
    const x = box.x + box.width / 2;
    const y = box.y + box.height / 2;
    return at.left <= x && x <= at.right && at.top <= y && y <= at.bottom;
  };
  const behindDrawn = (text) => {
    const box = text.getBoundingClientRect();
    const before = (shape) =>
      shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING;
    const svg = text.closest("svg");
    const shapes = [...svg.querySelectorAll("rect, circle, polygon")].filter(
      (shape) => before(shape) && !isClear(getComputedStyle(shape).fill) && holds(shape, box));
    return shapes.length > 0 ? getComputedStyle(shapes.at(-1)).fill : backgroundOf(svg);
  };
  const complaints = [];
  const judge = (what, color, behind) => {
    const found = contrast(color, behind);
    if (!(found >= kLeast)) {
      complaints.push(`${found.toFixed(2)}: ${color} on ${behind}: ${what.trim().slice(0, 60)}`);
    }
  };
  for (const part of document.querySelectorAll("details")) part.open = true;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const element = node.parentElement;
    if (node.data.trim() === "" || !element.checkVisibility()) continue;
    if (element.closest("title, script, style")) continue;
    const drawn = element.closest("svg") !== null;
    const style = getComputedStyle(element);
    const color = drawn ? style.fill : style.color;
    const behind = drawn ? behindDrawn(element) : backgroundOf(element);
    if (seen.has(color + behind)) continue;
    seen.add(color + behind);
    judge(node.data, color, behind);
  }
  for (const input of document.querySelectorAll("input")) {
    if (!input.checkVisibility()) continue;
    judge("placeholder", getComputedStyle(input, "::placeholder").color, backgroundOf(input));
  }
  for (const button of document.querySelectorAll("th button")) {
    judge("sort mark", getComputedStyle(button, "::after").color, backgroundOf(button));
  }
  return complaints;
})()
