// Colours for program text. Tokens are found here and become <span>s with text in them.
import { breakable, breaksIn, flowing } from "./breaks";
import { h } from "./dom";

type Rules = [string, RegExp][];

// sticky expressions, tried in this order at each place
const HLO: Rules = [
  ["comment", /\/\/.*|\/\*.*?\*\//y],
  ["string", /"(?:[^"\\]|\\.)*"/y],
  ["keyword", /\b(?:HloModule|ENTRY|ROOT|func\.func|func|module|return|let|in|lambda)\b/y],
  ["name", /%[\w.-]+|[\w.-]+(?= = )/y],
  [
    "type",
    /\b(?:pred|bool|bf16|f(?:8\w*|16|32|64)|[suif](?:4|8|16|32|64)|c64|c128|token|key)\b(?:\[[^\]]*\])?(?:\{[\d,]*\})?/y,
  ],
  ["param", /[A-Za-z_][\w-]*(?==)/y],
  ["op", /[a-z][\w\-.]*(?=[([])/y],
  ["number", /-?\b\d+(?:\.\d*)?(?:e[+-]?\d+)?\b/y],
  ["", /[\w.-]+|\s+|./y],
];

const PYTHON: Rules = [
  ["comment", /#.*/y],
  ["string", /[rbfuRBFU]{0,2}(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)/y],
  [
    "keyword",
    /\b(?:def|return|for|in|if|else|elif|while|lambda|import|from|as|with|not|and|or|is|None|True|False|class|yield|await|async|pass|raise|try|except|finally|global|nonlocal|assert|del|break|continue)\b/y,
  ],
  ["op", /(?<=^[ \t]*)@[\w.]+/my], // a decorator; elsewhere it is a product
  ["number", /\b\d[\d_]*(?:\.\d*)?(?:e[+-]?\d+)?\b/y],
  ["", /\w+|\s+|./y],
];

const LLVM: Rules = [
  ["comment", /;.*/y],
  ["string", /c?"(?:[^"\\]|\\.)*"/y],
  ["name", /[%@](?:"[^"]*"|[\w.$-]+)|^[\w.$-]+(?=:)/y],
  ["param", /![\w.]*|#\d+/y],
  ["type", /<\d+ x \w+>|\b(?:i\d+|half|bfloat|float|double|ptr|void|label|metadata)\b/y],
  [
    "keyword",
    /\b(?:define|declare|target|source_filename|attributes|type|to|x|nsw|nuw|inbounds|align|internal|noundef|volatile)\b/y,
  ],
  [
    "op",
    /\b(?:f?(?:add|sub|mul|neg|rem)|[us]?(?:div|rem)|fdiv|and|or|xor|shl|[al]shr|[fi]cmp|phi|select|call|tail|load|store|getelementptr|alloca|br|switch|ret|unreachable|(?:insert|extract)(?:element|value)|shufflevector|bitcast|trunc|[sz]ext|fptrunc|fpext|[fs]pto[us]i|[us]itofp|fpto[us]i|ptrtoint|inttoptr|freeze|splat|fence)\b/y,
  ],
  ["number", /-?\b(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:e[+-]?\d+)?)\b/y],
  ["", /[\w.-]+|\s+|./y],
];

const ASSEMBLY: Rules = [
  ["comment", /;.*/y],
  ["op", /^[a-z][\w.]*/y],
  ["type", /\b(?:[xyz]mm\d+|[vqdshbz]\d+(?:\.\d*\w)?|k[0-7])\b/y],
  [
    "name",
    /\b(?:r(?:\d+|[a-ds][ixp]|[abcd]x|[sb]p|ip)[dwb]?|e[a-ds][ixp]|e[sb]p|[abcd][lhx]|[wx]\d+|sp|lr|xzr|wzr)\b/y,
  ],
  ["keyword", /\b(?:[xyz]mmword|[qd]?word|byte|ptr)\b/y],
  ["number", /#?-?\b(?:0x[0-9a-f]+|\d+)\b/y],
  ["", /[\w.]+|\s+|./y],
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
      if (match?.[0].length) {
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
  else appendTokens(fragment, text, rules);
  return fragment;
}

function appendTokens(fragment: DocumentFragment, text: string, rules: Rules): void {
  const breaks = breaksIn(text);
  let at = 0;
  for (const [kind, piece] of tokens(text, rules)) {
    const end = at + piece.length;
    const inside = breaks.filter((place) => at < place && place < end).map((place) => place - at);
    if (breaks.includes(at)) fragment.append(h("wbr"));
    const nodes = piece.includes("->") ? flowing(piece) : breakable(piece, inside);
    if (kind) {
      const span = h("span", { class: `jitscope-t-${kind}` });
      span.append(...nodes);
      fragment.append(span);
    } else fragment.append(...nodes);
    at = end;
  }
}

export const hlo = (text: string): DocumentFragment => coloured(text, HLO);
export const llvm = (text: string): DocumentFragment => coloured(text, LLVM);
export const assembly = (text: string): DocumentFragment => coloured(text, ASSEMBLY);
export const python = (text: string): DocumentFragment => coloured(text, PYTHON);
export const hloTokens = (text: string): [string, string][] => tokens(text, HLO);
export const pythonTokens = (text: string): [string, string][] => tokens(text, PYTHON);
