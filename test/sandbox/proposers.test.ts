import { describe, expect, it } from 'vitest';
import { type Chain, slotTime } from '../../src/lib/chain.ts';
import type { Sandbox } from '../../src/sandbox/world.ts';
import { get, NOW, SECOND, sandboxOf } from './call.ts';

interface Row {
  readonly slot: number;
  readonly status: string;
  readonly proposer: number;
  readonly blockroot: string;
  readonly proposerslashingscount: number;
}

const PREFIX: Record<Chain, string> = { mainnet: '', hoodi: '/hoodi' };
const WATCHED = [500, 501, 502];
/** Mainnet epochs that are final at NOW. */
const EPOCHS = Array.from({ length: 200 }, (_, i) => 408_000 + i);

function list<T>(sandbox: Sandbox, path: string, now = NOW): T[] {
  const { status, body } = get(sandbox, path, now);
  expect(status).toBe(200);
  return JSON.parse(body).data;
}

function rowsOf(sandbox: Sandbox, epoch: number | string, now = NOW, chain: Chain = 'mainnet'): Row[] {
  return list(sandbox, `${PREFIX[chain]}/api/v1/epoch/${epoch}/slots`, now);
}

/** Unix ms at which the epoch of this slot is final. */
function finalAt(chain: Chain, slot: number): number {
  return slotTime(chain, (Math.floor(slot / 32) + 3) * 32 + 1) * SECOND;
}

describe('sandbox/proposers', () => {
  it('the watched propose as often as asked, and miss nothing by chance; the others propose and miss as before', () => {
    const plain = EPOCHS.flatMap((epoch) => rowsOf(sandboxOf(), epoch));
    const sandbox = sandboxOf({ watched: { validators: { mainnet: WATCHED, hoodi: [] }, slots: 8 } });
    const rows = EPOCHS.flatMap((epoch) => rowsOf(sandbox, epoch));
    const own = rows.filter(({ proposer }) => WATCHED.includes(proposer));
    // Four in an epoch, but for those that would have fallen on a slot without a block.
    expect(own.length).toBeLessThanOrEqual(4 * EPOCHS.length);
    expect(own.length).toBeGreaterThan(3.9 * EPOCHS.length);
    expect(new Set(own.map(({ slot }) => slot % 8)).size).toBe(8);
    expect(new Set(own.map(({ proposer }) => proposer))).toEqual(new Set(WATCHED));
    expect(new Set(own.map(({ status }) => status))).toEqual(new Set(['1']));
    for (const status of ['1', '2', '3']) expect(rows.some((row) => row.status === status)).toBe(true);
    const others = (of: Row[]): Row[] => of.filter(({ slot }) => !own.some((row) => row.slot === slot));
    expect(others(rows)).toEqual(others(plain));
    expect(rows.map(({ slot, status, blockroot }) => [slot, status, blockroot])).toEqual(
      plain.map(({ slot, status, blockroot }) => [slot, status, blockroot]),
    );
  });

  it.each(['mainnet', 'hoodi'] as const)('lets a validator of %s miss one of the next slots, and names it', (chain) => {
    const sandbox = sandboxOf();
    const slot = sandbox.missProposal(chain, 42, NOW);
    const next = sandbox.missProposal(chain, 43, NOW);
    expect(next).toBeGreaterThan(slot);
    expect(slotTime(chain, next) * SECOND - NOW).toBeLessThan(120 * SECOND);
    const row = rowsOf(sandbox, Math.floor(slot / 32), finalAt(chain, slot), chain).filter((one) => one.slot === slot);
    expect(row).toMatchObject([{ status: '2', proposer: 42, proposerslashingscount: 0 }]);
    // The chain goes on over the gap.
    const rows = rowsOf(sandbox, Math.floor((slot + 1) / 32), finalAt(chain, slot + 1), chain) as (Row & {
      parentroot: string;
    })[];
    expect(rows.some(({ parentroot }) => parentroot === row[0]?.blockroot)).toBe(false);
  });
});
