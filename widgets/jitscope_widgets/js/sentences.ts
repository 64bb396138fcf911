// What the live views and the still views (sentences.py) say in the same words: the tables and sentences of sentences.json.
import table from "../sentences.json";
import type { Quantity } from "./documents";
import { h } from "./dom";
import { origin, quantity } from "./numbers";

export const TABLES = table.tables;

/** A sentence with its places filled. */
export function say(name: keyof typeof table.sentences, values: Record<string, string | number> = {}): string {
  return table.sentences[name].replace(/\{(\w+)\}/g, (_, place: string) => String(values[place]));
}

/** What an instrument took to find what it shows. */
export function costOf(cost: Quantity, more = ""): HTMLElement {
  return h("p", { class: "jitscope-muted", title: origin(cost) }, `${say("found out", { time: quantity(cost) })}: ${cost.note}.${more}`);
}
