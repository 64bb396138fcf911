// A picture of an SVG, and a page of HTML with a document in it.
import type { AnyDocument, Host } from "./documents";
import { whole } from "./envelope";

const MOST_PIXELS = 16_000_000; // what browsers give to one picture without complaint

/** The picture twice as large as on the screen, where that is possible. */
export async function png(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const size = image.width * image.height;
  const scale = Math.min(2, Math.sqrt(MOST_PIXELS / Math.max(size, 1)));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.ceil(image.width * scale), Math.ceil(image.height * scale)];
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((made) => (made ? resolve(made) : reject(new Error("the graph is too large for a picture")))),
  );
}

/** The view code as it stands in a page that we wrote; null elsewhere. */
export const viewScript = (): string | null =>
  document.querySelector("script[data-jitscope-view]")?.textContent ?? null;

/** A page that needs nothing else: from the kernel, or with the code of this page. */
export async function pageOf(shown: AnyDocument, host: Host, title: string): Promise<string> {
  if (host.page) return host.page();
  const json = JSON.stringify({ texts: [], value: { document: await whole(shown) } }, escaping());
  const packed = await new Response(new Blob([json]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
  const page = document.implementation.createHTMLDocument(title);
  page.documentElement.lang = "en";
  const block = page.createElement("div");
  block.dataset.jitscopeDocument = base64(new Uint8Array(packed));
  const script = page.createElement("script");
  script.dataset.jitscopeView = "";
  script.textContent = viewScript();
  page.head.append(Object.assign(page.createElement("meta"), { name: "color-scheme", content: "light dark" }));
  page.body.append(block, script);
  return `<!DOCTYPE html>\n${page.documentElement.outerHTML}`;
}

/** Objects with a `$` in a name stand in one more, as envelopes want it. */
function escaping(): (key: string, value: unknown) => unknown {
  const done = new WeakSet<object>();
  return (_, value) => {
    if (value === null || typeof value !== "object" || Array.isArray(value) || done.has(value)) return value;
    if (!Object.keys(value).some((name) => name.startsWith("$"))) return value;
    done.add(value);
    return { $: value };
  };
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
}
