// How fast graphs are, in Chromium: first paint, the longest time the page stands still, opening a scope, frames while moving.
//   node tests/widgets/js/bench.mjs [FOLDER]     FOLDER: documents of `python -m tests.programs.documents FOLDER`
// Prints a table for docs/views.md.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openBrowser, openPage } from "./page.mjs";
import { synthetic } from "../fixtures/synthetic.mjs";

const NODES = 50000;
const folder = process.argv[2];
const documents = {
  "50,000 operations, flat": () => synthetic(NODES, { branching: 0, longShare: 0.01 }),
  "50,000 operations in scopes": () => synthetic(NODES),
};
for (const name of folder ? ["transformer", "lstm", "resnet", "unrolled"] : [])
  documents[name] = () => JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));

const browser = await openBrowser();
const rows = [];
for (const [name, make] of Object.entries(documents)) rows.push({ name, ...(await measure(make())) });
await browser.close();

const COLUMNS = ["paint", "still", "open", "openMost", "frame", "frameFar", "search"];
console.log(
  "| graph | first paint | longest standstill | open p95 | most open | frame p95 | frame p95, all in view | search |",
);
console.log("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
for (const row of rows) console.log(`| ${row.name} | ${COLUMNS.map((key) => `${row[key]} ms`).join(" | ")} |`);

async function measure(document) {
  const { page, problems } = await openPage(browser, { motion: "no-preference" });
  await page.evaluate((shown) => {
    window.shown = shown;
    window.tasks = [];
    new PerformanceObserver((list) => tasks.push(...list.getEntries())).observe({ type: "longtask" });
  }, document);
  await page.waitForTimeout(300);
  const paint = await page.evaluate(firstPaint);
  await page.waitForTimeout(300);
  const still = await page.evaluate(
    (begun) => Math.max(0, ...tasks.filter((t) => t.startTime >= begun - 1).map((t) => t.duration)),
    paint.begun,
  );
  const opened = await page.evaluate(openScopes);
  const frames = {};
  for (const zoom of ["near", "all"]) frames[zoom] = percentile(await page.evaluate(move, zoom), 0.95);
  const search = await page.evaluate(find);
  await page.context().close();
  if (problems.length) console.error(problems);
  return {
    paint: Math.round(paint.ms),
    still: still ? Math.round(still) : "< 50",
    open: percentile(opened, 0.95),
    openMost: percentile(opened, 1),
    frame: frames.near,
    frameFar: frames.all,
    search: Math.round(search),
  };
}

// in the page

/** The document is in memory already; from mount to the frame after the first drawing. */
async function firstPaint() {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await frame();
  const begun = performance.now();
  globalThis.jitscopeView.mount(document.getElementById("here"), shown);
  const api = () => document.querySelector(".jitscope").__jitscope;
  api().open?.("graph");
  while (!api().graph) await new Promise((resolve) => setTimeout(resolve));
  window.graph = api().graph;
  await graph.settled();
  await frame();
  return { begun, ms: performance.now() - begun };
}

/** Opens closed scopes one after the other, wherever they are; each time to the frame that shows the inside. */
async function openScopes() {
  const times = [];
  for (let k = 0; k < 60; k++) {
    const closed = graph.nodes().filter((node) => node.open === false);
    if (!closed.length) break;
    const node = closed[(k * 7) % closed.length];
    await graph.settled();
    const start = performance.now();
    graph.toggle(node.id);
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    times.push(performance.now() - start);
    await graph.settled();
  }
  return times;
}

async function move(zoom) {
  if (zoom === "all") graph.fit();
  else graph.zoomTo(1);
  await graph.settled();
  const times = [];
  let before = await new Promise((resolve) => requestAnimationFrame(resolve));
  for (let k = 0; k < 120; k++) {
    graph.panBy(Math.cos(k / 12) * 14, -Math.abs(Math.sin(k / 20)) * 30);
    const now = await new Promise((resolve) => requestAnimationFrame(resolve));
    times.push(now - before);
    before = now;
  }
  return times;
}

function find() {
  const start = performance.now();
  graph.search("op:add size:>1kB");
  return performance.now() - start;
}

function percentile(list, p) {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted.length ? Math.round(sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))]) : "–";
}
