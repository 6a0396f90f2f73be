import { describe, expect, it } from 'vitest';
import { CHAIN_NAMES, CHAINS, slotTime } from '../../src/facts/chain.ts';

/** Unix seconds of a UTC time. */
const utc = (text: string): number => Date.parse(`${text}Z`) / 1_000;

describe('lib/chain', () => {
  it('knows when each chain began', () => {
    expect(CHAINS.mainnet.genesis).toBe(utc('2020-12-01T12:00:23'));
    expect(CHAINS.hoodi.genesis).toBe(utc('2025-03-17T12:10:00'));
    expect(CHAIN_NAMES).toEqual(['mainnet', 'hoodi']);
  });

  it('gives each slot its time', () => {
    expect(slotTime('mainnet', 0)).toBe(CHAINS.mainnet.genesis);
    // The slots of published samples, and the start of a fork.
    expect(slotTime('mainnet', 8_971_958)).toBe(utc('2024-04-30T14:31:59'));
    expect(slotTime('mainnet', 12_571_718)).toBe(utc('2025-09-12T13:43:59'));
    expect(slotTime('mainnet', 364_032 * 32)).toBe(utc('2025-05-07T10:05:11'));
    expect(slotTime('hoodi', 2_048 * 32)).toBe(utc('2025-03-26T14:37:12'));
  });
});
