import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startService } from '../../support/faults/service.ts';
import { configFile, temporaryFolder } from '../../support/files/files.ts';
import { listen } from '../../support/network/listen.ts';
import { ANY_PORT, preloaded, ran, start, startExporter, waitFor } from '../../support/programs/program.ts';

const KEY = 'a-key-that-nobody-may-see';

it.each([
  ['--help', /\bserve\b[\s\S]*\bdemo\b[\s\S]*--config\.file/],
  ['--version', /^beaconchain-exporter \d+\.\d+\.\d+( \([0-9a-f]+\))?\n$/],
])('%s prints to stdout and exits with 0', async (flag, text) => {
  expect(await ran([flag])).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(text) });
});

it.each([
  ['start', 'node', '20.1.0', '20.1.0'],
  ['demo', 'node', '20.1.0', '20.1.0'],
  ['start', 'bun', '1.4.5', 'Bun 1.4.5'],
  ['demo', 'deno', '2.9.6', 'Deno 2.9.6'],
])('npm run %s on %s %s says which Node it needs', async (name, runtime, number, shown) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const bin = temporaryFolder();
  // It knows no newer options, like an old one.
  const version = `Object.defineProperty(process.versions, "${runtime}", { value: "${number}" });`;
  const imported = preloaded(version)['NODE_OPTIONS'];
  const old = `case $1 in -*) echo "bad option: $1" >&2; exit 9;; esac\nexec ${process.execPath} '${imported}' "$@"\n`;
  writeFileSync(join(bin, 'node'), `#!/bin/sh\n${old}`, { mode: 0o755 });
  const program = start('sh', ['-c', scripts[name]], { env: { PATH: `${bin}:${process.env['PATH']}` } });
  expect((await program.ended).code).toBe(1);
  expect(program.output).toBe(`beaconchain-exporter needs Node 24 or newer; this is ${shown}\n`);
});

it.each([['--config.fil=x'], ['serv']])('%s is refused in one line on stderr, with exit code 2', async (...args) => {
  const { stderr, ...ended } = await ran(args, { BEACONCHAIN_API_KEY: KEY });
  expect(ended).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^[^\n]+\n$/);
});

it('serve without a key says in one line how to give one and that demo needs none, and exits with 1', async () => {
  const { stderr, ...ended } = await ran([]);
  expect(ended).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(stderr).toContain('BEACONCHAIN_API_KEY');
  expect(stderr.match(/demo/g)).toHaveLength(1);
});

it('serve listens on each of its addresses, or on none if one is taken', async () => {
  const api = await startService(KEY);
  const flags = ['--log.format=json', `--config.file=${configFile(`api: {base_url: "${api.url}"}\n`)}`];
  const env = { BEACONCHAIN_API_KEY: KEY, BEACONCHAIN_EXPORTER_WEB_LISTEN_ADDRESS: '127.0.0.1:0 [::1]:0' };
  const program = startExporter(['serve', ...flags], env);
  await waitFor(() => expect(program.lines('listening')).toHaveLength(2));
  for (const { address, port } of program.lines('listening')) {
    const url = `http://${address === '::1' ? '[::1]' : address}:${port}/-/healthy`;
    expect((await fetch(url)).status).toBe(200);
  }
  // What `systemctl status` and ps show in place of node.
  const shown = readFileSync(`/proc/${program.child.pid}/cmdline`, 'utf8');
  expect(shown).toMatch(/^beaconchain-exporter serve --log\.format=json --config\.file=/);
  expect(await program.stop()).toEqual({ code: 0, signal: null });
  const taken = `127.0.0.1:${await listen(createServer())}`;
  const refused = await ran(['serve', ...flags, ANY_PORT, `--web.listen-address=${taken}`], env);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toBe(
    `the address ${taken} is taken: choose another one with --web.listen-address or web.listen_address in the configuration\n`,
  );
  expect(refused.stdout).not.toContain('listening');
});
