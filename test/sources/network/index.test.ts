import { describe, expect, it } from 'vitest';
import type { Entry } from '../../../src/scheduler/entry.ts';
import { type Network, networkSource } from '../../../src/sources/network/index.ts';
import { NO_INPUTS } from '../../../src/sources/read.ts';
import { type FakeApi, fakeApi, type SentRequest } from '../../support/answers/fake-api.ts';
import { LEGACY_QUEUES, NETWORK_PERFORMANCE, QUEUES } from '../../support/answers/network-answers.ts';
import { seriesIn } from '../../support/exposition/samples.ts';
import { round } from '../../support/runs/round.ts';
import { DAY, HOUR, timing } from '../../support/time/timing.ts';

/** A little after epoch 490226 of mainnet, two epochs after the answer. */
const NOW = 1_795_071_300_000;
const SOURCE = networkSource({ chain: 'mainnet', intervalMs: HOUR, chains: 1 });

type Answers = Partial<Record<SentRequest['endpoint'], (request: SentRequest) => unknown>>;

function serviceOf(answers: Answers = {}): FakeApi {
  const usual: Answers = { network_performance: () => NETWORK_PERFORMANCE, queues: () => QUEUES };
  return fakeApi((request) => (answers[request.endpoint] ?? usual[request.endpoint])?.(request));
}

function poll(api: FakeApi, before?: Entry<Network>, now = NOW, allowedPerDay = Number.POSITIVE_INFINITY) {
  return round(SOURCE, api, before, { now, allowedPerDay });
}

/** The families at these intervals. */
function families(value: Network, now = NOW, of: Readonly<Record<string, number>> = { duties: HOUR, queues: HOUR }) {
  return SOURCE.metrics(value, timing({ now, intervalMs: HOUR, of }), NO_INPUTS);
}

function shown(...given: Parameters<typeof families>): Record<string, number> {
  return seriesIn(families(...given), 'mainnet');
}

const ofQueues = (series: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(series).filter(([name]) => name.startsWith('queue_')));

describe('the network', () => {
  it('shows duties, votes, scores and queues of the documented answers, and no other field', async () => {
    const api = serviceOf();
    expect(shown((await poll(api)).value)).toEqual({
      'network_score_ratio total': 0.9951,
      'network_score_ratio attestation': 0.9949,
      'network_score_ratio proposal': 0.9962,
      'network_score_ratio sync_committee': 0.9958,
      'network_duties attestation assigned': 216_000_000,
      'network_duties attestation missed': 300_000,
      'network_duties attestation done': 215_700_000,
      'network_duties proposal assigned': 7_200,
      'network_duties proposal missed': 28,
      'network_duties proposal done': 7_172,
      'network_duties sync_committee assigned': 3_672_064,
      'network_duties sync_committee missed': 17_064,
      'network_duties sync_committee done': 3_655_000,
      'network_votes head': 212_800_000,
      'network_votes source': 215_500_000,
      'network_votes target': 215_300_000,
      network_inclusion_delay_slots: 0.012,
      network_inclusion_delay_excluding_missed_slots: 0.008,
      network_epoch: 490_224,
      'queue_validators deposit': 1_200,
      'queue_validators exit': 400,
      'queue_balance_ether deposit': 38_400,
      'queue_balance_ether topup': 1_600,
      'queue_balance_ether exit': 12_800,
      'queue_validators manual_withdrawal_queue': 30,
      'queue_balance_ether manual_withdrawal_queue': 480,
      'queue_balance_ether consolidation_queue': 64,
      'queue_end_timestamp_seconds deposit': 1_795_236_311,
      'queue_end_timestamp_seconds exit': 1_795_195_223,
    });
    expect(api.requests.map(({ endpoint, accept }) => [endpoint, accept])).toEqual([
      ['network_performance', undefined],
      ['queues', 'application/vnd.beaconcha.in.v2.1+json'],
    ]);
  });

  it('reads queues in the form before v2.1, in which deposits include top-ups', async () => {
    expect(ofQueues(shown((await poll(serviceOf({ queues: () => LEGACY_QUEUES }))).value))).toEqual({
      'queue_validators deposit': 1_450,
      'queue_validators exit': 400,
      'queue_balance_ether deposit': 40_000,
      'queue_balance_ether exit': 12_800,
      'queue_end_timestamp_seconds deposit': 1_795_236_311,
      'queue_end_timestamp_seconds exit': 1_795_195_223,
    });
  });

  it.each([
    ['balances in gwei', { count: 400, balance: '12800000000000' }, { 'queue_validators exit': 400 }],
    ['an empty queue', { count: 0, balance: '0' }, { 'queue_validators exit': 0, 'queue_balance_ether exit': 0 }],
    ['an end of 0', { count: 0, estimated_processed_at: 0 }, { 'queue_validators exit': 0 }],
    ['a balance in gwei without a count', { balance: '12800000000000' }, {}],
    ['no queue', null, {}],
    ['nulls', { count: null, balance: null, estimated_processed_at: null }, {}],
    ['an end without a time', { estimated_processed_at: { epoch: 490_550, timestamp: null } }, {}],
  ])('shows only what is known of a queue with %s', async (_, exit_queue, expected) => {
    const { value } = await poll(serviceOf({ queues: () => ({ data: { exit_queue } }) }));
    expect(ofQueues(shown(value))).toEqual(expected);
  });

  it('shows top-ups beside deposits without a balance', async () => {
    const deposit_queue = { deposit_count: 90_000, topup_count: 1, topup_balance: '1000000000000000000' };
    const { value } = await poll(serviceOf({ queues: () => ({ data: { deposit_queue } }) }));
    expect(ofQueues(shown(value))).toEqual({ 'queue_validators deposit': 90_000, 'queue_balance_ether topup': 1 });
  });

  it.each([
    ['of an epoch in the future', { ...NETWORK_PERFORMANCE, range: { epoch: { start: 1, end: 490_238 } } }],
    ['without its epoch', { data: NETWORK_PERFORMANCE.data }],
  ])('an answer %s is invalid, keeps the earlier values, and does not stop the queues', async (_, answer) => {
    const before = await poll(serviceOf());
    const api = serviceOf({ network_performance: () => answer });
    const { value, failure } = await poll(api, before.entry, NOW + HOUR);
    expect(api.requests.map(({ endpoint }) => endpoint)).toEqual(['network_performance', 'queues']);
    expect(failure).toMatchObject({ endpoint: 'network_performance', reason: 'invalid_body' });
    expect(value.performance).toEqual(before.value.performance);
  });

  it('neither reads nor shows the queues if the budget leaves them out', async () => {
    const { entry: before } = await poll(serviceOf());
    const api = serviceOf();
    const { entry, value, ran } = await poll(api, before, NOW + DAY, 1);
    expect([ran, entry.leftOut]).toEqual([['duties'], ['queues']]);
    expect(ofQueues(shown(value, NOW + HOUR))).not.toEqual({});
    expect(ofQueues(shown(value, NOW + HOUR, { duties: DAY }))).toEqual({});
  });
});
