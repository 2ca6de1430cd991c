"use strict";
/* The picture: canvas, pan and zoom, hover, selection, keyboard. Text reaches the page by textContent only. */

const TEXT = {
  "zh-TW": {
    title: "知識圖譜", counts: (n, e) => `${n} 頁 · ${e} 條關聯`, search: "搜尋標題、範圍、摘要、關鍵字（按 / ）", results: "搜尋結果",
    fit: "全覽", language: "English", theme: "切換明暗", canvas: "知識圖譜；方向鍵移到相鄰頁面，Enter 選取，＋－縮放，Esc 取消",
    legend: "圖例", domains: "領域", edges: "關聯", extracted: "明寫的連結", inferred: "推得：共有的詞", deprecated: "已淘汰的頁面",
    keys: "拖曳平移、滾輪縮放、點選看關聯；/ 搜尋、方向鍵走訪、Esc 取消", close: "關閉", empty: "還沒有頁面。先執行 kb build。",
    scope: "適用範圍", status: "狀態", updated: "更新", keywords: "關鍵字", community: "社群", current: "現行", deprecatedWord: "已淘汰",
    neighbours: (n) => `相關頁面（${n}）`, none: "沒有符合的頁面", omitted: (n) => `另有 ${n} 條較弱的推得關聯未畫出。`,
    wikilink: "連結", markdown: "連結", embed: "嵌入", related: "related", tag: "標籤", keyword: "關鍵字",
  },
  en: {
    title: "Knowledge graph", counts: (n, e) => `${n} pages · ${e} edges`, search: "Search title, scope, summary, keywords (press /)", results: "Results",
    fit: "Fit", language: "中文", theme: "Light or dark", canvas: "Knowledge graph; arrow keys go to the page nearby, Enter selects, + and - zoom, Esc clears",
    legend: "Legend", domains: "Domains", edges: "Edges", extracted: "Stated link", inferred: "Inferred: shared words", deprecated: "Deprecated page",
    keys: "Drag to pan, wheel to zoom, click for neighbours; / to search, arrows to walk, Esc to clear", close: "Close", empty: "No pages yet. Run kb build first.",
    scope: "Scope", status: "Status", updated: "Updated", keywords: "Keywords", community: "Community", current: "current", deprecatedWord: "deprecated",
    neighbours: (n) => `Related pages (${n})`, none: "No page matches", omitted: (n) => `${n} weaker inferred edges are not drawn.`,
    wikilink: "link", markdown: "link", embed: "embed", related: "related", tag: "tag", keyword: "keyword",
  },
};
const PALETTE = ["#3b82d6", "#d9822b", "#2f9e6e", "#c9497b", "#7b61d1", "#a58410", "#1f9fb3", "#c2523c", "#6a9a2d", "#a15fb5", "#4f6fb0", "#8a6d5a"];

const graph = JSON.parse(document.getElementById("graph").textContent);
const $ = (id) => document.getElementById(id);
const canvas = $("canvas"), pen = canvas.getContext("2d"), tip = $("tip");
let language = graph.language in TEXT ? graph.language : "en";
const say = (key) => TEXT[language][key];

