import assert from "node:assert/strict";
import { test } from "node:test";
import type { GraphDoc, Kernel } from "../../../widgets/jitscope_widgets/js/documents";
import { Model } from "../../../widgets/jitscope_widgets/js/graph/model";
import { Shares } from "../../../widgets/jitscope_widgets/js/graph/shares";
import { takeShares } from "../../../widgets/jitscope_widgets/js/measured";
import { graph } from "./graphs";

const kernel = (name: string, kind: Kernel["kind"], share: number | null, paths: string[]): Kernel => ({
  name,
  kind,
  opcode: kind,
  type: "f32[4]",
  members: [],
  paths,
  positions: [],
  text: "",
  note: "",
  share,
});

const timed = (kernels: Kernel[], equations: Record<string, Record<string, number>>) => {
  const told = kernels.map(({ name, share }) => ({ name, share, equations: equations[name] }));
  takeShares({ fusion: { kernels }, instruments: { profile: { kernels: told } } } as never);
  return kernels;
};

const textsOf = (document: GraphDoc, kernels: Kernel[]) => {
  const model = Model.of(document);
  const shares = new Shares(model, kernels);
  return Object.fromEntries(document.nodes.map(({ id }) => [id, shares.text(model.index.get(id)!)]));
};

test("a group of kernels has the share of its equations, and says what else its kernels take", () => {
  const kernels = timed(
    [
      kernel("loop", "loop", null, ["e0", "e0/e1"]),
      kernel("own", "fusion", 0.4, ["e0/e1"]),
      kernel("copy", "copy", 0.3, []),
      kernel("mixed", "fusion", 0.2, ["e0/e2", "e9"]),
      kernel("rest", "other", 0.1, ["e9"]),
    ],
    { mixed: { "e0/e2": 0.75, e9: 0.25 } },
  );
  const jaxpr = graph(["e0", "e0/e1", "e0/e2", "e9"], [], { e0: { kind: "scope", paths: ["e0"] } });
  assert.deepEqual(textsOf(jaxpr, kernels), { e0: "~ 55 %", "e0/e1": "40 %", "e0/e2": "~ 15 %", e9: "~ 15 %" });
  const after = (others?: string[]): GraphDoc => {
    const made = graph(["g", "loop", "own", "copy", "mixed", "rest"], [], {
      g: { kind: "group", what: "function", ...(others && { others }) },
      loop: { kind: "scope", scope: "g", paths: ["e0"] },
      own: { scope: "loop", paths: ["e0/e1"] },
      copy: { scope: "loop" },
      mixed: { scope: "g", paths: ["e0/e2", "e9"] },
      rest: { paths: ["e9"] },
    });
    return { ...made, level: "hlo" };
  };
  const shown = { loop: "40 % + 30 % copies", own: "40 %", copy: "30 %", mixed: "20 %", rest: "10 %" };
  assert.deepEqual(textsOf(after(["e9"]), kernels), { g: "~ 55 % + 35 % others", ...shown });
  assert.deepEqual(textsOf(after(), kernels), { g: "60 % + 30 % copies", ...shown });
});
