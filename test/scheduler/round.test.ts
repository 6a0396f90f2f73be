import { describe, expect, it } from 'vitest';
import { requestTo } from '../../src/api/endpoints.ts';
import { RequestFailed } from '../../src/api/errors.ts';
import type { Entry } from '../../src/scheduler/entry.ts';
import { attempt } from '../../src/sources/answers.ts';
import type { ReadContext } from '../../src/sources/read.ts';
import { failing, fakeApi } from '../support/answers/fake-api.ts';
import { fakeSource } from '../support/runs/fake-source.ts';
import { round } from '../support/runs/round.ts';
import { HOUR, MINUTE, NOW } from '../support/time/timing.ts';

const FAILURE = new RequestFailed('machine_metrics', 'bad_request', 'made up');

describe('scheduler/round', () => {
  it('repeats the reads that failed before it once when a sibling works again', async () => {
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
      const result = await round(
        source,
        fakeApi(() => ({})),
        entry,
        { now: NOW + minute * MINUTE },
      );
      ({ entry } = result);
      ran.push([...result.ran]);
    }
    expect(ran).toEqual([
      ['rare', 'frequent', 'daily'],
      ['frequent'],
      // It works again: the daily one follows it, and the rare one comes with the next round.
      ['frequent', 'daily'],
      ['rare', 'frequent'],
      ['rare', 'frequent', 'daily'],
      ['frequent'],
    ]);
  });

  it.each([
    ['a start', { startedAt: NOW + 3 * HOUR, tried: new Set<string>() }, 3 * HOUR],
    ['a later round', { startedAt: NOW + 3 * HOUR, tried: new Set(['only']) }, 0],
    [
      'a reload or a takeover, by a process that ran all the time',
      { startedAt: NOW - HOUR, tried: new Set<string>() },
      0,
    ],
  ])('tells how long the program was stopped before %s', async (_, since, expected) => {
    const seen: number[] = [];
    const source = fakeSource({ run: (value, { stoppedMs }) => ({ value: value + seen.push(stoppedMs) }) });
    const first = await round(
      source,
      fakeApi(() => ({})),
      undefined,
      { now: NOW, tried: new Set() },
    );
    await round(
      source,
      fakeApi(() => ({})),
      first.entry,
      { now: NOW + 4 * HOUR, ...since },
    );
    expect(seen).toEqual([0, expected]);
  });

  it('repeats none when the refusal of a sibling is confirmed, which is no success', async () => {
    const asked = async (value: number, context: ReadContext) => {
      const { api, signal } = context;
      const answer = await attempt(context, () =>
        api.request(requestTo('network_performance', { chain: 'mainnet' }), signal),
      );
      return { value, ...(answer instanceof Error && { failure: answer }) };
    };
    const source = fakeSource({
      reads: [
        { name: 'duties', endpoints: ['network_performance'], everyMs: 24 * HOUR, run: asked },
        { name: 'failing', everyMs: 24 * HOUR, run: (value) => ({ value, failure: FAILURE }) },
      ],
    });
    const api = fakeApi(failing('forbidden'));
    const first = await round(source, api, undefined, { now: NOW });
    const second = await round(source, api, first.entry, { now: NOW + 11 * MINUTE });
    expect([first.ran, second.ran]).toEqual([['duties', 'failing'], ['duties']]);
    expect(second.entry.reads['duties']).toMatchObject({ failuresInARow: 0 });
    expect(second.entry.reads['duties']).not.toHaveProperty('lastSuccessAt');
    expect(second.entry.reads['failing']).not.toHaveProperty('isDueNow');
  });
});
