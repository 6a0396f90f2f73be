import { encodeHead, encodeSamples, type Format } from '../../../src/toolkit/exposition/encode.ts';
import type { Family } from '../../../src/toolkit/exposition/family.ts';

/** The lines of a family; '' if it has no samples. */
export function encodeFamily(family: Family, format: Format): string {
  return family.samples.length === 0 ? '' : encodeHead(family, format) + [...encodeSamples(family)].join('');
}

export function encodeFamilies(families: Iterable<Family>, format: Format): string {
  let out = '';
  for (const family of families) out += encodeFamily(family, format);
  return out;
}
