import { readFileSync } from "node:fs";
import { openBrowser, openPage, settled, show } from "./page.mjs";
const [file, name, tab] = process.argv.slice(2);
const doc = JSON.parse(readFileSync(file));
const browser = await openBrowser();
for (const [dark, width] of [[false, 1280], [true, 1280], [false, 420]]) {
  const { page, problems } = await openPage(browser, { width, dark, height: 900 });
  await show(page, doc, true);
  await page.evaluate((tab) => scope.open(tab), tab);
  await settled(page);
  await page.screenshot({ path: `/tmp/${name}-${dark ? "dark" : "light"}-${width}.png`, fullPage: true });
  if (problems.length) console.log(problems);
}
await browser.close();
