import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { seriesOf } from '../../support/exposition/exposition-text.ts';
import { ask, scrape } from '../../support/network/ask.ts';
import {
  ANY_PORT,
  ordersPort,
  portOf,
  type Running,
  ran,
  startExporter,
  waitFor,
} from '../../support/programs/program.ts';

/** Two minutes of pushes may be missing; alerts begin at ten. */
const FRESH_SECONDS = 180;

let demo: Running;
let port: number;
beforeAll(async () => {
  demo = startExporter(['demo', ANY_PORT]);
  port = await portOf(demo);
});

it('begins with healthy machines, so that only an order causes an alert', async () => {
  const seen = await waitFor(async () => {
    const times = seriesOf(await scrape(port)).filter(
      ({ name, labels }) =>
        name === 'beaconchain_machine_last_seen_timestamp_seconds' && labels['process'] === 'system',
    );
    expect(times).toHaveLength(5);
    return times.map(({ value }) => value);
  });
  expect(Date.now() / 1000 - Math.min(...seen)).toBeLessThan(FRESH_SECONDS);
});

it('shows proposals of watched validators on both chains from the start, and none missed', async () => {
  await waitFor(async () => {
    const proposals = seriesOf(await scrape(port)).filter(
      ({ name, value }) => name === 'beaconchain_watched_proposals_total' && value > 0,
    );
    expect(proposals.map(({ labels }) => labels)).toEqual([
      { chain: 'mainnet', status: 'proposed' },
      { chain: 'hoodi', status: 'proposed' },
    ]);
  });
});

it('says on its page that the data are simulated, and links to no real validator or slot', async () => {
  const page = await waitFor(async () => {
    const text = (await ask(port, '/')).body.toString();
    expect(text).toContain('<h2 id="verdict">Working</h2>');
    expect(text).toContain('Simulated data: ');
    expect(text).toMatch(/slot \d+, epoch/);
    return text;
  });
  expect(page).not.toMatch(/href="[^"]*beaconcha\.in/);
});

it('prints the commands that the README shows, and the alerts that arrive', async () => {
  const orders = await ordersPort(demo);
  const printed = demo.stdout.match(/curl .*$/gm)?.map((line) => line.replace(`:${orders}/`, ':10033/'));
  const shown = readFileSync('README.md', 'utf8').match(/curl -X POST .*$/gm);
  expect(printed).toHaveLength(3);
  expect(printed).toEqual(shown?.map((line) => line.replace(/ +#.*/, '')));
  const body = JSON.stringify({ alerts: [{ status: 'firing', labels: { alertname: 'Any' } }] });
  const { status } = await fetch(`http://127.0.0.1:${orders}/alerts`, { method: 'POST', body });
  expect(status).toBe(200);
  await waitFor(() => expect(demo.stdout).toMatch(/^\d\d:\d\d:\d\d ALERT firing Any$/m));
});

it('a second demo names both ports, and the flags for other ones', async () => {
  const orders = `127.0.0.1:${await ordersPort(demo)}`;
  const flags = [`--web.listen-address=127.0.0.1:${port}`, `--sandbox.listen-address=${orders}`];
  const { code, stderr } = await ran(['demo', ...flags]);
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: `the address ${orders} is taken: the demo needs 127.0.0.1:${port} and ${orders}, which another demo may have. For a second one add (npm: after --) --web.listen-address=:10132 --sandbox.listen-address=:10133\n`,
  });
});

it('other machines reach it only if its addresses allow that', async () => {
  const open = startExporter(['demo', '--web.listen-address=0.0.0.0:0', '--sandbox.listen-address=0.0.0.0:0']);
  for (const [program, other] of [
    [demo, 'ECONNREFUSED'],
    [open, 200],
  ] as const) {
    const web = await portOf(program);
    for (const url of [`${web}/-/healthy`, `${await ordersPort(program)}/-/wake?machine=node-a`]) {
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
