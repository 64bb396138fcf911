// The search in one graph: what was found, and which of it is looked at.
import type { GraphView } from "./view";
import type { ShownNode } from "./hulls";
import { parse } from "./query";

export class Finding {
  hits: number[] = [];
  problem = "";
  /** Whether no node's own text has it: those whose code has it were taken. */
  wide = false;
  private at = -1;

  constructor(private readonly graph: GraphView) {}

  /** Finds and marks; gives the nodes. */
  search(text: string): number[] {
    const { model, facts, marks } = this.graph;
    const { test, problem } = parse(text, facts);
    this.at = -1;
    this.problem = problem;
    this.hits = text.trim() ? this.found(test) : [];
    this.wide = !this.hits.length && !problem && Boolean(text.trim());
    if (this.wide) this.hits = this.found(parse(text, facts, true).test);
    marks.hits = new Set(this.hits.map((i) => model.shown(i)));
    this.graph.ask();
    return this.hits;
  }

  private found(test: (node: ShownNode) => boolean): number[] {
    const { model } = this.graph;
    return model.nodes.flatMap((_, i) => (test(model.node(i)) ? [i] : []));
  }

  /** Jumps to the next hit (or the one before): "3 of 12"; "" when there is none. */
  next(step: number): string {
    const { model, marks, options } = this.graph;
    const count = this.hits.length;
    if (!count) return "";
    this.at = this.at < 0 ? (step > 0 ? 0 : count - 1) : (this.at + step + count) % count;
    const hit = this.hits[this.at]!;
    this.graph.show(hit, true);
    marks.hits = new Set(this.hits.map((i) => model.shown(i)));
    options.pick(model.node(hit).id);
    marks.focus = hit;
    this.graph.outline.refresh();
    return `${this.at + 1} of ${count}`;
  }
}
