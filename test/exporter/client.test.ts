import { describe, expect, it } from 'vitest';
import { requestTo } from '../../src/api/endpoints.ts';
import { emptyLedger, Ledger } from '../../src/budget/ledger.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import { leased, openClient } from '../../src/exporter/client.ts';
import { type Documents, LEDGER } from '../../src/exporter/state.ts';
import { DEMO_KEY } from '../../src/sandbox/account.ts';
import { answer } from '../../src/sandbox/answer.ts';
import { Sandbox } from '../../src/sandbox/world.ts';
import { ConfigFile } from '../../src/sources/registry.ts';
import { LeaseLost } from '../../src/toolkit/state/replica.ts';
import { writtenAnswer } from '../support/answers/written-answer.ts';
import { sending, startInProcess } from '../support/programs/served-exporter.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
import { MINUTE, NOW, noSignal, SECOND } from '../support/time/timing.ts';
import { settled, VirtualClock } from '../support/time/virtual-clock.ts';

describe('exporter/client', () => {
  it('a request whose turn comes after the end of the lease does not leave, and costs nothing', async () => {
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

  it('its last ledger lacks no request, every other one those of five seconds', async () => {
    const clock = new VirtualClock(NOW);
    const lacks: (number | undefined)[] = [];
    const settings = () => ({ config: defaultConfig(), key: 'k' });
    const save = async ({ mayLackMs }: Ledger) => void lacks.push(mayLackMs);
    const { limiter, close } = openClient({ settings, clock, ledger: emptyLedger(), save });
    const permit = limiter.acquire({ route: 'any', priority: 'finalized_pass' }, noSignal());
    await clock.advance(10_000);
    await permit;
    expect(lacks).toEqual([5_000]);
    await close();
    expect(lacks).toEqual([5_000, 0]);
  });
});

it('exporter/client: nothing that an answer repeats of the key is shown, in any case of its letters', async () => {
  const [clock, key] = [new VirtualClock(NOW), 'S3cr3t-K3y+.'];
  const headers = { 'content-type': `text/${key.toLowerCase()}`, 'x-other': [key] };
  const answers = [
    { status: 405, headers },
    { status: 403, headers: { ...headers, 'ratelimit-bucket': `of ${key}`, 'x-ratelimit-limit-second': '5' } },
  ];
  const outside = sending(async () => writtenAnswer(answers.shift() ?? { status: 200 }));
  const settings = () => ({ config: defaultConfig(), key });
  const { api, limiter } = openClient({ settings, clock, ledger: emptyLedger(), outside });
  const failureOf = (): Promise<unknown> =>
    settled(
      clock,
      api.request(requestTo('machine_names', {}), noSignal()).catch(({ message }: Error) => message),
    );
  expect(await failureOf()).toBe(
    'machine_names: unexpected_status (status 405, text/API-KEY-HIDDEN, not from the service)',
  );
  expect(await failureOf()).toBe('machine_names: forbidden (status 403)');
  expect(Object.keys(limiter.settleLedger().buckets)).toEqual(['ofAPI-KEY-HIDDEN']);
});

/** A month of 2,000 requests at 5 a second, and an exporter whose processes are killed after so long, but for the last. */
async function lives(each: readonly number[]) {
  const clock = new VirtualClock(NOW);
  const config = ConfigFile.parse({ machines: { interval: '1s' } });
  const [sandbox, saved] = [new Sandbox(), new Map<string, string>()];
  let [sent, sentBeforeWrite] = [0, 0];
  for (const ms of each) {
    const life = { isOver: false, written: new Set<string>() };
    const documents: Documents = {
      load: async (name, schema) => schema.optional().parse(JSON.parse(saved.get(name) ?? 'null') ?? undefined),
      async save(name, value) {
        const text = JSON.stringify(value);
        await clock.sleep(SECOND);
        if (!life.isOver) saved.set(name, text);
        life.written.add(name);
      },
      close: async () => undefined,
    };
    const outside = sending(async ({ body = '', ...request }) => {
      if (life.isOver) return new Promise(() => undefined);
      sent += 1;
      sentBeforeWrite += Number(!life.written.has(LEDGER));
      const served = answer(sandbox, { ...request, body }, clock.now());
      const limits = { second: 5, hour: 2_000, month: 2_000 };
      const told = Object.entries(limits).flatMap(([name, limit]) => [
        [`x-ratelimit-limit-${name}`, String(limit)],
        [`x-ratelimit-remaining-${name}`, String(name === 'second' ? 0 : limit - sent)],
      ]);
      return writtenAnswer({ ...served, headers: Object.fromEntries(told) });
    });
    const starting = startInProcess({
      settings: { config, key: DEMO_KEY },
      clock,
      documents,
      outside,
    });
    await clock.advance(ms);
    if (ms === each.at(-1))
      await settled(
        clock,
        starting.then((exporter) => exporter.stop()),
      );
    life.isOver = true;
  }
  const { buckets } = Ledger.parse(JSON.parse(saved.get(LEDGER) ?? ''));
  return { sent, sentBeforeWrite, own: Object.values(buckets)[0]?.month?.own };
}

it.each([
  ['the first start is killed within 5 s', [4_000, 2 * MINUTE]],
  ['every start is, of many', [...Array(20).fill(4_000), 2 * MINUTE]],
] as const)('exporter/client: what it sent is booked as ours if %s', async (_, each) => {
  const { sent, own, sentBeforeWrite } = await lives(each);
  expect([own, sentBeforeWrite]).toEqual([sent, 0]);
});
