import { expect, it } from 'vitest';
import { requestTo } from '../../src/api/endpoints.ts';
import { emptyLedger, type Ledger } from '../../src/budget/ledger.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import { leased, openClient } from '../../src/exporter/client.ts';
import { type Documents, LEDGER } from '../../src/exporter/state.ts';
import { LeaseLost } from '../../src/toolkit/state/replica.ts';
import { writtenAnswer } from '../support/answers/written-answer.ts';
import { sending, startInProcess } from '../support/programs/served-exporter.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
import { NOW, noSignal } from '../support/time/timing.ts';
import { settled, VirtualClock } from '../support/time/virtual-clock.ts';

it('a request whose turn comes after the lease has ended is not sent and costs nothing', async () => {
  const clock = new VirtualClock(NOW);
  const limiter = new RateLimiter({ utilization: 0.9, perMonth: 100 }, { clock, ledger: emptyLedger() });
  let leads = true;
  const budget = leased(limiter, () => leads);
  const departure = { route: 'any', priority: 'finalized_pass' } as const;
  const first = await budget.acquire(departure, noSignal());
  first.release({ status: 200, headers: {} });
  const second = budget.acquire(departure, noSignal()).catch((error: unknown) => error);
  leads = false;
  const before = limiter.settleLedger().buckets;
  await clock.advance(60_000);
  expect(await second).toBeInstanceOf(LeaseLost);
  expect(limiter.settleLedger().buckets).toEqual(before);
});

it('writes the ledger before the first request, and only the last document is complete', async () => {
  const clock = new VirtualClock(NOW);
  const [order, lacks]: [string[], unknown[]] = [[], []];
  const documents: Documents = {
    load: async () => undefined,
    async save(name, value) {
      const { buckets } = value as Ledger;
      await clock.sleep(1_000);
      order.push(name);
      if (name === LEDGER) lacks.push(Object.values(buckets)[0]?.lacksMs);
    },
    close: async () => undefined,
  };
  const outside = sending(async () => {
    order.push('request');
    return writtenAnswer({ status: 503 });
  });
  const starting = startInProcess({ settings: { config: defaultConfig(), key: 'k' }, clock, documents, outside });
  const exporter = await settled(clock, starting);
  await clock.advance(1_500);
  await settled(clock, exporter.stop());
  expect(order.filter((name) => name === LEDGER || name === 'request').slice(0, 2)).toEqual([LEDGER, 'request']);
  expect(lacks).toEqual([5_000, undefined]);
});

it('hides the key where an answer repeats it, in upper or lower case', async () => {
  const [clock, key] = [new VirtualClock(NOW), 'S3cr3t-K3y"+.'];
  const headers = { 'content-type': `text/${key.toLowerCase()}`, 'x-other': [key] };
  const answers = [
    { status: 405, headers },
    { status: 403, headers: { ...headers, 'ratelimit-bucket': `of ${key}`, 'x-ratelimit-limit-second': '5' } },
  ];
  const outside = sending(async () => writtenAnswer(answers.shift() ?? { status: 200 }));
  const settings = () => ({ config: defaultConfig(), key });
  const { api, limiter } = openClient({ settings, clock, ledger: emptyLedger(), outside });
  const ask = () => settled(clock, api.request(requestTo('machine_names', {}), noSignal()));
  await expect(ask()).rejects.toThrow('(status 405, text/API-KEY-HIDDEN, not from the service)');
  await expect(ask()).rejects.toThrow('machine_names: forbidden (status 403)');
  expect(Object.keys(limiter.settleLedger().buckets)).toEqual(['ofAPI-KEY-HIDDEN']);
});
