import { setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FailureReason } from '../../../src/api/errors.ts';
import { sourcesOf } from '../../../src/sources/registry.ts';
import { type Metrics, SOURCES } from '../../support/exposition/scraped-metrics.ts';
import { type Fault, FaultServer } from '../../support/faults/fault-server.ts';
import { FaultWorld, INTERVAL, STALE_AFTER } from '../../support/faults/fault-world.ts';
import {
  BETWEEN,
  BUSY,
  CONNECTION_FAULTS,
  DUPLICATES,
  echo,
  HANGS_IN_BODY,
  IMPOSSIBLE_VALUES,
  PORTAL,
  redirects,
  refusal,
  tooMany,
  UNREADABLE,
} from '../../support/faults/faults.ts';
import { makeCertificate } from '../../support/network/certificates.ts';
import { defaultConfig } from '../../support/runs/default-config.ts';
import { DAY, HOUR, MINUTE } from '../../support/time/timing.ts';
import { areMissing, OPENSSL } from '../../support/tools/tools.ts';

type World = Pick<FaultWorld, 'clock' | 'service'>;

/** A fault with a beginning and an end. */
interface Trouble {
  begin(world: World): unknown;
  end(world: World): unknown;
}

/** A fault, and what the exporter must do. */
interface Row {
  readonly fault: Fault | Trouble;
  /** The only reason of failures. `invalid`: invalid bodies or records. `any`: not checked. */
  readonly counts: FailureReason | 'invalid' | 'any';
  /** After the first answer no request is sent, so only one endpoint fails. */
  readonly closes?: true;
  /** The required wait, ms: at least and at most. Undefined: all is well again within an interval. */
  readonly waits?: readonly [number, number];
  /** What is read can be shown. */
  readonly shows?: true;
  /** Real ms. */
  readonly timeoutMs?: number;
  readonly isTls?: true;
}

/** The first that each source requests. */
const ENDPOINTS = sourcesOf(defaultConfig()).map(({ reads: [first] }) => first.endpoints[0]);
const LATE = { counts: 'timeout', timeoutMs: 100 } as const;
const trusted = makeCertificate();
const ofAnother = makeCertificate({ names: 'DNS:other.test' });

/** Another host, to which redirects lead. */
const stranger = new FaultServer({});
await stranger.listen();

const wire = (fault: Fault): Trouble => ({
  begin: ({ service }) => service.suffer(fault),
  end: ({ service }) => service.suffer(undefined),
});

/** Only the clock of the exporter is wrong, and is then corrected. */
const clockSet = (ms: number): Trouble => ({
  begin: ({ clock }) => clock.step(ms),
  end: ({ clock }) => clock.step(-ms),
});

/** The machine sleeps for a night, after which its connections are dead. */
const suspended: Trouble = {
  begin({ clock, service }) {
    clock.step(8 * HOUR);
    service.skip(8 * HOUR);
    service.muteConnections();
  },
  end: () => undefined,
};

function each(faults: Readonly<Record<string, Fault>>, expected: Omit<Row, 'fault'>): [string, Row][] {
  return Object.entries(faults).map(([name, fault]) => [name, { fault, ...expected }]);
}

/** If the answer names no wait, the exporter doubles its own wait four times in a row of this table. */
const blindly = { counts: 'rate_limited', closes: true, waits: [MINUTE, 8 * MINUTE] } as const;
const tls = { counts: 'network', isTls: true } as const;

