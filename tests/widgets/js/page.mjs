// A bare page with the view code in it, in Chromium, without network.
import { chromium } from "playwright-core";
import { existsSync, readFileSync } from "node:fs";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function browserPath() {
  return [
    process.env.JITSCOPE_CHROMIUM,
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
  ].find((path) => path && existsSync(path));
}

export async function openBrowser() {
  return chromium.launch({ executablePath: browserPath(), args: FLAGS });
}

const root = new URL("../../../", import.meta.url);
export const viewCode = () => readFileSync(new URL("widgets/jitscope_widgets/static/view.iife.js", root), "utf8");
export const fixture = (name) => JSON.parse(readFileSync(new URL(`tests/widgets/fixtures/${name}.json`, root), "utf8"));

/** A page as a notebook output is: white or dark, the view code loaded. */
export async function openPage(browser, { width = 1280, height = 900, dark = false, motion = "reduce" } = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
    reducedMotion: motion,
  });
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.stack ?? error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  const [back, fore] = dark ? ["#111111", "#e6e9ec"] : ["#ffffff", "#1f2328"];
  await page.setContent(
    `<!doctype html><meta charset="utf-8"><title>views</title><body style="margin:16px;background:${back};color:${fore}"><div id="here"></div></body>`,
  );
  await page.addScriptTag({ content: viewCode() });
  return { page, problems };
}

export async function show(page, document, host = false) {
  await page.evaluate(
    ([shown, withHost]) => {
      const host = withHost
        ? {
            measure: (id) => new Promise(() => void (window.measured = id)),
            goto: (place) => void (window.gone = place),
          }
        : {};
      window.live = globalThis.jitscopeView.mount(window.document.getElementById("here"), shown, host);
      window.scope = window.document.querySelector(".jitscope").__jitscope;
    },
    [document, host],
  );
}

export const settled = (page) =>
  page.evaluate(() =>
    document
      .querySelector(".jitscope")
      .__jitscope.graph?.settled()
      .then(() => new Promise((r) => setTimeout(r, 60))),
  );
