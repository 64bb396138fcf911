// The same code as a classic script for exported pages: names itself on the page and brings its blocks to life.
import * as view from "./index";

const page = globalThis as { jitscopeView?: unknown };
page.jitscopeView ??= view;
const start = () => void view.enliven();
if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
