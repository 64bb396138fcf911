// Plain data with every text once and lists of like records as columns (compact.py writes it and says what the letters are).

type Said = Record<string, any>;

const SLICE = 20; // ms of the page's time in one go

const now = () => performance.now();
const pause = () => new Promise<void>((resolve) => setTimeout(resolve));

/** Gives a value back as it was; lets the page breathe between columns. */
export async function expand({ texts, value }: { texts: string[]; value: unknown }): Promise<any> {
  return new Reader(texts).value(value);
}

class Reader {
  private since = now();
  private readonly programs: Record<number, string> = {};

  constructor(private readonly texts: string[]) {}

  async value(said: any): Promise<any> {
    if (said === null || typeof said !== "object") return said;
    if (Array.isArray(said)) {
      const items = [];
      for (const item of said) items.push(await this.value(item));
      return items;
    }
    if ("$rows" in said) return this.column(said.$rows);
    if ("$lines" in said) return (this.programs[said.$lines.n ?? -1] = await this.lines(said.$lines.r));
    if ("$again" in said) return this.programs[said.$again];
    if ("$text" in said) return this.texts[said.$text];
    return this.object("$" in said ? said.$ : said);
  }

  private async object(fields: Said): Promise<any> {
    const found: Said = {};
    for (const key of Object.keys(fields)) put(found, key, await this.value(fields[key]));
    return found;
  }

  private async lines(said: Said): Promise<string> {
    const [indents, texts] = [await this.column(said.indent), await this.column(said.text)];
    return texts.map((text: string, i: number) => " ".repeat(indents[i]) + text).join("\n");
  }

  async column(said: Said): Promise<any[]> {
    if (now() - this.since > SLICE) {
      await pause();
      this.since = now();
    }
    if ("c" in said) return new Array(said.n).fill(said.c);
    if ("t" in said) return sums(said.t).map((at) => this.texts[at]);
    if ("i" in said) return sums(said.i);
    if ("d" in said) return sums(said.d).map((step) => step / 10 ** said.e);
    if ("v" in said) return said.v;
    if ("s" in said) return this.maybe(said);
    if ("l" in said) return this.lists(said);
    if ("r" in said) return this.records(said.r);
    if ("p" in said) return this.kinds(said);
    if ("m" in said) return this.objects(said);
    if ("x" in said) return this.value(said.x);
    throw new Error(`it holds a column of an unknown form, ${Object.keys(said).join(", ")}`);
  }

  private async maybe({ s, of }: Said): Promise<any[]> {
    const known = await this.column(of);
    let at = 0;
    return s.map((there: number) => (there ? known[at++] : null));
  }

  private async lists({ l, of }: Said): Promise<any[]> {
    const [lengths, values] = [await this.column(l), await this.column(of)];
    let at = 0;
    return lengths.map((length) => values.slice(at, (at += length)));
  }

  private async records(fields: Said): Promise<any[]> {
    const keys = Object.keys(fields);
    const columns: any[][] = [];
    for (const key of keys) columns.push(await this.column(fields[key]));
    return columns[0]!.map((_, row) => {
      const record: Said = {};
      for (let i = 0; i < keys.length; i++) put(record, keys[i]!, columns[i]![row]);
      return record;
    });
  }

  private async kinds({ p, of }: Said): Promise<any[]> {
    const which = await this.column(p);
    const columns: any[][] = [];
    for (const column of of) columns.push(await this.column(column));
    const at = columns.map(() => 0);
    return which.map((kind) => columns[kind]![at[kind]!++]);
  }

  private async objects({ m, of }: Said): Promise<any[]> {
    const [names, values] = [await this.column(m), await this.column(of)];
    let at = 0;
    return names.map((keys: string[]) => {
      const found: Said = {};
      for (const key of keys) put(found, key, values[at++]);
      return found;
    });
  }
}

function sums(steps: number[]): number[] {
  let sum = 0;
  return steps.map((step) => (sum += step));
}

/** `__proto__` is a name like any other. */
function put(object: Said, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}
