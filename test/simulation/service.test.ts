import { describe, expect, test } from 'vitest';
import { isRevoked, readHeaders } from '../../src/budget/headers.ts';
import { DailyReturns } from '../../src/sources/daily-returns/schema.ts';
import { Machines } from '../../src/sources/machines/schema.ts';
import { Slashings } from '../../src/sources/slashings/schema.ts';
import { SyncCommittee } from '../../src/sources/sync-committee/schema.ts';
import { countersIn, truthOf, truthOfEpochs } from '../support/chain-truth.ts';
import { configured } from '../support/month.ts';
import { DAY, HOUR, NOW } from '../support/timing.ts';
import { Random } from './random.ts';
import { BODY_FAULTS } from './service/disturbances.ts';
import { drawNetwork } from './service/network.ts';
import { Program } from './service/program.ts';
import { FINALIZED } from './service/requests.ts';
import { Service } from './service/service.ts';
import { calmSetting, drawService, type ServiceSetting } from './service/setting.ts';

const ARRAYS = ['system', 'validator', 'node'] as const;

describe('the program against the service of the simulation', () => {
  test('in calm everything is read, and the counters are those of the chain', async () => {
    const setting = calmSetting({ liveliness: 1, machines: ['m0', 'm1', '__proto__'] });
    const program = await ranFor(4 * HOUR, setting);
    await expectTruth(program);
    const { requests } = program.service.records;
    expect(requests.filter(({ status, deliveredAt }) => status !== 200 || deliveredAt === undefined)).toEqual([]);
    expect(program.invalid).toEqual({});
  });

  test('odd records are dropped without harm to the others', async () => {
    const odd = { machines: 0.1, rows: 0.1, slashings: 0.3, days: 0.3, seats: 0.3 };
    const program = await ranFor(4 * HOUR, calmSetting({ liveliness: 1, odd }));
    await expectTruth(program);
    expect(Object.keys(program.invalid)).toEqual(expect.arrayContaining(['machine_metrics', 'epoch_slots']));
  });

  test.each([1, 2, 3])('after disturbances everything becomes right again (seed %s)', async (seed) => {
    const random = new Random(seed, 'disturbances');
    const setting = { ...drawService(random.fork('service')), plan: { perSecond: 2, perMonth: 200_000 } };
    const network = drawNetwork(random.fork('network'));
    const program = new Program({ setting, sources: configured(), start: NOW, network });
    for (let i = 0; i < 8; i += 1) {
      await program.clock.advance(HOUR / 2);
      disturb(program, random);
    }
    await expectTruth(program);
  });
});

describe('the service of the simulation', () => {
  test('a setting is plain data, and the same seed gives the same answers', () => {
    for (let seed = 1; seed <= 10; seed += 1) {
      const setting = drawService(new Random(seed, 'setting'));
      expect(JSON.parse(JSON.stringify(setting))).toEqual(setting);
      expect(answersOf(setting)).toEqual(answersOf(setting));
    }
  });

  test.each([
    ['all', { second: 3, minute: 1_000, hour: 1_000, day: 1_000, month: 1_000 }],
    ['extended', { second: 3, minute: 1_000, hour: 1_000, day: 1_000, month: 1_000 }],
    ['basic', { second: 3 }],
    ['fallback', {}],
    ['none', {}],
  ] as const)('the program reads the limits in %s headers', (sent, limits) => {
    const service = serviceOf({ plan: { perSecond: 3, perMonth: 1_000 }, headers: { sent, without: [] } });
    expect(readHeaders(service.handle(PERIOD, NOW).headers, NOW).limits).toEqual(limits);
  });

  test('the longest window that is exceeded refuses, and a refusal is refunded', () => {
    const service = serviceOf({ plan: { perSecond: 2, perMonth: 3 } });
    const refusals = [0, 1, 2, 2_000, 2_001].map((ms) => service.handle(PERIOD, NOW + ms));
    const windows = refusals.map(({ exchange }) => exchange.refusedBy);
    expect(windows).toEqual([undefined, undefined, 'second', undefined, 'month']);
    const { resetSeconds, remaining } = readHeaders(refusals[4]?.headers ?? {}, NOW);
    expect({ resetSeconds, left: remaining.month }).toEqual({ resetSeconds: secondsToMonthEnd(NOW + 2_001), left: 0 });
    service.account.spend(1, NOW + 2_001);
    expect(service.account.counted(NOW + 2_001).get('default')?.month).toEqual({ ours: 3, theirs: 1 });
    service.account.renew();
    expect(service.handle(PERIOD, NOW + 4_000).status).toBe(200);
  });

  test('a month can begin with the first request', () => {
    const service = serviceOf({ plan: { perSecond: 2, perMonth: 1 }, month: 'thirty_days' });
    const statuses = [0, 15 * DAY, 30 * DAY - 1, 30 * DAY].map((ms) => service.handle(PERIOD, NOW + ms).status);
    expect(statuses).toEqual([200, 429, 429, 200]);
  });

  test('revoked access, a wrong key and a plan without an endpoint are told apart', () => {
    const service = serviceOf({ members: false });
    const members = { ...FINALIZED, endpoint: 'sync_committee_members', path: '/api/v1/sync_committee/next' } as const;
    expect(service.handle(members, NOW).status).toBe(403);
    expect(service.handle({ ...FINALIZED, headers: { apikey: 'another' } }, NOW).status).toBe(401);
    service.account.isRevoked = true;
    const { status, headers } = service.handle(FINALIZED, NOW + 2_000);
    expect(isRevoked(status, headers)).toBe(true);
  });

  test('the view latest can be behind the finalized one', () => {
    const service = serviceOf({ plan: { perSecond: 10 } });
    const latest = { ...FINALIZED, path: '/api/v1/epoch/latest/slots' };
    const epochIn = (request: typeof latest): number => JSON.parse(service.handle(request, NOW).body).data[0].epoch;
    service.chain('mainnet', NOW).lag(4, 1, NOW + HOUR);
    expect(epochIn(latest)).toBeLessThan(epochIn(FINALIZED));
    expect(epochIn(latest)).toBeGreaterThan(epochIn(FINALIZED));
  });
});

