import { isObject } from '../toolkit/lib/is-object.ts';
import { readWhole } from '../toolkit/state/whole-file.ts';
import { type Finding, schemaFindings } from '../toolkit/yaml/mistakes.ts';
import { isKey, type WatchItem, watchItem } from './fields.ts';

/** The content of a file that names validators. */
export class WatchFile {
  readonly items: readonly WatchItem[];

  constructor(items: readonly WatchItem[]) {
    this.items = items;
  }
}

/** Of a large file that is something else, only the first lines are reported. */
const MAX_FINDINGS = 10;

/**
 * Reads a file with one validator a line, or one of the deposit tool. The findings name the file, a line and what is expected.
 * @param chains How many are configured. An index is of one chain, a key says nothing about it
 * @throws an Error with a code if the file cannot be read
 */
export async function readWatchFile(
  file: string,
  chains: number,
): Promise<{ readonly content: WatchFile; readonly findings: readonly Finding[] }> {
  const text = (await readWhole(file)).replace(/^\uFEFF/, '');
  const entries = /^\s*[[{]/.test(text) ? entriesOfDeposits(text) : entriesOfLines(text);
  const read = entries.map(({ line, value, expected }) => {
    const parsed = watchItem.safeParse(value);
    const item = parsed.data;
    const isOfNoChain = chains > 1 && item && !isKey(item);
    const [finding] = schemaFindings(parsed, value, value);
    const ofChains = isOfNoChain ? 'expected a public key, because several chains are configured' : undefined;
    return { line, item, message: expected ?? finding?.message ?? ofChains };
  });
  const wrong = read.flatMap(({ line, message }) => (message === undefined ? [] : { line, message }));
  if (entries.length === 0)
    wrong.push({ line: 1, message: 'no validator, expected one index, range or public key a line' });
  return {
    content: new WatchFile(read.flatMap(({ item }) => item ?? [])),
    findings: wrong
      .slice(0, MAX_FINDINGS)
      .map(({ line, message }) => ({ path: [], place: `${file}:${line}`, message })),
  };
}

interface Entry {
  readonly line: number;
  readonly value?: unknown;
  /** What is expected in its place. */
  readonly expected?: string;
}

const BARE_KEY = /^[\da-f]{96}$/i;

function entriesOfLines(text: string): Entry[] {
  return text.split('\n').flatMap((written, i) => {
    const value = written.replace(/#.*/, '').trim();
    return value === '' ? [] : [{ line: i + 1, value: BARE_KEY.test(value) ? `0x${value}` : value }];
  });
}

const DEPOSITS = 'expected a list of objects with a pubkey of 96 hexadecimal digits, as in deposit_data-*.json';

/** The deposit tool writes keys without 0x. */
function entriesOfDeposits(text: string): Entry[] {
  let deposits: unknown;
  try {
    deposits = JSON.parse(text);
  } catch (error) {
    // At the end of a file that is cut, V8 names no line.
    const [, line = text.trimEnd().split('\n').length] = /\(line (\d+) /.exec(String(error)) ?? [];
    return [{ line: Number(line), expected: `not valid JSON, ${DEPOSITS}` }];
  }
  if (!Array.isArray(deposits)) return [{ line: 1, expected: DEPOSITS }];
  const keys = deposits.map((one) => (isObject(one) ? one['pubkey'] : undefined));
  const bad = keys.findIndex((key) => typeof key !== 'string' || !BARE_KEY.test(key));
  if (bad < 0) return keys.map((key) => ({ line: 1, value: `0x${key}` }));
  // If it has none, the line is that of the next one.
  const places = [...text.matchAll(/"pubkey"/g)].map(({ index }) => index);
  const before = text.slice(0, places[bad] ?? places.at(-1) ?? 0);
  return [{ line: before.split('\n').length, expected: `entry ${bad + 1} has no valid pubkey, ${DEPOSITS}` }];
}
