import { describe, expect, it } from 'vitest';
import { requestTo } from '../../src/api/endpoints.ts';
import { RequestFailed } from '../../src/api/errors.ts';
import type { Entry } from '../../src/scheduler/entry.ts';
import type { ReadContext } from '../../src/sources/read.ts';
import type { Source } from '../../src/sources/source.ts';
import { failing, fakeApi, type SentRequest } from '../support/answers/fake-api.ts';
import { NETWORK_PERFORMANCE } from '../support/answers/network-answers.ts';
import { validatorsAnswer } from '../support/answers/validators.ts';
import { fakeSource } from '../support/runs/fake-source.ts';
import { round } from '../support/runs/round.ts';
import { HOUR, MINUTE, NOW } from '../support/time/timing.ts';

const NO_API = fakeApi(() => ({}));
const FAILURE = new RequestFailed('machine_metrics', 'bad_request', 'made up');

it('repeats each failed read once when a sibling works again', async () => {
  let broken: readonly string[] = [];
  const read = (name: string, everyMs: number) => ({
    name,
    everyMs,
    due: (_value: number, _last: object, _timing: object, tick: number) => tick,
    run: (value: number) => (broken.includes(name) ? { value, failure: FAILURE } : { value: value + 1 }),
  });
  const source = fakeSource({ reads: [read('rare', 6 * HOUR), read('frequent', MINUTE), read('daily', 24 * HOUR)] });
  let entry: Entry | undefined;
  const ran: string[][] = [];
  for (const [minute, failed] of [
    [0, ['rare', 'frequent', 'daily']],
    [1, ['rare', 'frequent', 'daily']],
    [2, ['rare', 'daily']],
    [3, ['rare', 'daily']],
    // An hour after they failed. The rare one is not repeated, because it has just failed again.
    [63, ['rare']],
    [64, ['rare']],
  ] as const) {
    broken = failed;
    const result = await round(source, NO_API, entry, { now: NOW + minute * MINUTE });
    ({ entry } = result);
    ran.push([...result.ran]);
  }
  expect(ran).toEqual([
    ['rare', 'frequent', 'daily'],
    ['frequent'],
    // The sibling works again: the daily read follows it, and the rare one comes with the next round.
    ['frequent', 'daily'],
    ['rare', 'frequent'],
    ['rare', 'frequent', 'daily'],
    ['frequent'],
  ]);
});

it.each([
  ['a start', { startedAt: NOW + 3 * HOUR }, { from: NOW, to: NOW + 3 * HOUR }],
  [
    'a start after idle hours',
    { startedAt: NOW + 3 * HOUR, aliveAt: NOW + HOUR },
    { from: NOW + HOUR, to: NOW + 3 * HOUR },
  ],
  ['a round that is not the first', { startedAt: NOW + 3 * HOUR, tried: new Set(['only']) }, undefined],
  ['a reload or a takeover, by a process that ran all the time', { startedAt: NOW - HOUR }, undefined],
])('tells a read how long the program was stopped before %s', async (_, since, expected) => {
  const seen: ReadContext['stop'][] = [];
  const source = fakeSource({ run: (value, { stop }) => ({ value: value + seen.push(stop) }) });
  const first = await round(source, NO_API, undefined, { now: NOW, tried: new Set() });
  await round(source, NO_API, first.entry, { now: NOW + 4 * HOUR, tried: new Set(), ...since });
  expect(seen).toEqual([undefined, expected]);
});