const nodes = graph.nodes.map(([path, title, domain, scope, deprecated, updated, summary, keywords, community, x, y], index) => ({
  index, path, title: title || path, domain, scope: graph.scopes[scope], deprecated: !!deprecated, updated, summary, keywords,
  community: community < 0 ? "" : graph.communities[community], x, y, degree: 0, edges: [],
}));
const edges = graph.edges.map(([a, b, inferred, weight, kinds, comment]) => ({
  a: nodes[a], b: nodes[b], inferred: !!inferred, weight, kinds: kinds.map((kind) => graph.kinds[kind]), comment,
}));
for (const edge of edges) {
  edge.a.degree += edge.weight; edge.b.degree += edge.weight;
  edge.a.edges.push(edge); edge.b.edges.push(edge);
}
for (const edge of edges) {
  const fewest = Math.min(edge.a.edges.length, edge.b.edges.length);
  edge.strength = (edge.inferred ? 0.35 * edge.weight : 0.8) / Math.sqrt(fewest);
}
// Few pages have room to show every title; many need to stay in reach of each other.
const roomy = Math.max(1, Math.min(4, 160 / Math.max(nodes.length, 1)));
for (const node of nodes) {
  node.radius = 4.5 + Math.min(13, Math.sqrt(node.degree) * 2);
  node.charge = (46 + node.radius * 7) * roomy;
  node.text = [node.title, node.path, node.scope, node.summary, ...node.keywords].join(" ").normalize("NFKC").toLowerCase();
}
const prominent = [...nodes].sort((one, other) => other.degree - one.degree || one.index - other.index);
const colour = (domain) => (domain < PALETTE.length ? PALETTE[domain] : `hsl(${(domain * 137.5) % 360} 48% 52%)`);

const layout = createLayout(nodes, edges);
const camera = { x: 0, y: 0, zoom: 1, followed: true };
let width = 0, height = 0, selected = null, hovered = null, near = new Set(), asked = false;
const hidden = new Set(), shows = { extracted: true, inferred: true };
let ink = {};

const isShown = (node) => !hidden.has(node.domain);
const isDrawn = (edge) => (edge.inferred ? shows.inferred : shows.extracted) && isShown(edge.a) && isShown(edge.b);
const onScreen = (node) => [(node.x - camera.x) * camera.zoom + width / 2, (node.y - camera.y) * camera.zoom + height / 2];

function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    if (layout.active) { layout.run(14); if (camera.followed) fit(); redraw(); }
    draw();
  });
}

function fit() {
  const shown = nodes.filter(isShown);
  if (!shown.length) return;
  const legend = width > 900 ? $("legend").offsetWidth + 24 : 0;
  const xs = shown.map((node) => node.x).sort((a, b) => a - b), ys = shown.map((node) => node.y).sort((a, b) => a - b);
  // A few pages without any edge drift far out; they do not decide the size of the picture.
  const edge = shown.length > 200 ? Math.floor(shown.length * 0.005) : 0, last = shown.length - 1;
  const left = xs[edge], right = xs[last - edge], top = ys[edge], bottom = ys[last - edge];
  camera.zoom = Math.min(2, (width - legend - 90) / Math.max(right - left, 40), (height - 80) / Math.max(bottom - top, 40));
  camera.zoom = Math.max(camera.zoom, 0.02);
  camera.x = (left + right) / 2 - legend / 2 / camera.zoom; camera.y = (top + bottom) / 2;
}

function draw() {
  const ratio = window.devicePixelRatio || 1, zoom = camera.zoom, focus = selected || hovered;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.translate(width / 2 - camera.x * zoom, height / 2 - camera.y * zoom);
  pen.scale(zoom, zoom);
  const many = edges.length > 4000, fade = Math.max(0.35, Math.min(1, Math.sqrt(900 / Math.max(edges.length, 1))));
  for (const inferred of [true, false]) {
    strokeEdges((edge) => edge.inferred === inferred && !touches(edge, focus), inferred ? ink.faint : ink.edge,
      focus ? 0.08 : (inferred ? 0.6 : 0.7) * fade, 1, inferred && !many);
  }
  if (focus) {
    strokeEdges((edge) => edge.inferred && touches(edge, focus), ink.faint, 0.95, 1.4, true);
    strokeEdges((edge) => !edge.inferred && touches(edge, focus), ink.edge, 0.95, 1.8, false);
  }
  for (const node of nodes) if (isShown(node)) drawNode(node, !focus || near.has(node) || node === focus);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawLabels(focus);
}
const touches = (edge, node) => node !== null && (edge.a === node || edge.b === node);

