import { writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LeaseTimings } from '../../../src/state/replica.ts';
import { ask } from '../../support/ask.ts';
import { seriesOf, seriesValue } from '../../support/exposition-text.ts';
import type { Fault, FaultServer } from '../../support/fault-server.ts';
import { tooMany } from '../../support/faults.ts';
import { portOf, waitFor } from '../../support/program.ts';
import { startService } from '../../support/service.ts';
import { areMissing, REDIS } from '../../support/tools.ts';
import { type Cluster, leads, lifeOf, metricsOf, type Node, startCluster } from './cluster.ts';

const KEY = 'a-key-that-nobody-may-see';
/** Three times as fast as real ones, on a machine that has much to do. */
const TIMINGS: LeaseTimings = { ttlMs: 3_000, marginMs: 900, heartbeatMs: 150, timeoutMs: 600 };
/** Compiling what was compiled before would take most of the time. */
const SOURCES = ['machines', 'daily_returns', 'slashings', 'sync_committee'];

function configOf(url: string, more = ''): string {
  return [
    `api: {base_url: "${url}"}`,
    `chains: {mainnet: {v1_base_url: "${url}"}}`,
    'budget: {plan: scale}',
    'machines: {interval: 1s}',
    'slashings: {interval: 1s}',
    more,
  ].join('\n');
}

/** Two replicas, each with an API of its own, so that it is seen who asks; the first leads. */
async function setUp(
  fault: Pick<Fault, 'request'> = {},
): Promise<{ cluster: Cluster; apis: FaultServer[]; a: Node; b: Node }> {
  const apis = [await startService(KEY, fault), await startService(KEY, fault)];
  const config = (i: number): string => configOf(apis[i]?.url ?? '');
  const cluster = await startCluster({ config, key: KEY, replicas: 2, timings: TIMINGS });
  onTestFinished(() => cluster.end());
  const [a, b] = cluster.nodes as [Node, Node];
  cluster.start(a);
  await cluster.waitForLeader();
  cluster.start(b);
  await portOf(lifeOf(b));
  return { cluster, apis, a, b };
}

async function value(node: Node, name: string, labels = {}): Promise<number | undefined> {
  return seriesValue(await metricsOf(node), `beaconchain_${name}`, labels);
}

async function allUp(node: Node): Promise<void> {
  await waitFor(async () => {
    const text = await metricsOf(node);
    for (const source of SOURCES) expect(seriesValue(text, 'beaconchain_source_up', { source }), source).toBe(1);
  });
}

async function statuses(node: Node): Promise<number[]> {
  const port = await portOf(lifeOf(node));
  return Promise.all(['/metrics', '/-/ready', '/-/healthy', '/'].map(async (path) => (await ask(port, path)).status));
}

const GOOD = [200, 200, 200, 200];

/** Everything but what belongs to one process, and what is of this moment. */
function sharedSeries(text: string): string[] {
  const own = /^(process_|nodejs_|beaconchain_exporter_)/;
  return seriesOf(text).flatMap(({ name, labels }) => (own.test(name) ? [] : [`${name} ${JSON.stringify(labels)}`]));
}

