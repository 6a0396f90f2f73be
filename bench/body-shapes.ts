import { gzipSync } from 'node:zlib';
import type { Fault } from '../test/support/faults/fault-server.ts';

const MIB = 2 ** 20;

/** Answers of at most this many bytes, each expensive to read for another reason. */
export const SHAPES: Readonly<Record<string, (bytes: number) => string>> = {
  wide: (bytes) => `{"data":[${'{},'.repeat(bytes / 3 - 10)}{}]}`,
  deep: (bytes) => `{"data":${'['.repeat(bytes / 2 - 10)}${']'.repeat(bytes / 2 - 10)}}`,
  'of long texts': (bytes) => `{"data":[${`"${'ü'.repeat(500_000)}",`.repeat(Math.floor(bytes / 1_000_100))}0]}`,
  'of many numbers': (bytes) => listOf('9', VALUES, bytes),
  'of many records': (bytes) => listOf('{}', OBJECTS, bytes),
  'of long numbers': (bytes) => `{"data":[${`${'9'.repeat(900)},`.repeat(Math.floor(bytes / 902))}0]}`,
};

/** Just below the limits on commas and brackets, of a page and of slashings. */
const VALUES = [19_990, 599_900] as const;
const OBJECTS = [4_990, 990] as const;

/** A list at the limit, with spaces between the items to reach the size. A page has it as `system_metrics`. */
function listOf(item: string, [ofPage, ofSlashings]: readonly [number, number], bytes: number): string {
  const isPage = bytes <= MIB;
  const count = isPage ? ofPage : ofSlashings;
  const list = `[${Array.from({ length: count }, () => item).join(`,${' '.repeat(Math.floor(bytes / count) - 4)}`)}]`;
  return isPage ? `{"data":{"system_metrics":${list}}}` : `{"data":${list}}`;
}

/** Answers of this shape just below the size limit. Slot rows stay genuine, but `slots` of them announce a slashing. */
export function largeBodies(shape: string, { isZipped, slots }: { isZipped: boolean; slots: number }): Fault {
  const of = SHAPES[shape];
  if (!of) throw new RangeError(`no shape ${shape}`);
  const bytes = (mib: number): Buffer => (isZipped ? gzipSync(of(mib * MIB)) : Buffer.from(of(mib * MIB)));
  const small = bytes(1);
  const large = bytes(4);
  return {
    request({ path }, genuine) {
      const { status, headers, body } = genuine();
      if (status !== 200) return { status, headers, body };
      if (path.endsWith('/slots')) return { status, headers, body: announcing(body, slots) };
      const coding = isZipped ? { 'content-encoding': 'gzip' } : {};
      return { status, headers: { ...headers, ...coding }, body: path.endsWith('/attesterslashings') ? large : small };
    },
  };
}

function announcing(rows: string, slots: number): string {
  let left = slots;
  return rows.replaceAll(/("attesterslashingscount":)0/g, (none, name) => {
    left -= 1;
    return left < 0 ? none : `${name}1`;
  });
}
