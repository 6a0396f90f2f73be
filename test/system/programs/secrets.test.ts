import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { seriesOf } from '../../support/exposition/exposition-text.ts';
import type { Fault } from '../../support/faults/fault-server.ts';
import { CONNECTION_FAULTS, echo } from '../../support/faults/faults.ts';
import { startService } from '../../support/faults/service.ts';
import { temporaryFolder } from '../../support/files/files.ts';
import { formsOf, leaksOf } from '../../support/log/key-forms.ts';
import { ask, scrape } from '../../support/network/ask.ts';
import { asking, portOf, preloaded, startServe, waitFor } from '../../support/programs/program.ts';

/** Every character that a key may have and that JSON, HTML, shells, URLs or patterns treat specially. */
const KEY = `k3y!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`;
/** Lets the program crash on a signal, as a mistake in it would. */
const CRASHER = "process.on('SIGUSR2', () => setImmediate(() => { throw new Error('made to crash'); }));";

const FAULTS: [string, Fault][] = [
  ['invalid_body', echo(200)],
  ['bad_request', echo(400)],
  ['network', CONNECTION_FAULTS['not HTTP']],
  ['server_error', echo(500)],
  // The last: ten minutes of silence follow.
  ['unauthorized', echo(401)],
];

it('no log, page, file, list of processes, error or crash shows the key, whatever fails', async () => {
  const service = await startService(KEY, { plan: { perSecond: 100 } });
  const dir = join(temporaryFolder(), 'state');
  const often = '{interval: 1s}';
  const program = startServe(
    `${asking(service.url)}state: {dir: "${dir}"}\n` +
      `machines: ${often}\nslashings: ${often}\ndaily_returns: ${often}\nsync_committee: ${often}\n`,
    KEY,
    preloaded(CRASHER),
  );
  const port = await portOf(program);
  const failures = async (reason: string): Promise<number> =>
    seriesOf(await scrape(port))
      .filter(({ name, labels }) => name === 'beaconchain_api_request_failures_total' && labels['reason'] === reason)
      .reduce((sum, { value }) => sum + value, 0);

  await waitFor(() => expect(service.requests.length).toBeGreaterThan(4));
  for (const { headers } of service.requests)
    expect([headers['apikey'], headers.authorization]).toContain(
      headers['apikey'] === undefined ? `Bearer ${KEY}` : KEY,
    );
  const places: Record<string, string> = {};
  for (const [i, [reason, fault]] of FAULTS.entries()) {
    const before = await failures(reason);
    await service.suffer(fault);
    await waitFor(async () => expect(await failures(reason)).toBeGreaterThan(before));
    for (const path of ['/metrics', '/', '/-/healthy', '/-/ready']) {
      places[`${path} ${i}`] = (await ask(port, path)).body.toString();
    }
    await service.suffer(undefined);
  }
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    // '' where it has ended meanwhile.
    places[`process ${pid}`] = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  }
  program.child.kill('SIGUSR2');
  expect((await program.ended).code).not.toBe(0);
  expect(program.stderr).toContain('made to crash');
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    if (entry.isFile()) places[entry.name] = readFileSync(join(dir, entry.name), 'utf8');
  }
  expect(Object.keys(places)).toContain('machines.json');
  expect(leaksOf(KEY, { ...places, output: program.output })).toEqual([]);
});

it('a leaked key is found in any form', () => {
  const encoded = Buffer.from(`Bearer ${KEY}\n`);
  const texts = [KEY, JSON.stringify({ KEY }), encodeURIComponent(`x=${KEY}`), encoded.toString('hex')];
  for (const text of texts) expect(leaksOf(KEY, { text }), text).not.toEqual([]);
  for (const before of ['', 'a', 'ab', 'abc', 'Bearer ', 'user:']) {
    expect(leaksOf(KEY, { text: Buffer.from(`${before}${KEY}`).toString('base64') }), before).not.toEqual([]);
  }
  for (const form of formsOf(KEY)) expect(form.length).toBeGreaterThan(30);
  expect(leaksOf(KEY, { text: 'nothing of it' })).toEqual([]);
});
