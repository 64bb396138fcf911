// Colours for program text. Tokens are found here and become <span>s with text in them.
import { h } from "./dom";

type Rules = [string, RegExp][];

// sticky expressions, tried in this order at each place
const HLO: Rules = [
  ["comment", /\/\/.*|\/\*.*?\*\//y],
  ["string", /"(?:[^"\\]|\\.)*"/y],
  ["keyword", /\b(?:HloModule|ENTRY|ROOT|func\.func|func|module|return|let|in|lambda)\b/y],
  ["name", /%[\w.\-]+|[\w.\-]+(?= = )/y],
  [
    "type",
    /\b(?:pred|bool|bf16|f(?:8\w*|16|32|64)|[suif](?:4|8|16|32|64)|c64|c128|token|key)\b(?:\[[^\]]*\])?(?:\{[\d,]*\})?/y,
  ],
  ["param", /[A-Za-z_][\w\-]*(?==)/y],
  ["op", /[a-z][\w\-.]*(?=[([])/y],
  ["number", /-?\b\d+(?:\.\d*)?(?:e[+-]?\d+)?\b/y],
  ["", /[\w.\-]+|\s+|./y],
];

const PYTHON: Rules = [
  ["comment", /#.*/y],
  ["string", /[rbfuRBFU]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)/y],
  [
    "keyword",
    /\b(?:def|return|for|in|if|else|elif|while|lambda|import|from|as|with|not|and|or|is|None|True|False|class|yield|await|async|pass|raise|try|except|finally|global|nonlocal|assert|del|break|continue)\b/y,
  ],
  ["op", /@[\w.]+/y],
  ["number", /\b\d[\d_]*(?:\.\d*)?(?:e[+-]?\d+)?\b/y],
  ["", /\w+|\s+|./y],
];

export function tokens(text: string, rules: Rules): [string, string][] {
  const found: [string, string][] = [];
  let at = 0;
  while (at < text.length) {
    let length = 1;
    let kind = "";
    for (const [name, rule] of rules) {
      rule.lastIndex = at;
      const match = rule.exec(text);
      if (match && match[0].length) {
        length = match[0].length;
        kind = name;
        break;
      }
    }
    const piece = text.slice(at, at + length);
    const last = found[found.length - 1];
    if (last && last[0] === kind) last[1] += piece;
    else found.push([kind, piece]);
    at += length;
  }
  return found;
}

function coloured(text: string, rules: Rules): DocumentFragment {
  const fragment = document.createDocumentFragment();
  if (text.length > 5000)
    fragment.append(text); // nobody reads the colours of such a line
  else
    for (const [kind, piece] of tokens(text, rules))
      fragment.append(kind ? h("span", { class: `jitscope-t-${kind}` }, piece) : piece);
  return fragment;
}

export const hlo = (text: string): DocumentFragment => coloured(text, HLO);
export const python = (text: string): DocumentFragment => coloured(text, PYTHON);
export const hloTokens = (text: string): [string, string][] => tokens(text, HLO);
