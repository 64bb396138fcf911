// Runs the TypeScript tests: each *.test.ts of these folders is bundled, then node's own test runner takes over.
import * as esbuild from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FOLDERS = ["tests/widgets/js", "tests/labextension"];
const wanted = process.argv[2] ?? "";
const entryPoints = FOLDERS.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file))).filter(
  (file) => file.endsWith(".test.ts") && file.includes(wanted),
);
const outdir = mkdtempSync(join(tmpdir(), "jitscope-tests-"));
try {
  const built = await esbuild.build({
    entryPoints,
    outdir,
    outbase: ".",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    loader: { ".css": "text" },
    define: { __VERSION__: '"test"' },
    metafile: true,
  });
  const files = Object.keys(built.metafile.outputs);
  const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", "--test-reporter=spec", ...files], {
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(outdir, { recursive: true });
}
