/** A sample as a scraper reads it. */
export interface ReadSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Time as written: milliseconds in the text format, seconds in OpenMetrics. */
  readonly timestamp: number | undefined;
}

/**
 * Reads an exposition character by character, by the published grammars. It shares no code with the encoder. A family
 * begins with each block of metadata lines. Throws on anything that the grammars do not allow.
 */
export function parseExposition(text: string) {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line does not end');
  const families: { name: string; metadata: Record<string, string>; samples: ReadSample[] }[] = [];
  for (const line of text.split('\n').slice(0, -1)) {
    const last = families.at(-1);
    if (!line.startsWith('#')) {
      if (!last) throw new Error(`a sample before its metadata: ${line}`);
      last.samples.push(parseSample(line));
      continue;
    }
    const [, keyword = '', name = '', rest = ''] = /^# (HELP|TYPE|UNIT) (\S+) (.*)$/su.exec(line) ?? [];
    if (keyword === '') throw new Error(`not metadata: ${line}`);
    if (last && last.name === name && last.samples.length === 0) {
      if (keyword in last.metadata) throw new Error(`${keyword} of ${name} twice`);
      last.metadata[keyword] = rest;
      continue;
    }
    if (families.some((family) => family.name === name)) throw new Error(`${name} is not contiguous`);
    families.push({ name, metadata: { [keyword]: rest }, samples: [] });
  }
  return families;
}

function parseSample(line: string): ReadSample {
  const [name = ''] = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line) ?? [];
  const labels: Record<string, string> = {};
  let at = name.length;
  const fail = (): never => {
    throw new Error(`not a sample at ${at}: ${line}`);
  };
  if (name === '') fail();
  if (line[at] === '{') {
    do {
      const [label = ''] = /^[a-zA-Z_][a-zA-Z0-9_]*(?==")/.exec(line.slice(at + 1)) ?? fail();
      at += 1 + label.length + 2;
      let value = '';
      for (; line[at] !== '"'; at += 1) {
        const character = line[at] ?? fail();
        if (character !== '\\') value += character;
        else {
          at += 1;
          value += { n: '\n', '"': '"', '\\': '\\' }[line[at] ?? ''] ?? fail();
        }
      }
      if (label in labels) fail();
      labels[label] = value;
      at += 1;
    } while (line[at] === ',');
    if (line[at] !== '}') fail();
    at += 1;
  }
  const [, value = '', timestamp] = /^ (\S+)(?: (-?[\d.]+))?$/.exec(line.slice(at)) ?? fail();
  return {
    name,
    labels,
    value: parseNumber(value),
    timestamp: timestamp === undefined ? undefined : Number(timestamp),
  };
}

function parseNumber(text: string): number {
  if (text === 'NaN') return Number.NaN;
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  if (text === '-Inf') return Number.NEGATIVE_INFINITY;
  if (!/^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(text)) throw new Error(`not a number: ${text}`);
  return Number(text);
}
