import { describe, expect, it } from 'vitest';
import { DEMO_KEY } from '../../src/sandbox/account.ts';
import { answer } from '../../src/sandbox/answer.ts';
import { Sandbox } from '../../src/sandbox/world.ts';
import { ConfigFile, SOURCE_NAMES } from '../../src/sources/registry.ts';
import { writtenAnswer } from '../support/answers/written-answer.ts';
import { sending, startInProcess } from '../support/programs/served-exporter.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
import { HOUR, MINUTE, NOW, SECOND } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';

const WAIT = 10 * MINUTE;

describe.each([
  ['fast', 11, 11],
  ['fast, and corrected meanwhile', 11, 0],
  ['slow', -11, -11],
  ['slow, and corrected meanwhile', -11, 0],
] as const)('exporter: the clock is %s', (_, before, after) => {
  it.each([401, 429])('a wait after a %i survives a restart, no shorter and at most twice as long', async (status) => {
    const clock = new VirtualClock(NOW);
    const [sent, saved]: [number[], Map<string, string>] = [[], new Map()];
    const send = async () => {
      sent.push(clock.monotonic());
      const date = new Date(NOW + clock.monotonic()).toUTCString();
      return writtenAnswer({ status, headers: { date, 'retry-after': `${WAIT / SECOND}` }, body: '{"error":"no"}' });
    };
    /** The processes of an exporter, one after the other. `sent`: when they send a request, which is always refused. */
    const start = () =>
      startInProcess({
        settings: { config: defaultConfig(), key: 'k' },
        clock,
        documents: {
          load: async (name, schema) => schema.optional().parse(JSON.parse(saved.get(name) ?? 'null') ?? undefined),
          save: async (name, value) => void saved.set(name, JSON.stringify(value)),
          close: async () => undefined,
        },
        outside: sending(send),
      });
    clock.step(before * MINUTE);
    const first = await start();
    await clock.advance(2 * MINUTE);
    await first.stop();
    const requests = sent.length;
    const waited = clock.monotonic() - (sent.at(-1) as number);
    clock.step((after - before) * MINUTE);
    const second = await start();
    await clock.advance(WAIT - waited - SECOND);
    expect(sent.length).toBe(requests);
    await clock.advance(WAIT + MINUTE);
    expect(sent.length).toBeGreaterThan(requests);
    await second.stop();
  });
});

/** Starts an exporter of one source whose clock is fast. The sandbox has the right time; its `Date` is wrong by `dateMs`. */
async function startOn(
  source: string,
  fastMs: number,
  told: (body: string, now: number) => void = () => undefined,
  dateMs = 0,
) {
  const clock = new VirtualClock(NOW);
  const sandbox = new Sandbox();
  clock.step(fastMs);
  // Watching validators is what enables their source.
  const others = SOURCE_NAMES.filter((name) => name !== 'validators').map((name) => [
    name,
    { enabled: name === source },
  ]);
  const only = { ...Object.fromEntries(others), validators: { watch: source === 'validators' ? ['1-2'] : [] } };
  const exporter = await startInProcess({
    settings: { config: ConfigFile.parse(only), key: DEMO_KEY },
    clock,
    outside: sending(async ({ body = '', ...request }) => {
      const now = NOW + clock.monotonic();
      told(body, now);
      const served = answer(sandbox, { ...request, body }, now);
      return writtenAnswer({ ...served, headers: { ...served.headers, date: new Date(now + dateMs).toUTCString() } });
    }),
  });
  return { clock, exporter };
}

describe('exporter: a clock is hours slow', () => {
  // A board without a clock chip boots with the time at which it was shut down.
  it.each([
    ...SOURCE_NAMES.map((source) => ['the exporter at its start', source, -23 * HOUR, 0] as const),
    ...(['machines', 'slashings', 'validators'] as const).map(
      (source) => ['a proxy, whose Date contradicts the answers', source, 0, -2 * HOUR] as const,
    ),
  ])('that of %s: believes the first answer to %s', async (_, source, fastMs, dateMs) => {
    const { clock, exporter } = await startOn(source, fastMs, undefined, dateMs);
    await clock.advance(30 * SECOND);
    const metrics = Buffer.concat(exporter.metrics('text', false)).toString();
    await exporter.stop();
    expect(metrics).toMatch(new RegExp(`^beaconchain_source_up\\{.*"${source}".*\\} 1$`, 'm'));
    expect(metrics.match(/^beaconchain_(api_invalid_records|source_failures)_total\{.*\} [1-9].*/gm)).toBeNull();
  });
});

describe('exporter: the clock is 40 s fast, which counts as right', () => {
  it('each sweep reads back to the last one by the clock of the service', async () => {
    const starts: number[] = [];
    const { clock, exporter } = await startOn('machines', 40 * SECOND, (body, now) => {
      const { machines, range } = JSON.parse(body);
      if (range && !machines) starts.push(now / SECOND - range.timestamp.start);
    });
    await clock.advance(10 * MINUTE);
    await exporter.stop();
    expect(starts.length).toBeGreaterThan(8);
    expect(Math.min(...starts)).toBeGreaterThan(60);
  });
});
