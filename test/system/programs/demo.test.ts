import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ask } from '../../support/ask.ts';
import { atTheEnd } from '../../support/cleanup.ts';
import { listen } from '../../support/listen.ts';
import { portOf, Running, SURROUNDINGS, startExporter, waitFor } from '../../support/program.ts';

const LAST_SEEN = /^beaconchain_machine_last_seen_timestamp_seconds\{.*process="system"\} (\S+)$/gm;
const PROPOSALS = /^beaconchain_watched_proposals_total\{chain="(\w+)",status="(\w+)"\} (\S+)$/gm;
/** Two minutes of pushes may be missing; alerts begin at ten. */
const FRESH_SECONDS = 180;

describe('system/programs/demo', () => {
  it('begins with machines that are all well, so that the first alert is the one that somebody asked for', async () => {
    const port = await portOf(startExporter(['demo', '--web.listen-address=127.0.0.1:0']));
    const seen = await waitFor(async () => {
      const { body } = await ask(port, '/metrics', { headers: { accept: 'text/plain;version=0.0.4' } });
      const times = [...body.toString().matchAll(LAST_SEEN)].map(([, time]) => Number(time));
      expect(times).toHaveLength(5);
      return times;
    });
    expect(Date.now() / 1000 - Math.min(...seen)).toBeLessThan(FRESH_SECONDS);
  });

  it('shows proposals of watched validators on both chains from the start, none of them missed', async () => {
    const port = await portOf(startExporter(['demo', '--web.listen-address=127.0.0.1:0']));
    const proposals = await waitFor(async () => {
      const { body } = await ask(port, '/metrics', { headers: { accept: 'text/plain;version=0.0.4' } });
      const found = [...body.toString().matchAll(PROPOSALS)].map(([, chain, status, value]) => ({
        chain,
        status,
        value: Number(value),
      }));
      const proposed = found.filter(({ status, value }) => status === 'proposed' && value > 0);
      expect(proposed.map(({ chain }) => chain)).toEqual(['mainnet', 'hoodi']);
      return found;
    });
    expect(proposals).toHaveLength(6);
    for (const { status, value } of proposals) if (status !== 'proposed') expect(value).toBe(0);
  });

  it('says on its page that the data are simulated, and leads to no real validator or slot', async () => {
    const port = await portOf(startExporter(['demo', '--web.listen-address=127.0.0.1:0']));
    const page = await waitFor(async () => {
      const text = (await ask(port, '/')).body.toString();
      expect(text).toContain('<h2 id="verdict">Simulated data: Working</h2>');
      expect(text).toMatch(/slot \d+, epoch/);
      return text;
    });
    expect(page).not.toMatch(/href="[^"]*beaconcha\.in/);
  });

  it('prints the commands that the README shows, and the alerts that arrive', async () => {
    const demo = startExporter(['demo', '--web.listen-address=127.0.0.1:0']);
    await portOf(demo);
    const [, port] = await waitFor(() => {
      const match = /to http:\/\/localhost:(\d+)\/alerts are printed here/.exec(demo.stdout);
      if (!match) throw new Error(demo.output);
      return match;
    });
    const printed = demo.stdout.match(/curl .*$/gm)?.map((line) => line.replace(`:${port}/`, ':10033/'));
    const shown = readFileSync('README.md', 'utf8').match(/curl -X POST .*$/gm);
    expect(printed).toHaveLength(3);
    expect(printed).toEqual(shown?.map((line) => line.replace(/ +#.*/, '')));
    const body = JSON.stringify({ alerts: [{ status: 'firing', labels: { alertname: 'Any' } }] });
    const { status } = await fetch(`http://127.0.0.1:${port}/alerts`, { method: 'POST', body });
    expect(status).toBe(200);
    await waitFor(() => expect(demo.stdout).toMatch(/^\d\d:\d\d:\d\d ALERT firing Any$/m));
  });

  it('other machines reach it only if an address says so', async () => {
    for (const [host, other] of [
      ['', 'ECONNREFUSED'],
      ['0.0.0.0', 200],
    ] as const) {
      const demo = startExporter(['demo', `--web.listen-address=${host}:0`, `--sandbox.listen-address=${host}:0`]);
      const web = await portOf(demo);
      const [, orders] = await waitFor(() => /localhost:(\d+)\/alerts/.exec(demo.stdout) ?? expect.fail(demo.output));
      for (const url of [`${web}/-/healthy`, `${orders}/-/wake?machine=node-a`]) {
        const method = url.startsWith(`${web}/`) ? 'GET' : 'POST';
        expect((await fetch(`http://127.0.0.1:${url}`, { method })).status).toBe(200);
        // Another address of this machine, like that of its network card.
        const answer = await fetch(`http://127.0.0.2:${url}`, { method }).then(
          ({ status }) => status,
          ({ cause }) => cause.code,
        );
        expect(answer, url).toBe(other);
      }
    }
  });

  it('names the flag if the address of the simulated service is taken, or is none', async () => {
    const port = await listen(createServer());
    for (const [address, code, reason] of [
      [`:${port}`, 3, `the address 127.0.0.1:${port} is taken: choose another one with --sandbox.listen-address`],
      ['here', 2, '--sandbox.listen-address: expected host:port, :port or [::1]:port, got "here"'],
    ] as const) {
      const demo = startExporter(['demo', '--web.listen-address=127.0.0.1:0', `--sandbox.listen-address=${address}`]);
      expect([(await demo.ended).code, demo.stderr]).toEqual([code, `${reason}\n`]);
    }
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('%s to npm, which runs it, ends it too', async (signal) => {
    const env = {
      ...SURROUNDINGS,
      BEACONCHAIN_EXPORTER_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
      NPM_CONFIG_UPDATE_NOTIFIER: 'false',
    };
    // In a process group of its own, so that nothing is left where this fails.
    const child = spawn('npm', ['run', 'demo'], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    atTheEnd(() => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // All of the group have ended.
      }
    });
    const program = new Running(child);
    const port = await portOf(program);
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
    await expect(ask(port, '/-/healthy')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(program.lines('stopping')).toEqual([expect.objectContaining({ signal })]);
  });
});
