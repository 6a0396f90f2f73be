import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { etherOf } from '../../src/lib/ether.ts';
import { cases, PATIENT } from '../support/fuzz.ts';

const WEI_PER_ETHER = 10n ** 18n;
const bits = new DataView(new ArrayBuffer(8));

/** The double as an exact multiple of 2^-1074. */
function units(double: number): bigint {
  bits.setFloat64(0, double);
  const raw = bits.getBigUint64(0);
  const exponent = (raw >> 52n) & 0x7ffn;
  const fraction = raw & 0xf_ffff_ffff_ffffn;
  const magnitude = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n);
  return double < 0 ? -magnitude : magnitude;
}

/** |wei / 10^18 - double|, as an exact multiple of 2^-1074 * 10^-18. */
function distance(wei: bigint, double: number): bigint {
  const difference = (wei << 1074n) - units(double) * WEI_PER_ETHER;
  return difference < 0n ? -difference : difference;
}

function neighbour(double: number, step: 1n | -1n): number {
  bits.setFloat64(0, double);
  bits.setBigUint64(0, bits.getBigUint64(0) + step);
  return bits.getFloat64(0);
}

/** Whether no other double is nearer, and of two equally near ones it is the even one. */
function isNearest(wei: bigint, double: number): boolean {
  if (double === 0) return wei === 0n;
  const own = distance(wei, double);
  const others = [neighbour(double, 1n), neighbour(double, -1n)].map((other) => distance(wei, other));
  bits.setFloat64(0, double);
  const isEven = (bits.getBigUint64(0) & 1n) === 0n;
  return others.every((other) => own < other || (own === other && isEven));
}

describe('sources/daily-returns/ether', PATIENT, () => {
  it.each([
    ['0', 0],
    ['1', 1e-18],
    ['-1', -1e-18],
    ['999999999999999999', 1],
    ['123456789012345678', 0.12345678901234568],
    ['1000000000000000000', 1],
    ['-1500000000000000000', -1.5],
    ['1349850765807000000000', 1349.850765807],
    ['9784396612733700000000000', 9784396.6127337],
    ['35000000000000000000000000', 35e6],
  ])('reads %s wei', (wei, ether) => {
    expect(etherOf(wei)).toBe(ether);
  });

  it('differs from dividing the number, which rounds twice', () => {
    const wei = '9007199254740993000000000000000001';
    expect(etherOf(wei)).toBe(9007199254740994);
    expect(etherOf('9007199254740993000000000000000000')).toBe(9007199254740992);
  });

  it('is the double nearest to the exact quotient', () => {
    const anyWei = fc.oneof(
      fc.bigInt({ min: -(10n ** 27n), max: 10n ** 27n }),
      fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }),
      // Half way between two doubles, and a wei beside it.
      fc
        .tuple(fc.bigInt({ min: 2n ** 53n, max: 2n ** 54n }), fc.constantFrom(-1n, 0n, 1n))
        .map(([ether, beside]) => ether * WEI_PER_ETHER + beside),
    );
    fc.assert(
      fc.property(anyWei, (wei) => {
        expect(isNearest(wei, etherOf(`${wei}`))).toBe(true);
      }),
      cases(2_000),
    );
  });
});
