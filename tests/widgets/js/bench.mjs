// The graph budgets of DESIGN.md §6 in Chromium: first frame, expand, pan. `node tests/widgets/js/bench.mjs [nodes] [flat]`
import { openBrowser, openPage, settled } from "./page.mjs";
import { synthetic } from "../fixtures/synthetic.mjs";

const size = Number(process.argv[2] ?? 50000);
const flat = process.argv[3] === "flat";
const document = synthetic(size, flat ? { branching: 0, longShare: 0.01 } : {});
const browser = await openBrowser();
const { page, problems } = await openPage(browser, { motion: "no-preference" });

/** In the page: the document is in memory already; from mount to the frame after the first drawing. */
const first = await page.evaluate(async (shown) => {
  window.shown = shown;
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await frame();
  const start = performance.now();
  globalThis.jitscopeView.mount(document.getElementById("here"), shown);
  window.graph = document.querySelector(".jitscope").__jitscope.graph;
  await frame();
  await graph.settled();
  await frame();
  return { firstFrameMs: performance.now() - start, ...graph.perf };
}, document);
console.log("first", rounded(first));

const expand = await page.evaluate(async () => {
  const times = [];
  for (let k = 0; k < 60; k++) {
    const closed = graph.nodes().filter((node) => node.open === false);
    if (!closed.length) break;
    const node = closed[(k * 7) % closed.length];
    const start = performance.now();
    graph.toggle(node.id);
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    times.push(performance.now() - start);
    await graph.settled();
  }
  return times;
});
console.log("expand to next frame", percentiles(expand));

for (const [name, open] of [
  ["as opened", false],
  ["everything open", true],
]) {
  const start = Date.now();
  if (open) await page.evaluate(async () => (graph.expandAll(), await graph.settled()));
  if (open) console.log("expand all", Date.now() - start, "ms");
  for (const zoom of ["1", "0.4", "fit"]) {
    const frames = await page.evaluate(async (zoom) => {
      if (zoom === "fit") graph.fit();
      else graph.zoomTo(Number(zoom));
      await graph.settled();
      const times = [];
      const draws = [];
      let before = await new Promise((resolve) => requestAnimationFrame(resolve));
      for (let k = 0; k < 120; k++) {
        graph.panBy(Math.cos(k / 12) * 14, -Math.abs(Math.sin(k / 20)) * 30);
        const now = await new Promise((resolve) => requestAnimationFrame(resolve));
        times.push(now - before);
        draws.push(graph.perf.drawMs);
        before = now;
      }
      return { times, draws };
    }, zoom);
    console.log(`pan, ${name}, zoom ${zoom}: frame`, percentiles(frames.times), "draw", percentiles(frames.draws));
  }
}
if (problems.length) console.log(problems);
await settled(page);
await browser.close();

function rounded(object) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, Math.round(value)]));
}
function percentiles(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const at = (p) => Math.round(10 * sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))]) / 10;
  return `p50 ${at(0.5)} p95 ${at(0.95)} max ${at(1)} ms (${list.length})`;
}