describe.skipIf(areMissing(REDIS))('system/end-to-end/replicas', () => {
  it('one polls, the other serves the same series without a request, and both are ready', async () => {
    const { apis, a, b } = await setUp();
    await allUp(b);
    await waitFor(async () => expect(sharedSeries(await metricsOf(b))).toEqual(sharedSeries(await metricsOf(a))));
    expect([await value(a, 'exporter_leader'), await value(b, 'exporter_leader')]).toEqual([1, 0]);
    expect([await statuses(a), await statuses(b)]).toEqual([GOOD, GOOD]);
    const polledAt = () => value(b, 'source_last_attempt_timestamp_seconds', { source: 'machines' });
    const before = await polledAt();
    await waitFor(async () => expect(await polledAt()).toBeGreaterThan(before ?? 0));
    expect(apis[0]?.requests.length).toBeGreaterThan(0);
    expect(apis[1]?.requests).toEqual([]);
  });

  it('a leader that is stopped hands over at once; the next asks for nothing that is not due', async () => {
    const { cluster, apis, a, b } = await setUp();
    await allUp(b);
    const sent = await value(b, 'api_requests_total', { endpoint: 'daily_returns' });
    await lifeOf(a).stop();
    await cluster.waitForLeader(a);
    await waitFor(async () => expect(await value(b, 'exporter_leader')).toBe(1));
    await waitFor(() => expect(apis[1]?.requests.length).toBeGreaterThan(0));
    expect(await value(b, 'api_requests_total', { endpoint: 'daily_returns' })).toBe(sent);
    expect(apis[1]?.requests.filter(({ path }) => path.includes('/api/v2/ethereum/benchmark-store'))).toEqual([]);
  });

  it('a leader that was paused sends at most what was in flight and one request, and follows', async () => {
    const { cluster, apis, a, b } = await setUp();
    await allUp(b);
    lifeOf(a).child.kill('SIGSTOP');
    await cluster.waitForLeader(a);
    const before = apis[0]?.requests.length ?? 0;
    lifeOf(a).child.kill('SIGCONT');
    await waitFor(async () => expect(await value(a, 'exporter_leader')).toBe(0));
    await waitFor(() => expect(apis[1]?.requests.length).toBeGreaterThan(5));
    expect((apis[0]?.requests.length ?? 0) - before).toBeLessThanOrEqual(2);
    await waitFor(async () => expect(sharedSeries(await metricsOf(b))).toEqual(sharedSeries(await metricsOf(a))));
  });

  it('while Redis is away nobody polls for longer than the lease, both serve what they have, and go on when it is back', async () => {
    const { cluster, apis, a, b } = await setUp();
    await allUp(b);
    await cluster.redis.shutDown();
    await waitFor(() => expect(leads(lifeOf(a))).toBe(false));
    const asked = apis[0]?.requests.length;
    await waitFor(async () => expect(await value(a, 'exporter_leader')).toBe(0));
    expect(await value(a, 'exporter_state_write_failures_total')).toBeGreaterThan(0);
    const shown = await value(a, 'source_last_success_timestamp_seconds', { source: 'machines' });
    expect([await statuses(a), await statuses(b)]).toEqual([GOOD, GOOD]);
    expect(apis[0]?.requests.length).toBe(asked);
    expect(apis[1]?.requests).toEqual([]);
    await cluster.redis.start();
    await cluster.waitForLeader();
    for (const node of [a, b]) {
      await waitFor(async () => {
        expect(await value(node, 'source_last_success_timestamp_seconds', { source: 'machines' })).toBeGreaterThan(
          shown ?? 0,
        );
      });
    }
  });

  it('a follower that reads another configuration keeps to it, and still asks for nothing', async () => {
    const { apis, b } = await setUp();
    await allUp(b);
    writeFileSync(
      b.file,
      `${configOf(apis[1]?.url ?? '', 'sync_committee: {enabled: false}')}
state: {redis: {url: "${b.network.url}"}}\nweb: {listen_address: "127.0.0.1:0"}\n`,
    );
    const reload = (): Promise<{ status: number }> =>
      portOf(lifeOf(b)).then((port) => ask(port, '/-/reload', { method: 'POST' }));
    expect((await reload()).status).toBe(200);
    expect(await value(b, 'source_up', { source: 'sync_committee' })).toBeUndefined();
    writeFileSync(
      b.file,
      `${configOf(apis[1]?.url ?? '')}
state: {redis: {url: "${b.network.url}"}}\nweb: {listen_address: "127.0.0.1:0"}\n`,
    );
    expect((await reload()).status).toBe(200);
    expect(await value(b, 'source_up', { source: 'sync_committee' })).toBe(1);
    expect(apis[1]?.requests).toEqual([]);
  });

  it('a takeover is no start by the operator: revoked access is not asked after', async () => {
    const zeros = { 'x-ratelimit-limit-second': '0', 'x-ratelimit-limit-month': '0' };
    const { cluster, apis, a, b } = await setUp(tooMany(zeros));
    await waitFor(async () => expect(await value(b, 'api_access_revoked')).toBe(1));
    await lifeOf(a).stop('SIGKILL');
    await cluster.waitForLeader(a);
    await waitFor(async () => expect(await value(b, 'exporter_leader')).toBe(1));
    expect(await value(b, 'api_access_revoked')).toBe(1);
    expect(await statuses(b)).toEqual(GOOD);
    expect(apis[1]?.requests).toEqual([]);
  });
});
