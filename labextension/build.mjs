// Builds the views (`view`) and the JupyterLab plugin (`plugin`) with esbuild.
import * as esbuild from "esbuild";
import { readFileSync } from "node:fs";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const views = "widgets/jitscope_widgets/js";
const statics = "widgets/jitscope_widgets/static";

/** A stylesheet with everything it imports, as a string. */
const styles = {
  name: "styles",
  setup(build) {
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const options = { entryPoints: [path], bundle: true, minify: true, write: false, target: "es2022" };
      const { outputFiles } = await esbuild.build(options);
      return { contents: outputFiles[0].text.trim(), loader: "text" };
    });
  },
};

const common = {
  bundle: true,
  target: "es2022",
  minify: true,
  legalComments: "none",
  charset: "utf8",
  metafile: true,
  plugins: [styles],
  define: { __VERSION__: JSON.stringify(version) },
};

const builds = {
  view: [
    { entryPoints: [`${views}/index.ts`], outfile: `${statics}/view.js`, format: "esm" },
    { entryPoints: [`${views}/page.ts`], outfile: `${statics}/view.iife.js`, format: "iife" },
    { entryPoints: [`${views}/loader.ts`], outfile: `${statics}/loader.js`, format: "esm" },
  ],
  plugin: [
    {
      entryPoints: ["labextension/src/index.ts"],
      outdir: "labextension/lib",
      format: "esm",
      splitting: true,
      packages: "external",
      minify: false,
    },
  ],
};

for (const options of builds[process.argv[2] ?? "view"]) {
  const result = await esbuild.build({ ...common, ...options });
  for (const [file, { bytes }] of Object.entries(result.metafile.outputs)) {
    if (options.format === "iife" && /<\/script|<!--/i.test(readFileSync(file, "utf8")))
      throw new Error(`${file} cannot be put inside a <script>: it contains "</script" or "<!--"`);
    console.log(`${file}  ${(bytes / 1024).toFixed(1)} KiB`);
  }
}
