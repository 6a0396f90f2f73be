import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Asked, ask } from '../../support/ask.ts';
import type { Respond } from '../../support/fault-server.ts';
import { listen } from '../../support/listen.ts';
import { machinesPage, nodeRecord, systemRecord } from '../../support/machine-records.ts';
import { portOf, startServe, waitFor } from '../../support/program.ts';
import { type PrometheusRange, startPrometheus } from '../../support/prometheus.ts';
import { startService } from '../../support/service.ts';
import { areMissing, PROMETHEUS } from '../../support/tools.ts';

const MINUTES = 10;
const START = Math.floor(Date.now() / 60_000) * 60_000 - (MINUTES + 4) * 60_000;

const CONFIG = `
machines: {interval: 1s, timestamps: true, stale_after: 1h}
daily_returns: {enabled: false}
slashings: {enabled: false}
sync_committee: {enabled: false}
`;

function recordsOf(machine: string, minute: number, second: number): { system: unknown; node: unknown } {
  const timestamp = START + minute * 60_000 + second * 1_000 + 123;
  return {
    system: systemRecord({ machine, timestamp, cpu_node_user_seconds_total: minute }),
    node: nodeRecord({ machine, timestamp: timestamp + 85, network_peers_connected: minute }),
  };
}

/**
 * Machines that push once a minute, one that stops, one whose clock is set back, one that says two things of a moment.
 * Their records say the minute in their values.
 */
function pushing(minuteNow: () => number): Respond {
  return ({ path }) => {
    if (!path.endsWith('/machine-metrics')) return undefined;
    const minute = minuteNow();
    const setBack = minute > 5 ? minute - 4 : minute;
    const pushes = [
      recordsOf('node-a', minute, 7),
      recordsOf('node-b', minute, 41),
      recordsOf('stops', Math.min(minute, 3), 20),
      recordsOf('set-back', setBack, 30),
      recordsOf('twice', minute, 50),
      recordsOf('twice', minute, 50),
    ];
    const node = pushes.map((push, i) =>
      i < 5 ? push.node : { ...(push.node as object), network_peers_connected: 99 },
    );
    const body = machinesPage({ system: pushes.map(({ system }) => system), node });
    const headers = { 'content-type': 'application/json', 'x-ratelimit-limit-second': '20' };
    return { status: 200, headers, body: JSON.stringify(body) };
  };
}

/** Serves the same bytes to everybody who takes gzip, and notes whether all did. */
async function serveAgain({ headers, body }: Asked): Promise<{ port: number; refused: () => number }> {
  let refused = 0;
  const server = createServer((request, response) => {
    if (!request.headers['accept-encoding']?.includes('gzip')) refused += 1;
    response.writeHead(200, { 'content-type': headers['content-type'], 'content-encoding': 'gzip' });
    response.end(body);
  });
  return { port: await listen(server), refused: () => refused };
}

/** Each member begins with a header of its own (RFC 1952, 2.3). */
function membersOf(gzipped: Buffer): number {
  return gzipped.toString('latin1').split('\x1f\x8b\x08\x00\x00\x00\x00\x00').length - 1;
}

describe.skipIf(areMissing(PROMETHEUS))('system/end-to-end/timestamps', () => {
  it('a real Prometheus takes ten minutes of pushes with their own times, and gzip members that are joined', async () => {
    let minute = 0;
    const api = await startService('key', { request: pushing(() => minute) });
    const program = startServe(`api: {base_url: "${api.url}"}\n${CONFIG}`, 'key');
    const port = await portOf(program);
    const accept = { accept: 'application/openmetrics-text', 'accept-encoding': 'gzip' };
    const scraped = await waitFor(async () => {
      const answer = await ask(port, '/metrics', { headers: accept });
      expect(gunzipSync(answer.body).toString()).toContain('beaconchain_machine_peers{');
      return answer;
    });
    const again = await serveAgain(scraped);
    const prometheus = await startPrometheus({ exporter: port, again: again.port }, { scrapeInterval: '1s' });

    const peers = async (name: string): Promise<PrometheusRange[]> => [
      ...(await prometheus.samples(`beaconchain_machine_peers{job="exporter",machine="${name}"}`)),
    ];
    // A minute lasts until Prometheus has it.
    for (; minute < MINUTES; minute += 1) {
      await waitFor(async () => {
        for (const name of ['node-a', 'twice']) {
          const [series] = await peers(name);
          expect(Number(series?.values.at(-1)?.[1]), name).toBe(minute);
        }
      });
    }

    for (const name of ['node-a', 'node-b', 'stops', 'set-back', 'twice']) {
      const [series, ...others] = await peers(name);
      expect(others).toEqual([]);
      const seconds = { 'node-a': 7, 'node-b': 41, stops: 20, 'set-back': 30, twice: 50 }[name] ?? 0;
      const minutes = (series?.values ?? []).map(([, value]) => Number(value));
      const times = minutes.map((minute) => (START + minute * 60_000 + seconds * 1_000 + 208) / 1_000);
      expect(
        series?.values.map(([time]) => time),
        name,
      ).toEqual(times);
      expect(new Set(minutes).size, name).toBe(minutes.length);
      expect(minutes.length, name).toBeGreaterThanOrEqual(name === 'stops' ? 1 : name === 'set-back' ? 4 : 8);
    }

    const complaints = (await prometheus.metrics()).match(/^prometheus_target_scrapes_sample_\w+ .*$/gm) ?? [];
    expect(complaints.length).toBeGreaterThanOrEqual(3);
    for (const line of complaints) expect(line).toMatch(/ 0$/);
    expect(prometheus.program.output).not.toMatch(/level=(warn|error).*(scrape|append|ingest|order|duplicate|bounds)/i);
    expect(await prometheus.query('min_over_time(up[1m]) < 1')).toEqual([]);

    expect(membersOf(scraped.body)).toBeGreaterThanOrEqual(3);
    expect(again.refused()).toBe(0);
    // Of the first member and of the last but the end mark.
    for (const family of ['beaconchain_machine_last_seen_timestamp_seconds', 'beaconchain_exporter_leader']) {
      expect((await prometheus.query(`${family}{job="again"}`)).length, family).toBeGreaterThan(0);
    }
  });
});
