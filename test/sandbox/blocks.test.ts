import { expect, it } from 'vitest';
import { BAD_REQUEST, get, post, read, refusalOf, sandboxOf } from './call.ts';

const ETHEREUM = '/api/v2/ethereum';
const REWARDS = `${ETHEREUM}/block/rewards`;

it('a block has the number and root of its slot, and pays its proposer mev or fees, never both', () => {
  const sandbox = sandboxOf();
  const rows: readonly Record<string, never>[] = JSON.parse(get(sandbox, '/api/v1/epoch/latest/slots').body).data;
  const blocks = rows.filter(({ status }) => status === '1');
  const paid = blocks.map(
    ({ exec_block_number: number }) => read(sandbox, REWARDS, { chain: 'mainnet', block: { number } }).data,
  );
  for (const [i, { slot, epoch, blockroot: block_root, exec_block_number: block }] of blocks.entries()) {
    expect(paid[i].consensus_reference).toEqual({ slot, block_root, epoch });
    expect(paid[i].execution_reference.block).toBe(block);
    expect(paid[i].total_reward).toEqual(paid[i].mev ?? paid[i].priority_fees);
    expect(paid[i].finality).toBe('not_finalized');
  }
  expect(new Set(paid.map(({ mev }) => mev === null)).size).toBe(2);
});

it('what validators earned on the execution layer is what their blocks paid', () => {
  const watched = { validators: { mainnet: [3], hoodi: [] }, slots: 64 };
  const sandbox = sandboxOf({ watched });
  const about = { chain: 'mainnet', validator: { validator_identifiers: [3] }, range: { evaluation_window: '24h' } };
  const { data, range } = read(sandbox, `${ETHEREUM}/validators/rewards-aggregate`, about);
  let [sum, count] = [0n, 0];
  for (let epoch = range.epoch.start; epoch <= range.epoch.end; epoch += 1) {
    for (const row of JSON.parse(get(sandbox, `/api/v1/epoch/${epoch}/slots`).body).data) {
      if (row.proposer !== 3 || row.status !== '1') continue;
      const block = { number: row.exec_block_number };
      sum += BigInt(read(sandbox, REWARDS, { chain: 'mainnet', block }).data.total_reward.amount);
      count += 1;
    }
  }
  expect(count).toBeGreaterThan(50);
  expect(data.proposal.execution_layer_reward).toBe(String(sum));
});

it('knows no block after the head, and none of a slot without one', () => {
  const sandbox = sandboxOf();
  const numbers: number[] = JSON.parse(get(sandbox, '/api/v1/epoch/latest/slots').body).data.map(
    ({ exec_block_number: number }: { exec_block_number: number }) => number,
  );
  const head = Math.max(...numbers);
  const statusOf = (number: number) => post(sandbox, REWARDS, { chain: 'mainnet', block: { number } }).status;
  expect([statusOf(head), statusOf(head + 1)]).toEqual([200, 404]);
  sandbox.chains.mainnet.missed.set(
    read(sandbox, REWARDS, { chain: 'mainnet', block: { number: head } }).data.consensus_reference.slot,
    7,
  );
  expect(statusOf(head)).toBe(404);
  const { finality } = read(sandbox, REWARDS, { chain: 'mainnet', block: { number: head - 99 } }).data;
  expect(finality).toBe('finalized');
});

it.each([{ number: '5' }, { view: 'latest' }, 5, { number: 5, chain: 'mainnet' }])('refuses the block %j', (block) => {
  expect(refusalOf(post(sandboxOf(), REWARDS, { chain: 'mainnet', block }))).toEqual(BAD_REQUEST);
});
