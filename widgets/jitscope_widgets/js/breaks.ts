// Where a long name may go on in the next line: after a dot, an underscore, an opening bracket, before a capital, never within a word;
// and what stays in one line: a number with its sign and its unit. breaks.py says the same for the still pages.

/** Words that are shorter fit into any column. */
const LONG = /\S{13,}/g;
const PLACE = /(?<=[._([{,=/:|])(?=[\p{L}_'"%@])|(?<=\p{Ll})(?=\p{Lu})/gu;
const SHORTEST = 3;
/** `≈ 617 kB`, `~ 39 %`, `× 12`, `1.2 Gflop/s`, and the arrow `->` */
const QUANTITY =
  /(?:[≈~×<] (?=\d))?\d[\d.,]*(?:e-?\d+)? (?:%|(?:[nµm]?s|[kMGT]?B(?:\/s)?|[kMGTP]?flop(?:\/s)?)(?![\p{L}\d_]))|[≈~×<] \d[\d.,]*|->/gu;

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

/** The quantities in a text, as [start, end]. */
export function quantitiesIn(text: string): [number, number][] {
  return [...text.matchAll(QUANTITY)].map(({ 0: found, index }) => [index, index + found.length]);
}

export function isQuantity(text: string): boolean {
  const [first] = quantitiesIn(text);
  return !!first && first[1] - first[0] === text.length;
}

/** A sentence, or what is in a cell, as nodes: what is longer breaks, quantities do not. */
export function flowing(text: string): (string | HTMLElement)[] {
  const quantities = quantitiesIn(text);
  if (!quantities.length || isQuantity(text)) return breakable(text);
  let at = 0;
  const nodes = quantities.flatMap(([start, end]) => {
    const whole = document.createElement("span");
    whole.className = "jitscope-whole";
    whole.textContent = text.slice(start, end);
    const before = start > at ? breakable(text.slice(at, start)) : [];
    at = end;
    return [...before, whole];
  });
  return at < text.length ? [...nodes, ...breakable(text.slice(at))] : nodes;
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
