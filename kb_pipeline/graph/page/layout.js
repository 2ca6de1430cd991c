"use strict";
/* Where the nodes are: springs along edges, repulsion through a quadtree (Barnes and Hut 1986), a pull to the middle.
   Starts from the positions in the page and uses no random numbers: the same graph always looks the same. */

function createLayout(nodes, edges) {
  const count = nodes.length;
  const speedX = new Float64Array(count), speedY = new Float64Array(count);
  const OPENING = 0.81, FRICTION = 0.6, DEEPEST = 40;
  let heat = 1, cooling = 0.0228;

  function quadtree() {
    let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
    for (const node of nodes) {
      left = Math.min(left, node.x); right = Math.max(right, node.x);
      top = Math.min(top, node.y); bottom = Math.max(bottom, node.y);
    }
    const root = cell(left, top, Math.max(right - left, bottom - top, 1));
    for (const node of nodes) insert(root, node, 0);
    return root;
  }
  function cell(x, y, size) {
    return { x, y, size, mass: 0, massX: 0, massY: 0, node: null, parts: null };
  }
  function insert(here, node, depth) {
    for (;;) {
      here.massX += node.x * node.charge; here.massY += node.y * node.charge; here.mass += node.charge;
      if (!here.parts) {
        if (!here.node || depth >= DEEPEST) { here.node = here.node || node; return; }
        const other = here.node;
        here.node = null; here.parts = [null, null, null, null];
        const inside = partFor(here, other);
        inside.massX = other.x * other.charge; inside.massY = other.y * other.charge; inside.mass = other.charge;
        inside.node = other;
      }
      here = partFor(here, node); depth += 1;
    }
  }
  function partFor(here, node) {
    const half = here.size / 2, east = node.x >= here.x + half, south = node.y >= here.y + half;
    const index = (south ? 2 : 0) + (east ? 1 : 0);
    return here.parts[index] || (here.parts[index] = cell(here.x + (east ? half : 0), here.y + (south ? half : 0), half));
  }

  function repel(root) {
    const open = [];
    for (const node of nodes) {
      open.length = 0; open.push(root);
      while (open.length) {
        const here = open.pop();
        if (here.node === node && !here.parts) continue;
        let dx = node.x - here.massX / here.mass, dy = node.y - here.massY / here.mass;
        let square = dx * dx + dy * dy;
        if (here.parts && here.size * here.size > OPENING * square) {
          for (const part of here.parts) if (part) open.push(part);
          continue;
        }
        if (square < 1) { dx += ((node.index % 7) - 3) * 0.1 + 0.05; dy += ((node.index % 5) - 2) * 0.1 + 0.05; square = 1; }
        const force = (here.mass * heat) / square;
        speedX[node.index] += dx * force; speedY[node.index] += dy * force;
      }
    }
  }
  function pull() {
    for (const edge of edges) {
      const { a, b } = edge;
      const dx = b.x - a.x + (speedX[b.index] - speedX[a.index]), dy = b.y - a.y + (speedY[b.index] - speedY[a.index]);
      const length = Math.hypot(dx, dy) || 1;
      const wanted = 34 + a.radius + b.radius + (edge.inferred ? 26 : 0);
      const force = ((length - wanted) / length) * heat * edge.strength;
      const share = b.degree / (a.degree + b.degree || 1);
      speedX[a.index] += dx * force * share; speedY[a.index] += dy * force * share;
      speedX[b.index] -= dx * force * (1 - share); speedY[b.index] -= dy * force * (1 - share);
    }
  }
  function tick() {
    const gravity = 0.035 * heat;
    pull();
    repel(quadtree());
    for (const node of nodes) {
      const at = node.index;
      speedX[at] = (speedX[at] - node.x * gravity) * FRICTION; speedY[at] = (speedY[at] - node.y * gravity) * FRICTION;
      if (node.held) { speedX[at] = speedY[at] = 0; continue; }
      node.x += Math.max(-60, Math.min(60, speedX[at])); node.y += Math.max(-60, Math.min(60, speedY[at]));
    }
    heat *= 1 - cooling;
  }

  return {
    get active() { return count > 0 && heat > 0.004; },
    /* Work for so many milliseconds. A large graph cools faster, so that it is at rest after some seconds. */
    run(budget) {
      const begin = performance.now();
      let ticks = 0;
      while (this.active && performance.now() - begin < budget) { tick(); ticks += 1; }
      if (ticks) {
        const each = (performance.now() - begin) / ticks;
        cooling = 1 - Math.pow(0.004, 1 / Math.max(40, Math.min(260, 5000 / Math.max(each, 0.1))));
      }
    },
    warm(to) { heat = Math.max(heat, to); },
  };
}
