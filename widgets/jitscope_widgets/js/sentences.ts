// What the live views and the still views (sentences.py) say in the same words: the tables and sentences of sentences.json.
import table from "../sentences.json";

export const TABLES = table.tables;

/** A sentence with its places filled. */
export function say(name: keyof typeof table.sentences, values: Record<string, string | number> = {}): string {
  return table.sentences[name].replace(/\{(\w+)\}/g, (_, place: string) => String(values[place]));
}