describe('the age of the data in the answers', () => {
  const endOf = (epoch: number) => (1_606_824_023 + (epoch + 1) * 384) * 1000;
  const E = 479_021;
  const rewardsOf = async (value: number, { api, signal }: ReadContext) => {
    await api.request(requestTo('network_performance', { chain: 'mainnet' }), signal);
    return { value };
  };
  const latestOf = async (value: number, { api, signal }: ReadContext) => {
    await api.request(requestTo('epoch_slots', { chain: 'hoodi', epoch: 'latest', priority: 'head_pass' }), signal);
    await api.request(requestTo('epoch_slots', { chain: 'hoodi', epoch: 7, priority: 'head_pass' }), signal);
    return { value };
  };
  const statusOf = async (value: number, { api, signal }: ReadContext) => {
    for (const index of [1, 2])
      await api.request(requestTo('validators', { chain: 'mainnet', identifiers: [index] }), signal);
    return { value };
  };
  const sums = fakeSource({ endpoints: ['network_performance'], everyMs: HOUR, run: rewardsOf });
  const head = fakeSource({ endpoints: ['epoch_slots'], run: latestOf });
  const status = fakeSource({ endpoints: ['validators'], everyMs: 2 * HOUR, run: statusOf });
  const ended = (epoch: number) => () => ({ ...NETWORK_PERFORMANCE, range: { epoch } });
  const statusAt = (epoch: number) => fakeApi(() => validatorsAnswer(epoch, []));
  const rowsOf = (...epochs: number[]) => ({ status: 'OK', data: epochs.map((epoch) => ({ epoch })) });

  async function behind(source: Source, answer: (request: SentRequest) => unknown, now: number, more = {}) {
    const { entry } = await round(source, fakeApi(answer), undefined, { now, ...more });
    return entry.reads['only']?.behindMs;
  }

  it.each([
    ['status', status, 3, (epoch: number) => () => validatorsAnswer(epoch, []), {}],
    ['sums', sums, 6, ended, { inputs: { finality: { at: endOf(E + 5), readAt: endOf(E + 6) } } }],
  ] as const)('of the %s is shown beyond the usual age, otherwise 0', async (_, source, usual, answer, more) => {
    const limit = endOf(E) + usual * 384_000;
    expect(await behind(source, answer(E), limit, more)).toBe(0);
    expect(await behind(source, answer(E), limit + 1, more)).toBe(usual * 384_000 + 1);
    // An answer about the epoch in progress.
    expect(await behind(source, answer(E), endOf(E) - 1, more)).toBe(0);
  });

  it('of the head is 0 for ten minutes without a block, and only plausible epochs of the latest view count', async () => {
    const end = (1_742_213_400 + (E + 1) * 384) * 1000;
    const answer = ({ path }: SentRequest) => (path.includes('latest') ? rowsOf(E, E, E + 9, E) : rowsOf(7));
    expect(await behind(head, answer, end + 10 * MINUTE)).toBe(0);
    expect(await behind(head, answer, end + 10 * MINUTE + 1)).toBe(10 * MINUTE + 1);
    const none = [[], [-1e308, -5], [1e308], [E, E + 9, E + 9]];
    for (const epochs of none) expect(await behind(head, () => rowsOf(...epochs), end)).toBeUndefined();
  });

  it('is that of the newest answer of a run, so that one late chunk does not count', async () => {
    const late = ({ body }: SentRequest): boolean => JSON.stringify(body).includes('[1]');
    expect(await behind(status, (sent) => validatorsAnswer(late(sent) ? E - 46 : E, []), endOf(E))).toBe(0);
    const all = await behind(status, (sent) => validatorsAnswer(late(sent) ? E - 46 : E - 45, []), endOf(E));
    expect(all).toBe(45 * 384_000);
  });

  it('of sums does not grow while finality is lost, and is unknown while finality is', async () => {
    const now = endOf(E) + 14 * 24 * HOUR;
    const lost = (ago = 0) => ({ inputs: { finality: { at: endOf(E), readAt: now - ago } } });
    for (const ago of [0, HOUR]) {
      expect(await behind(sums, ended(E), now, lost(ago))).toBe(0);
      expect(await behind(sums, ended(E - 4), now, lost(ago))).toBe(0);
    }
    expect(await behind(sums, ended(E - 5), now, lost())).toBe(14 * 24 * HOUR + 5 * 384_000);
    expect(await behind(sums, ended(E - 5), now, lost(4 * 384_000 + 1))).toBeUndefined();
    expect(await behind(sums, ended(E), now)).toBeUndefined();
  });

  it('is that of the newest data, and an answer from ahead of our clock does not count', async () => {
    const at = (epoch: number, now: number, before?: Entry) => round(status, statusAt(epoch), before, { now });
    const ahead = await at(E + 5, endOf(E));
    expect(ahead.entry.reads['only']?.behindMs).toBeUndefined();
    const first = await at(E, endOf(E) + 2 * HOUR, ahead.entry);
    expect(first.entry.reads['only']?.behindMs).toBe(2 * HOUR);
    const older = await at(E - 46, endOf(E) + 4 * HOUR, first.entry);
    expect(older.entry.reads['only']?.behindMs).toBe(4 * HOUR);
  });

  it('stays until the next answer, through restarts, failures and long pauses', async () => {
    const now = endOf(E);
    const old = await round(status, statusAt(E - 46), undefined, { now });
    expect(old.entry.reads['only']?.behindMs).toBe(46 * 384_000);
    const api = fakeApi(failing('server_error'));
    const failed = await round(status, api, old.entry, { now: now + 2 * HOUR, tried: new Set() });
    expect(failed.failure).toBeDefined();
    expect(failed.entry.reads['only']?.behindMs).toBe(46 * 384_000);
    const good = statusAt(E + 37);
    const { entry } = await round(status, good, failed.entry, { now: now + 4 * HOUR });
    expect(entry.reads['only']?.behindMs).toBe(0);
    const later = await round(status, good, entry, { now: now + 5 * HOUR });
    expect(later.ran).toEqual([]);
    expect(later.entry.reads['only']?.behindMs).toBe(0);
  });
});
