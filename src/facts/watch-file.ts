import { isObject } from '../toolkit/lib/is-object.ts';
import { readText } from '../toolkit/state/whole-file.ts';
import { type Finding, schemaFindings } from '../toolkit/yaml/mistakes.ts';
import { isKey, PublicKey, type WatchItem, watchItem } from './fields.ts';

/** The content of a file that names validators. */
export class WatchFile {
  readonly items: readonly WatchItem[];

  constructor(items: readonly WatchItem[]) {
    this.items = items;
  }
}

/** A large file of another kind would fill the screen. */
const MAX_FINDINGS = 10;

/**
 * Reads a file with one validator a line, or one of the deposit tool.
 * @param chains How many are configured. With several, an index is a mistake, because it does not name its chain
 * @throws an Error with a code if the file cannot be read
 */
export async function readWatchFile(
  file: string,
  chains: number,
): Promise<{ readonly content: WatchFile; readonly findings: readonly Finding[] }> {
  const text = (await readText(file)).replace(/^\uFEFF/, '');
  const entries = /^\s*[[{]/.test(text) ? entriesOfDeposits(text) : entriesOfLines(text);
  const read = entries.map(({ place, value, expected }) => {
    const parsed = watchItem.safeParse(value);
    const item = parsed.data;
    const isOfNoChain = chains > 1 && item && !isKey(item);
    const [finding] = schemaFindings(parsed, value, value);
    const ofChains = isOfNoChain ? 'expected a public key, because several chains are configured' : undefined;
    return { place, item, message: expected ?? finding?.message ?? ofChains };
  });
  const wrong = read.flatMap(({ place, message }) => (message === undefined ? [] : { place, message }));
  if (entries.length === 0)
    wrong.push({ place: '', message: 'no validator, expected one index, range or public key a line' });
  return {
    content: new WatchFile(read.flatMap(({ item }) => item ?? [])),
    findings: wrong
      .slice(0, MAX_FINDINGS)
      .map(({ place, message }) => ({ path: [], place: `${file}${place}`, message })),
  };
}

interface Entry {
  /** Appended to the name of the file. */
  readonly place: string;
  readonly value?: unknown;
  /** The mistake, if there is no value. */
  readonly expected?: string;
}

function entriesOfLines(text: string): Entry[] {
  return text.split('\n').flatMap((written, i) => {
    const value = written.replace(/#.*/, '').trim();
    return value === '' ? [] : [{ place: `:${i + 1}`, value: prefixed(value) }];
  });
}

/** The deposit tool writes keys without 0x. */
function prefixed(text: string): string {
  return text.replace(/^(?=[\da-f]{96}$)/i, '0x');
}

const DEPOSITS = 'expected a list of objects with a pubkey of 96 hexadecimal digits, as in deposit_data-*.json';

/** The deposit tool writes no line breaks, so a finding names the entry. */
function entriesOfDeposits(text: string): Entry[] {
  let deposits: unknown;
  try {
    deposits = JSON.parse(text);
  } catch {
    return [{ place: '', expected: `not valid JSON, ${DEPOSITS}` }];
  }
  if (!Array.isArray(deposits)) return [{ place: '', expected: DEPOSITS }];
  return deposits.map((one, i) => {
    const { data } = PublicKey.safeParse(prefixed(String(isObject(one) && one['pubkey'])));
    return { place: `, entry ${i + 1}`, ...(data ? { value: data } : { expected: DEPOSITS }) };
  });
}
