import { expect, it } from 'vitest';
import { AttesterSlashing } from '../../src/api/answers/slots.ts';
import { slotTime } from '../../src/facts/chain.ts';
import { blocksAt } from '../../src/sandbox/chain-world.ts';
import type { Sandbox } from '../../src/sandbox/world.ts';
import { slashedBy } from '../../src/sources/slashings/evidence.ts';
import { get, NOW, order, refusalOf, SECOND, sandboxOf } from './call.ts';

interface Row {
  readonly slot: number;
  readonly epoch: number;
  readonly status: string;
  readonly blockroot: string;
  readonly attesterslashingscount: number;
  readonly proposerslashingscount: number;
}

function list(sandbox: Sandbox, path: string, now: number): unknown[] {
  const { status, body } = get(sandbox, path, now);
  expect(status).toBe(200);
  return JSON.parse(body).data;
}

function rowsOf(sandbox: Sandbox, epoch: number | string, now = NOW): Row[] {
  return list(sandbox, `/api/v1/epoch/${epoch}/slots`, now) as Row[];
}

function slashingsOf(sandbox: Sandbox, slot: number, now = NOW): Record<string, unknown>[] {
  return list(sandbox, `/api/v1/slot/${slot}/attesterslashings`, now) as Record<string, unknown>[];
}

/** Unix ms at which a slot of mainnet has just become the head. */
function headAt(slot: number): number {
  return slotTime('mainnet', slot + 1) * SECOND;
}

/** Of mainnet epochs that are final at NOW. */
const HISTORY = Array.from({ length: 300 }, (_, i) => rowsOf(sandboxOf(), 408_000 + i)).flat();

it('shows of the latest epoch the slots up to the head, one slot behind the clock', () => {
  const sandbox = sandboxOf();
  for (const i of [0, 1, 17, 31]) {
    const slot = 408_400 * 32 + i;
    expect(rowsOf(sandbox, 'latest', headAt(slot)).at(-1)?.slot).toBe(slot);
    expect(rowsOf(sandbox, 'latest', headAt(slot) - 1).at(-1)?.slot).toBe(slot - 1);
  }
});

it('reports a missed slot as scheduled until its epoch is final', () => {
  const missed = HISTORY.find((row) => row.status === '2');
  const { slot = 0, epoch = 0 } = missed ?? {};
  const statusAt = (now: number): string | undefined =>
    rowsOf(sandboxOf(), epoch, now).find((row) => row.slot === slot)?.status;
  expect(statusAt(headAt(slot))).toBe('0');
  expect(statusAt(headAt((epoch + 2) * 32) - 1)).toBe('0');
  expect(statusAt(headAt((epoch + 2) * 32))).toBe('2');
});

it('shows each block that a story wrote: of two in a slot both are canonical in a tie, otherwise one is orphaned', () => {
  const sandbox = sandboxOf();
  const { mainnet: world } = sandbox.chains;
  const [slot, ...rest] = [408_100 * 32 + 1, 408_100 * 32 + 2];
  const [block = expect.fail()] = blocksAt(world, slot);
  const orphaned = { ...block, root: '0xf0', slashedProposers: [7, 8], isCanonical: false };
  world.blocks.set(slot, [orphaned, block]);
  for (const missed of rest) world.blocks.set(missed, []);
  const shown = () => rowsOf(sandbox, 408_100).slice(1, 4);
  expect(shown().map(({ status }) => status)).toEqual(['3', '1', '2']);
  expect(shown().map(({ blockroot }) => blockroot)).toEqual(['0xf0', block.root, '0x01']);
  world.isTied = (one) => one === slot;
  expect(shown().map(({ status }) => status)).toEqual(['1', '1', '2']);
  const named = list(sandbox, `/api/v1/slot/${slot}/proposerslashings`, NOW);
  expect(named).toMatchObject([7, 8].map((proposerindex) => ({ block_root: '0xf0', proposerindex })));
});

it('has zeros, nulls and no text in the row of a missed slot (api-facts 5.1)', () => {
  const missed = Object.entries(HISTORY.find(({ status }) => status === '2') ?? {});
  const empty = missed.filter(([, value]) => value === null).map(([name]) => name);
  expect(empty.filter((name) => !name.startsWith('exec_'))).toEqual([
    'parentroot',
    'stateroot',
    'signature',
    'randaoreveal',
    'graffiti',
    'eth1data_blockhash',
    'eth1data_depositroot',
    'syncaggregate_bits',
    'syncaggregate_signature',
  ]);
  expect(missed.filter(([name, value]) => /count$|participation$/.test(name) && value !== 0)).toEqual([]);
});

it('slashes ordered validators in the next blocks', () => {
  const sandbox = sandboxOf({ slotsPerSlashing: Number.POSITIVE_INFINITY });
  const slotOf = (text: string): number => Number(/^slot (\d+) of mainnet slashes/.exec(text)?.[1]);
  const slot = slotOf(order(sandbox, '/-/slash?validators=44,11,22'));
  const next = slotOf(order(sandbox, '/-/slash?validators=99'));
  expect(next).toBeGreaterThan(slot);
  expect(slashingsOf(sandbox, slot)).toEqual([]);
  const later = headAt(next);
  expect(later - NOW).toBeLessThan(120 * SECOND);
  const row = rowsOf(sandbox, Math.floor(slot / 32), later).find((one) => one.slot === slot);
  expect(row?.attesterslashingscount).toBe(1);
  const [record] = slashingsOf(sandbox, slot, later);
  expect(record?.['block_root']).toBe(row?.blockroot);
  expect(slashedBy(AttesterSlashing.parse(record))).toEqual([11, 22, 44]);
});

it.each([
  ['epoch/abc/slots', 'invalid epoch parameter'],
  ['epoch/500000/slots', 'epoch is in the future. The latest epoch is 408356'],
  ['slot/latest/attesterslashings', 'invalid slot number provided'],
])('refuses %s', (path, text) => {
  const expected = { status: 400, body: { status: `ERROR: ${text}`, data: null } };
  expect(refusalOf(get(sandboxOf(), `/api/v1/${path}`))).toEqual(expected);
});
