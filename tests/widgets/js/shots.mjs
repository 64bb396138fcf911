// Pictures of the views from the example documents, light and dark, wide and narrow, for people to look at.
import { mkdirSync } from "node:fs";
import { fixture, openBrowser, openPage, settled, show } from "./page.mjs";

const folder = new URL("../../browser/screenshots/", import.meta.url).pathname;
mkdirSync(folder, { recursive: true });
const only = process.argv[2];
const browser = await openBrowser();

async function shot(page, name) {
  await page.screenshot({ path: `${folder}${name}.png`, fullPage: true });
}

const cell = fixture("dense_selu_cell");
for (const dark of [false, true])
  for (const width of [1280, 420]) {
    const tag = `${dark ? "dark" : "light"}-${width}`;
    if (only && !tag.includes(only)) continue;
    const { page, problems } = await openPage(browser, { width, dark, height: 700 });
    const open = async (document, name, ...steps) => {
      await page.evaluate(() => sessionStorage.clear()).catch(() => {});
      await show(page, document, true);
      for (const step of steps) await page.evaluate(step);
      await settled(page);
      await shot(page, `${tag}-${name}`);
    };
    await open(cell, "1-lines");
    await open(
      cell,
      "2-graph",
      () => scope.open("graph"),
      () => scope.select({ line: 3 }),
    );
    await open(
      cell,
      "3-graph-open",
      () => scope.open("graph"),
      () => scope.graph.expandAll(),
      () => scope.select({ node: "e8/e2" }),
      () => scope.graph.hover("e8/e0"),
    );
    await open(
      cell,
      "4-hlo-before",
      () => scope.open("graph"),
      () => scope.level("before"),
    );
    await open(
      cell,
      "5-hlo-after",
      () => scope.open("graph"),
      () => scope.level("after"),
      () => scope.graph.expandAll(),
    );
    await open(
      cell,
      "6-fusion",
      () => scope.open("fusion"),
      () => scope.select({ line: 4 }),
    );
    await open(
      cell,
      "7-fusion-graphs",
      () => scope.open("fusion"),
      () => document.querySelectorAll('[data-panel=fusion] input[value="graphs"]').forEach((i) => void i.click()),
    );
    await open(cell, "8-timing", () => scope.open("timing"));
    await open(cell, "9-recompiles", () => scope.open("recompiles"));
    await open(fixture("error_cell"), "a-error");
    await open(fixture("empty_cell"), "b-empty");
    await open(fixture("ledger"), "c-ledger");
    if (problems.length) console.log(tag, problems);
    await page.context().close();
  }
await browser.close();
