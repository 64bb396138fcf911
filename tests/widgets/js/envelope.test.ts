import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { completed, decode, partOf, whole } from "../../../widgets/jitscope_widgets/js/envelope";

// written by packed.py
const said = JSON.parse(readFileSync("tests/widgets/js/packed.json", "utf8"));

test("reads what Python packed", async () => {
  for (const { text, document } of said.documents) assert.deepEqual(await whole(await decode(text)), document);
});

test("what compilations hold comes when it is asked for, rows say that they are rows", async () => {
  const shown: any = await decode(said.rows.text);
  const parts = shown.compilations.map((one: any) => partOf(one)!.without);
  assert.deepEqual(parts, ["", ...Array(6).fill("everything"), ""]);
  assert.equal(shown.compilations[0].graph, undefined);
  assert.ok((await partOf(shown.compilations[0])!.load()).graph.nodes.length);
  const row = await partOf(shown.compilations[3])!.load();
  assert.deepEqual(row.graph.nodes, []);
  assert.ok((await completed(row, said.rows.part)).graph.nodes.length);
});
