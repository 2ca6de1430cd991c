"use strict";
/* What surrounds the picture: pointer and keyboard, search, legend, the selected page, language and theme. */

function element(tag, text, more = {}) {
  const made = document.createElement(tag);
  if (text !== null) made.textContent = text;
  return Object.assign(made, more);
}

function kindsOf(edge) {
  const shown = edge.kinds.map((kind) => {
    const cut = kind.indexOf(":");
    return cut < 0 ? say(kind) : `${say(kind.slice(0, cut))} ${kind.slice(cut + 1)}`;
  });
  return [...new Set(shown)].join("、") + (edge.comment ? ` — ${edge.comment}` : "");
}

function showPanel(node) {
  $("panel").hidden = !node;
  if (!node) return;
  $("page-title").textContent = node.title;
  $("page-path").textContent = node.path;
  $("page-summary").textContent = node.summary;
  const facts = [["scope", node.scope], ["status", say(node.deprecated ? "deprecatedWord" : "current")], ["updated", node.updated || "–"],
    ["keywords", node.keywords.join("、")], ["community", node.community]];
  $("page-facts").replaceChildren(...facts.filter(([, value]) => value).flatMap(([name, value]) => [element("dt", say(name)), element("dd", value)]));
  const rows = node.edges.map((edge) => ({ edge, other: edge.a === node ? edge.b : edge.a }));
  rows.sort((one, two) => one.edge.inferred - two.edge.inferred || two.edge.weight - one.edge.weight || one.other.index - two.other.index);
  $("page-neighbours").textContent = say("neighbours")(rows.length);
  $("neighbours").replaceChildren(...rows.map(({ edge, other }) => {
    const button = element("button", other.title, { type: "button", onclick: () => select(other, { centre: true }) });
    button.append(element("small", kindsOf(edge)));
    const item = element("li", null);
    item.append(button);
    return item;
  }));
}

function showTip(node, x, y) {
  tip.hidden = !node;
  if (!node) return;
  const [title, scope, summary] = tip.children;
  title.textContent = node.title;
  scope.textContent = [node.scope, node.deprecated ? say("deprecatedWord") : "", node.updated].filter(Boolean).join(" · ");
  summary.textContent = node.summary;
  tip.style.left = Math.max(8, Math.min(x + 16, width - tip.offsetWidth - 12)) + "px";
  tip.style.top = (y + 20 + tip.offsetHeight > height ? Math.max(8, y - tip.offsetHeight - 14) : y + 18) + "px";
}

function hover(node, x, y) {
  if (node !== hovered) {
    hovered = node;
    if (!selected) look(node);
    canvas.classList.toggle("over", !!node);
    redraw();
  }
  showTip(node, x, y);
}

/* -- search ------------------------------------------------------------------------------------------------------- */

let found = [], marked = -1;

function search() {
  const words = $("search").value.normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean);
  const rank = (node) => (words.every((word) => node.title.toLowerCase().includes(word)) ? 0 : 1);
  found = !words.length ? [] : prominent.filter((node) => words.every((word) => node.text.includes(word))).sort((a, b) => rank(a) - rank(b)).slice(0, 50);
  marked = found.length ? 0 : -1;
  showResults(words.length > 0);
}

function showResults(open) {
  const list = $("results");
  list.hidden = !open;
  $("search").setAttribute("aria-expanded", String(open));
  const rows = found.map((node, index) => {
    const row = element("li", node.title, { id: "result-" + index, onmousedown: (event) => { event.preventDefault(); choose(index); } });
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", String(index === marked));
    row.append(element("small", [node.scope, node.summary].filter(Boolean).join(" · ")));
    return row;
  });
  list.replaceChildren(...(rows.length ? rows : [element("li", say("none"))]));
  if (open && marked >= 0) { $("search").setAttribute("aria-activedescendant", "result-" + marked); rows[marked].scrollIntoView({ block: "nearest" }); }
  else $("search").removeAttribute("aria-activedescendant");
}

function choose(index) {
  const node = found[index];
  showResults(false);
  if (!node) return;
  if (hidden.delete(node.domain)) showDomains();
  select(node, { centre: true });
  canvas.focus();
}

$("search").addEventListener("input", search);
$("search").addEventListener("focus", () => { if ($("search").value) search(); });
$("search").addEventListener("blur", () => showResults(false));
$("search").addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    if (found.length) marked = (marked + (event.key === "ArrowDown" ? 1 : -1) + found.length) % found.length;
    showResults(found.length > 0);
  } else if (event.key === "Enter") choose(marked);
  else if (event.key === "Escape") { showResults(false); canvas.focus(); }
  event.stopPropagation();
});

/* -- pointer ------------------------------------------------------------------------------------------------------ */

const pointers = new Map();
let dragged = null, moved = false, spread = 0;
const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };

function zoomAt(x, y, factor) {
  const zoom = Math.max(0.02, Math.min(6, camera.zoom * factor));
  camera.x += (x - width / 2) * (1 / camera.zoom - 1 / zoom); camera.y += (y - height / 2) * (1 / camera.zoom - 1 / zoom);
  camera.zoom = zoom; camera.followed = false;
  redraw();
}