function strokeEdges(wanted, style, alpha, thick, dashed) {
  pen.beginPath();
  for (const edge of edges) {
    if (!wanted(edge) || !isDrawn(edge)) continue;
    pen.moveTo(edge.a.x, edge.a.y); pen.lineTo(edge.b.x, edge.b.y);
  }
  pen.globalAlpha = alpha; pen.strokeStyle = style; pen.lineWidth = thick / Math.max(camera.zoom, 0.35);
  pen.setLineDash(dashed ? [4 / camera.zoom, 4 / camera.zoom] : []);
  pen.stroke();
  pen.setLineDash([]); pen.globalAlpha = 1;
}

function drawNode(node, bright) {
  const radius = Math.max(node.radius, 1.8 / camera.zoom);
  pen.globalAlpha = bright ? 1 : 0.16;
  pen.beginPath(); pen.arc(node.x, node.y, radius, 0, 2 * Math.PI);
  pen.fillStyle = node.deprecated ? ink.ground : colour(node.domain); pen.fill();
  pen.lineWidth = node.deprecated ? 2.4 : 1.1; pen.strokeStyle = node.deprecated ? colour(node.domain) : ink.halo; pen.stroke();
  if (node === selected || node === hovered) {
    pen.beginPath(); pen.arc(node.x, node.y, radius + 4 / camera.zoom, 0, 2 * Math.PI);
    pen.lineWidth = 2.4 / camera.zoom; pen.strokeStyle = ink.focus; pen.stroke();
  }
  pen.globalAlpha = 1;
}

/* Titles where there is room, the best connected pages first; those in focus always. */
function drawLabels(focus) {
  const taken = [], size = 12, most = Math.min(nodes.length, 40 + 70 * camera.zoom * camera.zoom);
  pen.font = `${size}px ${getComputedStyle(document.documentElement).fontFamily}`;
  pen.textAlign = "center"; pen.textBaseline = "top"; pen.lineJoin = "round"; pen.lineWidth = 3;
  const order = focus ? [focus, ...prominent.filter((node) => near.has(node)), ...(near.size ? [] : prominent)] : prominent;
  let drawn = 0;
  for (const node of order) {
    if (!isShown(node) || drawn >= most) continue;
    const [x, y] = onScreen(node);
    if (x < -60 || y < -20 || x > width + 60 || y > height + 20) continue;
    const text = node.title.length > 22 ? node.title.slice(0, 21) + "…" : node.title;
    const half = pen.measureText(text).width / 2 + 3, below = y + Math.max(node.radius * camera.zoom, 1.8) + 3;
    if (node !== focus && taken.some((box) => Math.abs(box.x - x) < box.half + half && Math.abs(box.y - below) < size + 3)) continue;
    taken.push({ x, y: below, half }); drawn += 1;
    pen.strokeStyle = ink.halo; pen.strokeText(text, x, below);
    pen.fillStyle = ink.ink; pen.fillText(text, x, below);
  }
}

function nodeAt(x, y) {
  let best = null, least = Infinity;
  for (const node of nodes) {
    if (!isShown(node)) continue;
    const [atX, atY] = onScreen(node), distance = Math.hypot(atX - x, atY - y) - Math.max(node.radius * camera.zoom, 4);
    if (distance < 5 && distance < least) { best = node; least = distance; }
  }
  return best;
}

function look(node) {
  near = new Set();
  if (node) for (const edge of node.edges) if (isDrawn(edge)) near.add(edge.a === node ? edge.b : edge.a);
}

function select(node, { centre = false } = {}) {
  selected = node; look(node || hovered);
  if (node && centre) {
    camera.followed = false; camera.zoom = Math.max(camera.zoom, 0.9); camera.x = node.x; camera.y = node.y;
  }
  showPanel(node);
  redraw();
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ground", "ink", "edge", "faint", "halo", "focus"]) ink[name] = style.getPropertyValue("--" + name).trim();
  redraw();
}

function resize() {
  const box = canvas.parentElement.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
  width = box.width; height = box.height;
  canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
  if (camera.followed) fit();
  redraw();
}
