import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type FailureReason, RequestFailed } from '../../src/api/errors.ts';
import type { Transport } from '../../src/api/transport.ts';
import { BudgetClosed } from '../../src/budget/permit.ts';
import { writtenAnswer } from '../support/answers/written-answer.ts';
import { MINUTE, noSignal } from '../support/time/timing.ts';
import { apiHarness, failureOf, V2_REQUEST } from './api-harness.ts';

type Step = FailureReason | { status: number; headers?: Record<string, string>; body?: string };

const OK: Step = { status: 200, body: '[]' };

/** A service that answers each request with the next step, without delay, and then repeats the last step. */
function scripted(steps: readonly Step[]) {
  const sentAt: number[] = [];
  const discarded: number[] = [];
  const transport: Transport = async ({ endpoint }, signal) => {
    signal.throwIfAborted();
    sentAt.push(harness.clock.monotonic());
    const step = steps[Math.min(sentAt.length, steps.length) - 1] ?? OK;
    if (typeof step === 'string') throw new RequestFailed(endpoint, step, 'made up');
    return { ...writtenAnswer(step), discard: () => void discarded.push(step.status) };
  };
  const harness = apiHarness(transport);
  const ask = (signal = noSignal()): Promise<unknown> =>
    harness.api.request({ ...V2_REQUEST, envelope: z.array(z.unknown()) }, signal);
  return { ...harness, ask, sentAt, discarded };
}

const ANY_REQUEST = { ...V2_REQUEST, envelope: z.unknown() };

describe('api/client: retries', () => {
  it.each<Step>(['network', 'timeout', { status: 500 }, { status: 503 }])(
    'retries twice after %j, with growing pauses',
    async (step) => {
      const { ask, clock, sentAt } = scripted([step]);
      const failure = failureOf(ask());
      await clock.advance(10 * MINUTE);
      // Equal jitter of 1 s and 2 s, at the random number 0.5. The budget makes the first pause longer.
      expect(sentAt).toEqual([0, 1_005, 2_505]);
      expect(await failure).toMatchObject({ endpoint: 'machine_metrics' });
    },
  );

  it('returns the answer of a retry', async () => {
    const { ask, clock, log, discarded } = scripted(['network', { status: 502 }, OK]);
    const answer = ask();
    await clock.advance(MINUTE);
    expect(await answer).toEqual([]);
    expect(discarded).toEqual([502]);
    expect(log.filter((line) => !line.startsWith('took'))).toEqual([
      'requested machine_metrics',
      'failed machine_metrics network',
      'requested machine_metrics',
      'failed machine_metrics server_error',
      'requested machine_metrics',
    ]);
  });

  it('retries a 429 at the reset, not before', async () => {
    const { ask, clock, sentAt } = scripted([{ status: 429, headers: { 'ratelimit-reset': '17' } }, OK]);
    const answer = ask();
    await clock.advance(16_999);
    expect(sentAt).toEqual([0]);
    await clock.advance(1);
    expect(sentAt).toEqual([0, 17_000]);
    expect(await answer).toEqual([]);
  });

  it('does not retry a 429 with a long wait, and reports rate_limited', async () => {
    const headers = { 'ratelimit-reset': '36644', 'retry-after': '36644' };
    const { ask, clock, sentAt, opensAt } = scripted([{ status: 429, headers }]);
    const failure = failureOf(ask());
    await clock.advance(MINUTE);
    expect(await failure).toMatchObject({
      reason: 'rate_limited',
      message: expect.stringMatching(/^\w+: rate_limited \(status 429\), not repeated: no request before 20/),
    });
    expect(sentAt).toEqual([0]);
    await expect(ask()).rejects.toThrow(BudgetClosed);
    expect(opensAt()).toBe(clock.now() - MINUTE + 36_644_000);
  });

  it.each([
    ['in the pause between retries', 100],
    ['while a retry waits for the budget', 1_000],
  ])('rejects with the reason of the abort signal %s', async (_, ms) => {
    const stop = new AbortController();
    const { ask, clock, sentAt } = scripted(['network']);
    const asked = ask(stop.signal);
    await clock.advance(ms);
    stop.abort('stopping');
    await expect(asked).rejects.toBe('stopping');
    await expect(ask(stop.signal)).rejects.toBe('stopping');
    await clock.advance(MINUTE);
    expect(sentAt).toEqual([0]);
  });

  it('rejects with the reason of the abort signal during a request, and counts no failure', async () => {
    const during = new AbortController();
    const transport: Transport = (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const hanging = apiHarness(transport);
    const answer = hanging.api.request(ANY_REQUEST, during.signal);
    await hanging.clock.advance(100);
    during.abort('stopping');
    await expect(answer).rejects.toBe('stopping');
    expect(hanging.log).toEqual(['requested machine_metrics', 'took machine_metrics 0.1']);
  });

  it('returns the permit as soon as the headers arrive', async () => {
    const finishers: ((text: string) => void)[] = [];
    const transport: Transport = async () => ({
      status: 200,
      headers: { 'ratelimit-bucket': 'default', 'x-ratelimit-limit-second': '2' },
      async *body() {
        yield Buffer.from(await new Promise<string>((resolve) => finishers.push(resolve)));
      },
      discard: () => undefined,
    });
    const { api, clock, log } = apiHarness(transport);
    const first = api.request(ANY_REQUEST, noSignal());
    await clock.advance(0);
    void api.request(ANY_REQUEST, noSignal());
    await clock.advance(3_000);
    expect(log).toEqual(['requested machine_metrics', 'requested machine_metrics']);
    finishers[0]?.('1');
    expect(await first).toBe(1);
    expect(log.at(-1)).toBe('took machine_metrics 3');
  });
});