const PERIOD = {
  endpoint: 'sync_committee',
  base: 'http://service',
  path: '/api/v2/ethereum/sync-committee',
  method: 'POST',
  headers: { authorization: 'Bearer key-0' },
  body: '{"sync_committee_period":{"view":"latest"},"chain":"mainnet"}',
} as const;

function serviceOf(changes: Partial<ServiceSetting>): Service {
  return new Service(calmSetting(changes), new Random(1, 'service'), NOW);
}

function secondsToMonthEnd(now: number): number {
  return Math.floor((Date.UTC(2026, 9, 1) - now) / 1_000);
}

/** The bodies and headers of some requests in a few hours. */
function answersOf(setting: ServiceSetting): unknown[] {
  const service = new Service(setting, new Random(setting.seed, 'service'), NOW);
  return Array.from({ length: 60 }, (_, i) => {
    const now = NOW + i * 300_000;
    const timestamp = { start: Math.floor(now / 1_000) - 300, end: Math.floor(now / 1_000) };
    const body = JSON.stringify({ range: { timestamp }, page_size: 10 });
    const machines = { ...PERIOD, endpoint: 'machine_metrics', path: '/api/v2/machine-metrics', body } as const;
    return [FINALIZED, machines, PERIOD].map((request) => service.handle(request, now));
  });
}

async function ranFor(ms: number, setting: ServiceSetting): Promise<Program> {
  const program = new Program({ setting, sources: configured(), start: NOW });
  await program.clock.advance(ms);
  return program;
}

/** Ends the disturbances, and compares what the program knows with what is true. */
async function expectTruth(program: Program): Promise<void> {
  const { service, clock } = program;
  service.calm(clock.now());
  program.network.calm();
  await clock.advance(3 * HOUR);
  await program.stop();
  const now = clock.now();
  expectChainTruth(program, now);
  const { machines } = Machines.parse(program.view('machines').entry.value);
  const readAt = program.view('machines').entry.lastAttemptAt ?? now;
  const seconds = (time: number | undefined): number => Math.floor((time ?? 0) / 1_000);
  for (const name of service.machines.names) {
    const known = machines.find((machine) => machine.name === name);
    for (const array of ARRAYS) {
      const newest = seconds(service.machines.newest(name, array, readAt)?.time);
      expect(Math.floor(known?.[array]?.timestamp ?? 0)).toBeGreaterThanOrEqual(newest);
    }
  }
  const { newest } = DailyReturns.parse(program.view('daily_returns-mainnet').entry.value);
  expect(newest?.day).toBe(service.periods.newestDay('mainnet', now));
  const { period } = SyncCommittee.parse(program.view('sync_committee-mainnet').entry.value);
  expect(period?.number).toBe(service.periods.period('mainnet', now));
}

/** The first epoch that counts is the one that was final at the first poll. */
function expectChainTruth(program: Program, now: number): void {
  const { records } = program.service;
  const state = Slashings.parse(program.view('slashings-mainnet').entry.value);
  const { chain } = program.service.chain('mainnet', now);
  const epochs = [...records.finalEpochsRead('a', 'mainnet').keys()].sort((a, b) => a - b);
  const read = new Set(records.slashingsRead('a', 'mainnet').keys());
  const { counters } =
    state.totals.skippedEpochs === 0 ? truthOf(chain, epochs[0] ?? 0, read) : truthOfEpochs(chain, epochs, read);
  expect(countersIn(state)).toEqual(counters);
}

/** Something of everything that can be ordered. */
function disturb({ service, network, clock }: Program, random: Random): void {
  const now = clock.now();
  const until = now + random.scale(1_000, HOUR);
  const view = service.chain('mainnet', now);
  const { account, disturbances, periods, machines } = service;
  const headers = { 'retry-after': random.pick(['0', '3', '3600', 'garbage']) };
  const events = [
    () => account.spend(random.scale(1, 1_000), now),
    () => account.renew(),
    () => disturbances.begin({ until, status: random.pick([500, 502, 503, 520]), body: random.pick(['html', 'none']) }),
    () => disturbances.refuse({ times: random.between(1, 5), headers, body: 'text' }),
    () => disturbances.spoil({ times: random.between(1, 30), how: random.pick(BODY_FAULTS) }),
    () => view.chain.orderSlashings(3),
    () => view.chain.orderOrphanedSlashing(random.between(0, 10)),
    () => view.chain.orderReorganisation(random.between(1, 90)),
    () => view.chain.stall(random.between(1, 8)),
    () => view.spoilRows(random.pick(['twice', 'shuffled']), until),
    () => view.lag(random.between(1, 6), random.between(1, 3), until),
    () => view.keepScheduled(now + HOUR / 3),
    () => periods.delayDay(random.scale(1_000, HOUR), now),
    () => periods.showOlderDay(until),
    () => periods.delayPeriod(random.scale(1_000, HOUR), until),
    () => machines.add(`new-${now}`, now),
    () => network.cut(until, random.pick(['refused', 'silent'])),
    () => network.disturb({ lostAfter: 0.2, slow: 0.2, brokenBody: 0.1, stalledBody: 0.05 }, until),
  ];
  for (const event of events) if (random.happens(0.2)) event();
}
