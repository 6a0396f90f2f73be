import { describe, expect, it } from 'vitest';
import { QueuesAnswer } from '../../src/api/answers/network.ts';
import { DAY, HOUR, NOW, order, read, sandboxOf } from './call.ts';

const ETHEREUM = '/api/v2/ethereum';
const REWARDS = `${ETHEREUM}/validators/rewards-aggregate`;
const PERFORMANCE = `${ETHEREUM}/validators/performance-aggregate`;
const OF_TWO = {
  chain: 'mainnet',
  validator: { validator_identifiers: [3, 4] },
  range: { evaluation_window: '24h' },
} as const;

/** The amounts in gwei, which are exact as numbers. */
function rewards(sandbox: ReturnType<typeof sandboxOf>, now = NOW) {
  const { data } = read(sandbox, REWARDS, OF_TWO, now);
  return JSON.parse(JSON.stringify(data), (_, value) =>
    /^-?\d+$/.test(value) ? Number(BigInt(value) / 10n ** 9n) : value,
  );
}

describe('sandbox/duties', () => {
  it('rewards are those of 225 finalized epochs, like the performance', () => {
    const sandbox = sandboxOf();
    const { range } = read(sandbox, REWARDS, OF_TWO);
    expect(range.epoch.end - range.epoch.start).toBe(224);
    const { range: ofPerformance } = read(sandbox, PERFORMANCE, OF_TWO);
    expect(ofPerformance).toEqual(range);
  });

  it('a validator that is offline earns less, and misses and pays more, for each hour', () => {
    const sandbox = sandboxOf();
    order(sandbox, '/-/offline?validator=3');
    const after = [0, 2, 6, 12].map((hours) => rewards(sandbox, NOW + hours * HOUR));
    for (const [i, one] of after.slice(1).entries()) {
      expect(one.attestation.total).toBeLessThan(after[i].attestation.total);
      expect(one.attestation.head.missed_reward).toBeGreaterThan(after[i].attestation.head.missed_reward);
      expect(one.total_penalty).toBeGreaterThan(after[i].total_penalty);
    }
    const { duties } = read(sandbox, PERFORMANCE, OF_TWO, NOW + 2 * DAY).data;
    expect(duties.attestation).toMatchObject({ assigned: 450, included: 225, missed: 225, avg_inclusion_delay: 0.012 });
    expect(duties.attestation.correct_head).toBeLessThan(duties.attestation.correct_source);
  });

  it('queues have the form of v2.1, and end after now', () => {
    const { data } = QueuesAnswer.parse(read(sandboxOf(), `${ETHEREUM}/queues`, { chain: 'mainnet' }));
    expect(data.exit_queue).toMatchObject({ count: 400, balance: '12800000000000000000000' });
    const ends = [data.deposit_queue, data.exit_queue].map((queue) => queue?.estimated_processed_at ?? 0);
    expect(Math.min(...ends)).toBeGreaterThan(NOW / 1000);
  });
});
