/** A pseudo-random number that depends only on its parts. Not for cryptography. */
export function hash32(...parts: readonly number[]): number {
  let hash = 0x9e3779b9;
  for (const part of parts) hash = mix(hash ^ part);
  return hash;
}

/** In [0, 1). */
export function unit(...parts: readonly number[]): number {
  return hash32(...parts) / 2 ** 32;
}

/** A whole number in [low, high]. */
export function between(low: number, high: number, ...parts: readonly number[]): number {
  return low + Math.floor(unit(...parts) * (high - low + 1));
}

/** A 32-bit hash of a text (FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/). */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Finalizer with full avalanche, constants from https://github.com/skeeto/hash-prospector (lowbias32). */
export function mix(value: number): number {
  let x = value + 0x6d2b79f5;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}
