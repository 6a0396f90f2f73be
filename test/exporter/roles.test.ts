import { expect, it } from 'vitest';
import { emptyLedger, withKey } from '../../src/budget/ledger.ts';
import { fingerprintOf, NO_DOCUMENTS } from '../../src/exporter/state.ts';
import { LeaseLost, type Replica, type ReplicaEvents } from '../../src/toolkit/state/replica.ts';
import { logLines } from '../support/log/log-lines.ts';
import { sending, startInProcess } from '../support/programs/served-exporter.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
import { MINUTE, NOW } from '../support/time/timing.ts';
import { VirtualClock } from '../support/time/virtual-clock.ts';
import { atTheEnd } from '../support/vitest/cleanup.ts';

const KEY = 'k';

/** An exporter that leads when the test says so. `ledger`: the document that another process left. */
async function setUp(ledger: unknown = undefined, isReplica = true) {
  const clock = new VirtualClock(NOW);
  const role = { leads: false };
  let requests = 0;
  let events: ReplicaEvents | undefined;
  const written = new Map<string, unknown>();
  const writing = { gate: Promise.resolve() };
  const documents = {
    ...NO_DOCUMENTS,
    load: async (name: string) => (name === 'ledger' ? ledger : undefined),
    save: (name: string, value: unknown) => writing.gate.then(() => void written.set(name, value)),
  } as typeof NO_DOCUMENTS;
  const replica = {
    ...documents,
    start: async (given: ReplicaEvents) => {
      events = given;
    },
    leads: () => role.leads,
    checkLead: () => role.leads,
    heartbeatAt: Number.POSITIVE_INFINITY,
    resign: () => undefined,
  } as unknown as Replica;
  const settings = { config: defaultConfig(), key: KEY };
  const { log, lines } = logLines();
  const reading = { gate: Promise.resolve() };
  const exporter = await startInProcess({
    settings,
    readAgain: () => reading.gate.then(() => settings),
    clock,
    log,
    documents,
    ...(isReplica && { replica }),
    outside: sending(() => {
      requests += 1;
      return Promise.reject(new Error('made up'));
    }),
  });
  atTheEnd(() => exporter.stop());
  return {
    clock,
    exporter,
    said: (message: string) => lines.filter(({ level, msg }) => level === 'error' && msg === message).length,
    shown: () => Buffer.concat(exporter.metrics('text', false)).toString(),
    reading,
    written,
    writing,
    requests: () => requests,
    follow: (name: string, value: unknown) => events?.onDocument(name, value),
    lead: () => {
      role.leads = true;
      events?.onLead();
    },
    lapse: () => {
      role.leads = false;
      events?.onLapse();
    },
  };
}

it('polls only while it leads, and shows at once when it leads no more', async () => {
  const { clock, shown, requests, lead, lapse } = await setUp();
  await clock.advance(5 * MINUTE);
  expect(requests()).toBe(0);
  lead();
  await clock.advance(1_000);
  // The replica that led before may have used this second.
  expect(requests()).toBe(0);
  // Long before the next rendering that nothing causes.
  await clock.advance(5 * MINUTE + 2_000);
  const led = requests();
  expect(led).toBeGreaterThan(0);
  lapse();
  await clock.advance(1_000);
  expect(shown()).toContain('beaconchain_exporter_leader 0\n');
  await clock.advance(5 * MINUTE);
  expect(requests()).toBe(led);
});

it('a leader writes the whole ledger when it stops', async () => {
  const { clock, exporter, written, lead } = await setUp();
  lead();
  await clock.advance(MINUTE);
  const mayLack = (): boolean => JSON.stringify(written.get('ledger')).includes('lacksMs');
  expect(mayLack()).toBe(true);
  await exporter.stop();
  expect(mayLack()).toBe(false);
});

it('shows what the next leader wrote, although its own last write is still in progress', async () => {
  const { clock, shown, writing, lead, lapse, follow } = await setUp();
  const { promise, reject } = Promise.withResolvers<void>();
  lead();
  await clock.advance(500);
  writing.gate = promise;
  await clock.advance(MINUTE);
  lapse();
  const days = { failuresInARow: 0, durationMs: 0, lastAttemptAt: NOW };
  follow('daily_returns-mainnet', { value: {}, reads: { days }, refusals: {}, leftOut: [] });
  reject(new LeaseLost());
  await clock.advance(MINUTE);
  expect(shown()).toContain('beaconchain_source_up{source="daily_returns",chain="mainnet"} 1\n');
});

it.each([
  ['start', false],
  ['takeover', true],
])('sends nothing after a %s soon after access was revoked, and says why', async (_, isReplica) => {
  const ledger = withKey(emptyLedger(), fingerprintOf(KEY), NOW);
  const since = NOW + MINUTE;
  const key = { ...ledger.key, standing: 'revoked', since };
  const { clock, requests, lead, said } = await setUp({ ...ledger, key }, isReplica);
  await clock.advance(12 * MINUTE);
  lead();
  await clock.advance(5 * MINUTE);
  expect(requests()).toBe(0);
  expect(said('the service revoked access')).toBe(1);
});

it('a lease lost and taken again during a reload does not block the next reload', async () => {
  const { clock, exporter, reading, lead, lapse } = await setUp();
  const { promise, resolve } = Promise.withResolvers<void>();
  reading.gate = promise;
  const slow = exporter.reload();
  await clock.advance(10);
  lead();
  lapse();
  lead();
  resolve();
  expect(await slow).toBeUndefined();
  await clock.advance(100);
  expect(await exporter.reload()).toBeUndefined();
});
