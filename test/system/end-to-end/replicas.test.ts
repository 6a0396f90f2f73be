import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { LeaseTimings } from '../../../src/toolkit/state/replica.ts';
import { seriesOf, seriesValue } from '../../support/exposition/exposition-text.ts';
import type { FaultServer } from '../../support/faults/fault-server.ts';
import { startService } from '../../support/faults/service.ts';
import { configFile, temporaryFolder } from '../../support/files/files.ts';
import { ask, scrape } from '../../support/network/ask.ts';
import { allUp, asking, portOf, type Running, SURROUNDINGS, start, waitFor } from '../../support/programs/program.ts';
import { type RedisServer, startRedis } from '../../support/tools/redis.ts';
import { areMissing, REDIS } from '../../support/tools/tools.ts';

const KEY = 'a-key-that-nobody-may-see';
const FAST_REPLICA = join(import.meta.dirname, 'fast-replica.ts');
/** Three times as fast as the real timings, and slow enough for a busy machine. */
const TIMINGS: LeaseTimings = { ttlMs: 3_000, marginMs: 900, heartbeatMs: 150, timeoutMs: 600 };
const GOOD = [200, 200, 200, 200];

/** One replica with an API of its own, which shows who sends requests. */
class Node {
  readonly api: FaultServer;
  readonly #redis: string;
  readonly process: Running;

  constructor(api: FaultServer, redis: string) {
    this.api = api;
    this.#redis = redis;
    this.process = start(process.execPath, [FAST_REPLICA, this.configure(), JSON.stringify(TIMINGS)], {
      cwd: temporaryFolder(),
      env: { ...SURROUNDINGS, BEACONCHAIN_API_KEY: KEY },
    });
  }

  configure(): string {
    return configFile(
      `${asking(this.api.url)}budget: {plan: scale}
machines: {interval: 1s}
slashings: {interval: 1s}
state: {redis: {url: "${this.#redis}"}}
web: {listen_address: "127.0.0.1:0"}
`,
    );
  }

  async metrics(): Promise<string> {
    return scrape(await portOf(this.process));
  }

  async value(name: string, labels = {}): Promise<number | undefined> {
    return seriesValue(await this.metrics(), `beaconchain_${name}`, labels);
  }

  async leads(isLeader: boolean): Promise<void> {
    await waitFor(async () => expect(await this.value('exporter_leader')).toBe(isLeader ? 1 : 0));
  }

  async statuses(): Promise<number[]> {
    const port = await portOf(this.process);
    return Promise.all(['/metrics', '/-/ready', '/-/healthy', '/'].map(async (path) => (await ask(port, path)).status));
  }
}

/** All series except those of one process. */
function sharedSeries(text: string): string[] {
  const own = /^(process_|nodejs_|beaconchain_exporter_)/;
  return seriesOf(text).flatMap(({ name, labels }) => (own.test(name) ? [] : [`${name} ${JSON.stringify(labels)}`]));
}

async function showTheSame(a: Node, b: Node): Promise<void> {
  await waitFor(async () => expect(sharedSeries(await b.metrics())).toEqual(sharedSeries(await a.metrics())));
}

/** In this order: each test begins with the leader that the one before it left. */
describe.skipIf(areMissing(REDIS))('system/end-to-end/replicas', () => {
  let redis: RedisServer;
  let a: Node;
  let b: Node;

  beforeAll(async () => {
    redis = await startRedis();
    a = new Node(await startService(KEY), redis.url);
    await a.leads(true);
    b = new Node(await startService(KEY), redis.url);
    await allUp(await portOf(b.process));
  });

  it('one replica polls, the other serves the same series without a request', async () => {
    await showTheSame(a, b);
    expect([await a.value('exporter_leader'), await b.value('exporter_leader')]).toEqual([1, 0]);
    expect([await a.statuses(), await b.statuses()]).toEqual([GOOD, GOOD]);
    const polledAt = () => b.value('source_last_attempt_timestamp_seconds', { source: 'machines' });
    const before = await polledAt();
    await waitFor(async () => expect(await polledAt()).toBeGreaterThan(before ?? 0));
    expect(a.api.requests.length).toBeGreaterThan(0);
    expect(b.api.requests).toEqual([]);
  });

  it('without Redis no replica polls, both serve their last values, and polling resumes with Redis', async () => {
    await redis.shutDown();
    await a.leads(false);
    const asked = a.api.requests.length;
    const shown = await a.value('source_last_success_timestamp_seconds', { source: 'machines' });
    expect([await a.statuses(), await b.statuses()]).toEqual([GOOD, GOOD]);
    expect(a.api.requests.length).toBe(asked);
    expect(b.api.requests).toEqual([]);
    await redis.start();
    for (const node of [a, b]) {
      await waitFor(async () => {
        expect(await node.value('source_last_success_timestamp_seconds', { source: 'machines' })).toBeGreaterThan(
          shown ?? 0,
        );
      });
    }
    // Whichever leads now.
    if ((await a.value('exporter_leader')) === 0) [a, b] = [b, a];
  });

  it('a leader that was paused sends at most one request more, and then follows', async () => {
    a.process.child.kill('SIGSTOP');
    await b.leads(true);
    const before = a.api.requests.length;
    a.process.child.kill('SIGCONT');
    await a.leads(false);
    const known = b.api.requests.length;
    await waitFor(() => expect(b.api.requests.length).toBeGreaterThan(known + 5));
    expect(a.api.requests.length - before).toBeLessThanOrEqual(2);
    await showTheSame(b, a);
  });

  it('a stopped leader hands over, and the next one requests nothing that is not due', async () => {
    const sent = await a.value('api_requests_total', { endpoint: 'daily_returns' });
    const isDaily = ({ path }: { path: string }): boolean => path.endsWith('/benchmark-store');
    const before = a.api.requests.filter(isDaily).length;
    expect(await b.process.stop()).toEqual({ code: 0, signal: null });
    await a.leads(true);
    const known = a.api.requests.length;
    await waitFor(() => expect(a.api.requests.length).toBeGreaterThan(known + 2));
    expect(await a.value('api_requests_total', { endpoint: 'daily_returns' })).toBe(sent);
    expect(a.api.requests.filter(isDaily)).toHaveLength(before);
  });
});
