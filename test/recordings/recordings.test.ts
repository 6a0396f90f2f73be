import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { requestTo } from '../../src/api/endpoints.ts';
import type { Transport } from '../../src/api/transport.ts';
import { EMPTY_BUCKET, quotaOf } from '../../src/budget/bucket.ts';
import { readHeaders } from '../../src/budget/headers.ts';
import { epochTime } from '../../src/facts/chain.ts';
import { watchedGroups } from '../../src/facts/groups.ts';
import { watchOf } from '../../src/facts/watch.ts';
import { rewardsAnswer } from '../../src/sandbox/duties.ts';
import { emptyEntry } from '../../src/scheduler/entry.ts';
import { NO_INPUTS } from '../../src/sources/read.ts';
import { NO_SLASHINGS } from '../../src/sources/slashings/count.ts';
import { slashingsSource } from '../../src/sources/slashings/index.ts';
import { validatorsSource } from '../../src/sources/validators/index.ts';
import { apiHarness } from '../api/api-harness.ts';
import { datapoint, returnsPage } from '../support/answers/datapoint.ts';
import { DOCUMENTED_QUEUES, NETWORK_PERFORMANCE } from '../support/answers/network-answers.ts';
import { REWARDS, rangeOf, validatorsOptions } from '../support/answers/validators.ts';
import { writtenAnswer } from '../support/answers/written-answer.ts';
import { samplesOf, sampleValue } from '../support/exposition/samples.ts';
import { round } from '../support/runs/round.ts';
import { slashingsOptions } from '../support/runs/slashings-options.ts';
import { noSignal, timing } from '../support/time/timing.ts';
import { type Exchange, fileOf, OF_BLOCKS, OF_STATUS, type Row, saidByWorld, timeOf } from './recorded.ts';

const EXCHANGES: readonly Exchange[] = [...OF_STATUS, ...OF_BLOCKS];

/** The real client, with a service that repeats the recorded answer. */
function replayed(exchange: Exchange) {
  const sent: string[] = [];
  const transport: Transport = async ({ body = '' }) => {
    sent.push(body);
    return writtenAnswer({ status: 200, headers: exchange.headers, body: JSON.stringify(exchange.answer) });
  };
  return { ...apiHarness(transport, timeOf(exchange)), sent };
}

/** In ether, to the nearest double. */
function sumOf(rows: readonly Row[], which: 'current' | 'effective'): number {
  const wei = rows.reduce((sum, { balances }) => sum + BigInt(balances[which]), 0n);
  return Number(`${wei}e-18`);
}

