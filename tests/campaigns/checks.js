// What is wrong with how a page looks, a line each. Evaluated in the page by test_screenshots.py.
(() => {
  const wrong = new Set();
  const says = (what, node) => {
    const name = (node.className.baseVal ?? node.className) || node.tagName;
    wrong.add(`${what}: ${name}: ${node.textContent.trim().slice(0, 60)}`);
  };
  const numbers = (colour) => (colour.match(/[\d.]+/g) || []).map(Number);
  const over = (top, under) => {
    const alpha = top[3] ?? 1;
    return under.map((colour, i) => (top[i] ?? 0) * alpha + colour * (1 - alpha));
  };
  const ground = (node) =>
    node ? over(numbers(getComputedStyle(node).backgroundColor), ground(node.parentElement)) : [255, 255, 255];
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const contrast = (text, under) => {
    const [low, high] = [light(over(text, under)), light(under)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const hidden = (node) => ["SCRIPT", "STYLE", "title", "desc"].includes(node.tagName) || node.closest("thead")?.offsetWidth === 1;

  const inner = (node) => {
    const contents = document.createRange();
    contents.selectNodeContents(node);
    return contents.getBoundingClientRect(); // a cell is as tall as its row, whatever is in it
  };

  const { scrollWidth } = document.documentElement;
  if (scrollWidth > document.documentElement.clientWidth) wrong.add(`the page scrolls sideways: ${scrollWidth} > ${document.documentElement.clientWidth}`);
  for (const node of document.body.querySelectorAll("*")) {
    const style = getComputedStyle(node);
    const box = node.getBoundingClientRect();
    const svg = node.closest("svg");
    if (!box.width || hidden(node)) continue;
    if (style.overflowX !== "visible" && node.scrollWidth > node.clientWidth) says("cut off", node);
    if (![...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim())) continue;
    const size = parseFloat(style.fontSize) * (svg ? svg.getScreenCTM().a : 1);
    if (box.left < -1 || box.right > document.documentElement.clientWidth + 1) says("beyond the edge", node);
    if (size < 9) says(`too small, ${size.toFixed(1)}`, node);
    if (!svg && style.writingMode === "horizontal-tb" && inner(node).width < size * 2 && inner(node).height > size * 4) says("squashed", node);
    const found = contrast(numbers(svg ? style.fill : style.color), ground(svg ? svg.parentElement : node));
    if (found < 4.5) says(`contrast ${found.toFixed(2)}`, node);
  }
  return [...wrong];
})();
