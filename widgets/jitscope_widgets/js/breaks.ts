// Where a long name may go on in the next line: after a dot, an underscore, an opening bracket, before a capital, never within a word.
// breaks.py says the same for the still pages.

/** Words that are shorter fit into any column. */
const LONG = /\S{13,}/g;
const PLACE = /(?<=[._([{,=/:|])(?=[\p{L}_'"%@])|(?<=\p{Ll})(?=\p{Lu})/gu;
const SHORTEST = 3;

/** The places in a text, ascending. */
export function breaksIn(text: string): number[] {
  const found: number[] = [];
  for (const { 0: word, index: start } of text.matchAll(LONG)) {
    let last = 0;
    for (const { index: at } of word.matchAll(PLACE)) {
      if (at - last < SHORTEST || word.length - at < SHORTEST) continue;
      found.push(start + at);
      last = at;
    }
  }
  return found;
}

/** A text as nodes, with what lets it break; it is copied as it was. */
export function breakable(text: string, breaks = breaksIn(text)): (string | HTMLElement)[] {
  if (!breaks.length) return [text];
  const ends = [...breaks, text.length];
  return ends.flatMap((end, n) => [
    ...(n ? [document.createElement("wbr")] : []),
    text.slice(n ? ends[n - 1] : 0, end),
  ]);
}