describe('recorded exchanges of production', () => {
  it('are all here', () => {
    expect([OF_STATUS, OF_BLOCKS].map(({ length }) => length)).toEqual([4, 3]);
  });

  it.each(EXCHANGES)(
    '$what: the sandbox gives the same body to the last character, and the same headers',
    (exchange) => {
      const { status, body, headers } = saidByWorld(exchange);
      expect([status, body]).toEqual([200, JSON.stringify(exchange.answer)]);
      const { date: _, 'x-beaconchain-version': __, ...recorded } = exchange.headers;
      expect(headers).toEqual(recorded);
    },
  );

  it.each(OF_STATUS)(
    '$what: the status source sends the same request, shows each value and drops none',
    async (exchange) => {
      const { data: rows, range } = exchange.answer;
      const { api, log, sent } = replayed(exchange);
      const watch = watchOf(rows.map(({ validator: { index } }) => ({ first: Number(index), last: Number(index) })));
      const keys = (exchange.asked.validator?.validator_identifiers ?? []).filter((one) => typeof one === 'string');
      const groups = keys.length > 0 ? watchedGroups([], [], keys) : watchedGroups(watch, []);
      // Rewards and duties are not recorded, so they are off or not due.
      const source = validatorsSource(validatorsOptions({ watch, groups, rewards: false }));
      const now = timeOf(exchange);
      const duties = { failuresInARow: 0, durationMs: 0, lastAttemptAt: now };
      const before = { ...emptyEntry(source), reads: { duties } };
      const { value, failure, ran } = await round(source, api, before, { now });
      expect([ran, failure]).toEqual([['status'], undefined]);
      expect(log.filter((line) => line.startsWith('invalid'))).toEqual([]);
      // The page size is not recorded here.
      expect(JSON.parse(sent[0] ?? '')).toEqual({ ...exchange.asked, page_size: 10 });
      expect(value.validators.map(({ index, status, online, epoch }) => ({ index, status, online, epoch }))).toEqual(
        rows.map(({ validator: { index }, status, online }) => ({ index, status, online, epoch: range.epoch.end })),
      );
      // Then each key has an index.
      const shownBy = validatorsSource(validatorsOptions({ watch, rewards: false }));
      const families = shownBy.metrics(value, timing({ now, intervalMs: 384_000 }), NO_INPUTS);
      const shown = (name: string): number | undefined =>
        sampleValue(families, `beaconchain_watched_validators${name}`);
      expect(shown('_slashed')).toBe(rows.filter(({ slashed }) => slashed).length);
      // Only the row of 20075 shows when it was slashed. For the other one the exit queue decided.
      const times = samplesOf(families, 'beaconchain_watched_validator_slashed_timestamp_seconds');
      const isTold = rows.some(({ slashed, validator }) => slashed && validator.index === 20_075);
      expect(times.map(({ value: at }) => at)).toEqual(isTold ? [epochTime('mainnet', 208)] : []);
      expect(shown('_online')).toBe(rows.filter(({ online }) => online).length);
      expect(shown('_offline')).toBe(0);
      expect(shown('_balance_ether')).toBe(sumOf(rows, 'current'));
      expect(shown('_effective_balance_ether')).toBe(sumOf(rows, 'effective'));
      expect(shown('_epoch')).toBe(range.epoch.end);
      const byStatus = samplesOf(families, 'beaconchain_watched_validators_by_status');
      const counts = Object.groupBy(rows, ({ status }) => status);
      for (const { labels = {}, value: count } of byStatus) {
        expect([labels['status'], count]).toEqual([labels['status'], counts[labels['status'] ?? '']?.length ?? 0]);
      }
    },
  );

  it.each(OF_BLOCKS)('$what: the request is the same, and the reward of the block is counted', async (exchange) => {
    const { total_reward, mev, consensus_reference, execution_reference } = exchange.answer.data;
    const { slot } = consensus_reference;
    const { api, log, sent } = replayed(exchange);
    const watch = watchOf([{ first: 7, last: 7 }]);
    const source = slashingsSource(slashingsOptions({ watch, readsOwnBlocks: true }));
    const now = timeOf(exchange);
    const open = [{ slot, validator: 7, number: execution_reference.block }];
    const value = { ...NO_SLASHINGS, ownBlocks: { ...NO_SLASHINGS.ownBlocks, open } };
    const done = { failuresInARow: 0, durationMs: 0, lastAttemptAt: now };
    const entry = { ...emptyEntry(source), value, reads: { head: done, finalized: done } };
    const after = await round(source, api, entry, { now });
    expect([after.ran, after.failure, log.filter((line) => line.startsWith('invalid'))]).toEqual([
      ['blocks'],
      undefined,
      [],
    ]);
    expect(sent.map((body) => JSON.parse(body))).toEqual([exchange.asked]);
    const { last, open: left, unread } = after.value.ownBlocks;
    const kind = mev ? 'mev' : 'fees';
    const { amount: wei, recipient } = total_reward;
    expect([last, left, unread]).toEqual([[{ slot, validator: 7, kind, wei, recipient: recipient.address }], [], 0]);
    const families = source.metrics(after.value, timing({ now }), NO_INPUTS);
    expect(sampleValue(families, 'beaconchain_watched_block_rewards_ether_total', { kind })).toBe(Number(`${wei}e-18`));
  });

  it.each(EXCHANGES)('$what: the ledger learns the trial and its remaining requests', async (exchange) => {
    const { headers, left } = exchange;
    const { api, rateLimiter, clock } = replayed(exchange);
    const request = { ...requestTo('machine_names', {}), envelope: z.object({ data: z.unknown() }) };
    const { data } = await api.request(request, noSignal());
    expect(data).toEqual(exchange.answer.data);
    const ledger = rateLimiter.settleLedger();
    const bucket = ledger.buckets[ledger.otherRoutes] ?? EMPTY_BUCKET;
    expect(ledger).toMatchObject({ otherRoutes: 'default', key: { standing: 'valid', validHeader: true } });
    expect(bucket.limits).toMatchObject({ second: 1, month: 1_000 });
    expect(bucket.remaining.month).toBe(Number(left));
    expect(quotaOf(bucket, { utilization: 1 }, clock.now()).left).toBe(Number(left));
    expect(readHeaders(headers, clock.now())).toMatchObject({ bucket: 'default', validKey: true });
  });
});

it.each(Object.entries(fileOf<Readonly<Record<string, object>>>('documented.json')))(
  'the sandbox writes the documented example of %s to the last character',
  (path, example) => {
    const written: Readonly<Record<string, unknown>> = {
      '/api/v2/ethereum/performance-aggregate': NETWORK_PERFORMANCE,
      '/api/v2/ethereum/queues': DOCUMENTED_QUEUES,
      '/api/v2/ethereum/benchmark-store': returnsPage(datapoint()),
      '/api/v2/ethereum/validators/rewards-aggregate': rewardsAnswer(REWARDS, rangeOf(490_000, 490_224)),
    };
    expect(JSON.stringify(written[path])).toBe(JSON.stringify(example));
  },
);