const ROWS: [string, Row][] = [
  ...each(CONNECTION_FAULTS, { counts: 'network' }),
  ['hangs in the body', { fault: HANGS_IN_BODY, ...LATE }],
  ['TLS: signed by nobody', { fault: { credentials: makeCertificate() }, ...tls }],
  ['TLS: of another host', { fault: { credentials: ofAnother }, ...tls }],
  ...each(UNREADABLE, { counts: 'invalid_body' }),
  ...each(IMPOSSIBLE_VALUES, { counts: 'invalid', shows: true }),
  ['everything twice', { fault: DUPLICATES, counts: 'any', shows: true }],
  ['the request as the answer', { fault: echo(200), counts: 'invalid_body' }],
  ['status 302 to another host', { fault: redirects(302, stranger.url), counts: 'unexpected_status' }],
  ['status 503 that asks to wait', { fault: BUSY, counts: 'server_error' }],
  ...each(BETWEEN, { counts: 'unexpected_status' }),
  ["a portal's page with status 200", { fault: PORTAL, counts: 'invalid_body' }],
  ['status 404', { fault: refusal(404), counts: 'not_found' }],
  ['status 401', { fault: refusal(401), counts: 'unauthorized', closes: true, waits: [MINUTE, 10 * MINUTE] }],
  ['status 403', { fault: refusal(403), counts: 'forbidden', waits: [HOUR, HOUR] }],
  ['429 without headers', { fault: tooMany({}), ...blindly }],
  ['429 with a reset', { fault: tooMany({ 'ratelimit-reset': '420' }), ...blindly, waits: [7 * MINUTE, 7 * MINUTE] }],
  ['a clock an hour late', { fault: clockSet(-HOUR), counts: 'any', shows: true }],
  ['a clock a day early', { fault: clockSet(DAY), counts: 'any', shows: true }],
  ['suspended for a night', { fault: suspended, counts: 'any', shows: true, timeoutMs: 300 }],
];

function isCounted({ counts, closes }: Row, metrics: Metrics): boolean {
  const seen = ENDPOINTS.filter((endpoint) => {
    const reasons = metrics.reasons(endpoint);
    if (counts === 'invalid') return reasons.length > 0 || metrics.invalidRecords(endpoint) > 0;
    return reasons.includes(counts);
  });
  if (counts === 'any')
    return SOURCES.every((source) => metrics.value('beaconchain_source_attempts_total', source) > 0);
  return seen.length >= (closes ? 1 : ENDPOINTS.length);
}

describe.skipIf(areMissing(OPENSSL))('system/faults', () => {
  beforeAll(() => setDefaultCACertificates([trusted.cert, ofAnother.cert]));
  afterAll(() => stranger.close());

  it.each(ROWS)('%s', async (_, row) => {
    const { fault, counts, waits = [0, INTERVAL], timeoutMs = 5_000, isTls = false } = row;
    const trouble = 'begin' in fault ? fault : wire(fault);
    const most = Math.max(INTERVAL, waits[1]);
    const world = await FaultWorld.start({ timeoutMs, ...(isTls && { credentials: trusted }) }, trouble.begin);
    await world.until((metrics) => isCounted(row, metrics), MINUTE);
    await trouble.end(world);
    await world.until((metrics) => metrics.isWell(), most);

    // Once more, with something to show.
    const asked = world.service.requests.length;
    await trouble.begin(world);
    await world.pass(STALE_AFTER + MINUTE);
    if (!row.shows) expect((await world.look()).of('beaconchain_machine_cpu_cores')).toEqual([]);
    const times = world.service.requests.slice(asked).map(({ at }) => at);
    if (row.closes) expect(Math.min(...pausesIn(times))).toBeGreaterThanOrEqual(waits[0]);
    await trouble.end(world);
    await world.until((metrics) => metrics.isWell(), most);

    const metrics = await world.look();
    if (counts !== 'any') expect(metrics.reasons()).toEqual([counts === 'invalid' ? 'invalid_body' : counts]);
    expect(stranger.requests).toEqual([]);
    expect(await world.leaks()).toEqual([]);
  });
});

/** Between requests that did not leave together. */
function pausesIn(times: readonly number[]): number[] {
  const pauses = times.slice(1).map((at, i) => at - (times[i] ?? 0));
  return pauses.filter((ms) => ms > 5_000);
}