canvas.addEventListener("pointerdown", (event) => {
  const [x, y] = place(event);
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, [x, y]);
  moved = false; spread = 0;
  dragged = pointers.size === 1 ? nodeAt(x, y) : null;
});
canvas.addEventListener("pointermove", (event) => {
  const [x, y] = place(event), before = pointers.get(event.pointerId);
  if (!before) { hover(nodeAt(x, y), x, y); return; }
  if (!moved && Math.hypot(x - before[0], y - before[1]) < 4) return;
  moved = true; showTip(null);
  pointers.set(event.pointerId, [x, y]);
  canvas.classList.add("moving");
  if (pointers.size === 2) {
    const [one, two] = [...pointers.values()], now = Math.hypot(one[0] - two[0], one[1] - two[1]);
    if (spread) zoomAt((one[0] + two[0]) / 2, (one[1] + two[1]) / 2, now / spread);
    spread = now;
  } else if (dragged) {
    dragged.held = true; dragged.x = (x - width / 2) / camera.zoom + camera.x; dragged.y = (y - height / 2) / camera.zoom + camera.y;
    camera.followed = false; layout.warm(nodes.length < 3000 ? 0.12 : 0);
  } else {
    camera.x -= (x - before[0]) / camera.zoom; camera.y -= (y - before[1]) / camera.zoom; camera.followed = false;
  }
  redraw();
});
for (const name of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(name, (event) => {
    pointers.delete(event.pointerId); canvas.classList.remove("moving");
    if (name === "pointerup" && !moved && !pointers.size) select(nodeAt(...place(event)));
    if (dragged) dragged.held = false;
    dragged = null; spread = 0;
  });
}
canvas.addEventListener("pointerleave", () => hover(null));
canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoomAt(...place(event), Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015))); }, { passive: false });

/* -- keyboard ----------------------------------------------------------------------------------------------------- */

const TOWARDS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/* The nearest page in a direction; one that is linked with the page here counts as half as far. */
function step([dx, dy]) {
  const from = hovered || selected;
  let best = null, least = Infinity;
  for (const node of nodes) {
    if (node === from || !isShown(node)) continue;
    const x = node.x - (from ? from.x : camera.x), y = node.y - (from ? from.y : camera.y);
    const along = x * dx + y * dy, aside = Math.abs(x * dy - y * dx);
    if (from && along <= aside * 0.5) continue;
    const cost = (from ? along + aside * 2 : Math.hypot(x, y)) * (from && near.has(node) ? 0.5 : 1);
    if (cost < least) { best = node; least = cost; }
  }
  if (!best) return;
  const [x, y] = onScreen(best);
  if (x < 40 || y < 40 || x > width - 40 || y > height - 40) { camera.followed = false; camera.x = best.x; camera.y = best.y; }
  $("spoken").textContent = [best.title, best.scope].filter(Boolean).join(", ");
  hover(best, ...onScreen(best));
}

canvas.addEventListener("keydown", (event) => {
  if (event.key in TOWARDS) { event.preventDefault(); step(TOWARDS[event.key]); }
  else if (event.key === "Enter" || event.key === " ") { event.preventDefault(); select(hovered); }
  else if (event.key === "+" || event.key === "=") zoomAt(width / 2, height / 2, 1.25);
  else if (event.key === "-") zoomAt(width / 2, height / 2, 0.8);
  else if (event.key === "0") $("fit").click();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && event.target !== $("search")) { event.preventDefault(); $("search").focus(); }
  else if (event.key === "Escape") { hover(null); select(null); canvas.focus(); }
});

/* -- legend, language, theme -------------------------------------------------------------------------------------- */

function showDomains() {
  const counts = new Map();
  for (const node of nodes) counts.set(node.domain, (counts.get(node.domain) || 0) + 1);
  $("domains").replaceChildren(...graph.domains.map((name, domain) => {
    const button = element("button", null, { type: "button" }), dot = element("i", null);
    dot.style.background = colour(domain);
    button.setAttribute("aria-pressed", String(!hidden.has(domain)));
    button.append(dot, element("span", name), element("b", String(counts.get(domain) || 0)));
    button.onclick = () => { if (!hidden.delete(domain)) hidden.add(domain); showDomains(); look(selected); redraw(); $("domains").children[domain].firstChild.focus(); };
    const item = element("li", null);
    item.append(button);
    return item;
  }));
}

function translate() {
  document.documentElement.lang = language;
  document.title = say("title");
  for (const here of document.querySelectorAll("[data-text]")) here.textContent = say(here.dataset.text);
  for (const here of document.querySelectorAll("[data-label]")) here.setAttribute("aria-label", say(here.dataset.label));
  $("search").placeholder = say("search");
  $("theme").title = say("theme");
  $("counts").textContent = say("counts")(nodes.length, edges.length + graph.omitted);
  $("omitted").hidden = !graph.omitted;
  $("omitted").textContent = say("omitted")(graph.omitted);
  showPanel(selected);
}

$("language").onclick = () => { language = language === "en" ? "zh-TW" : "en"; translate(); };
$("theme").onclick = () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches, now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  readColours();
};
$("fit").onclick = () => { camera.followed = true; fit(); redraw(); };
$("close").onclick = () => { select(null); canvas.focus(); };
for (const kind of ["extracted", "inferred"]) $("show-" + kind).onchange = (event) => { shows[kind] = event.target.checked; look(selected || hovered); redraw(); };
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);

translate();
showDomains();
$("empty").hidden = nodes.length > 0;
layout.run(matchMedia("(prefers-reduced-motion: reduce)").matches ? 4000 : 500);
new ResizeObserver(resize).observe(canvas.parentElement);
resize();
readColours();
