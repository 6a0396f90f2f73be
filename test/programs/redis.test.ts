import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scrape } from '../support/ask.ts';
import { seriesValue } from '../support/exposition-text.ts';
import { temporaryFolder } from '../support/files.ts';
import { freePort } from '../support/ports.ts';
import { portOf, startExporter, startServe, waitFor } from '../support/program.ts';
import { RedisServer, startRedis } from '../support/redis.ts';
import { startStubApi } from '../support/stub-api.ts';
import { areMissing, OPENSSL, REDIS, runTool } from '../support/tools.ts';

const KEY = 'a-key-that-nobody-may-see';
const PASSWORD = 'pass/word#that?nobody@may:see';

function config(url: string, redis: string): string {
  return `api: {base_url: "${url}"}\nchains: {mainnet: {v1_base_url: "${url}"}}\nstate: {redis: ${redis}}\n`;
}

/** A certificate for 127.0.0.1, and its key. */
function certificate(): { cert: string; key: string } {
  const folder = temporaryFolder();
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const request = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const subject = ['-subj', '/CN=redis.test', '-addext', 'subjectAltName=DNS:redis.test'];
  runTool(OPENSSL, ['req', ...request, ...subject, '-keyout', key, '-out', cert], '');
  return { cert, key };
}

describe.skipIf(areMissing(REDIS, OPENSSL))('programs/redis', () => {
  it('a server that cannot be reached at the start is refused in one line, without the URL', async () => {
    const port = await freePort();
    const program = startServe(config('http://127.0.0.1:1', `{url: "redis://:${KEY}@127.0.0.1:${port}"}`), KEY);
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expect(program.stderr).toBe('the state in Redis cannot be used: ECONNREFUSED\n');
    expect(program.output).not.toContain(KEY);
    expect(program.output).not.toContain('redis://');
  });

  it('a wrong password is refused in one line, and shown nowhere', async () => {
    const redis = await startRedis(['--save', '', '--requirepass', 'another']);
    const program = startServe(config('http://127.0.0.1:1', `{url: "${redis.url}", password: "${PASSWORD}"}`), KEY);
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expect(program.stderr).toBe('the state in Redis cannot be used: WRONGPASS\n');
    expect(program.output).not.toContain(PASSWORD);
  });

  it('a user with the rights of the documentation is enough', async () => {
    const redis = await startRedis(['--save', '']);
    const docs = readFileSync('docs/high-availability.md', 'utf8');
    const rights = /ACL SETUSER exporter on >\.\.\. ([^`]+)`/.exec(docs)?.[1] ?? '';
    await redis.command('ACL', 'SETUSER', 'exporter', 'on', `>${PASSWORD}`, ...rights.split(' '));
    const api = await startStubApi(KEY);
    const url = redis.url.replace('redis://', 'redis://exporter@');
    const program = startServe(config(api.url, `{url: "${url}", password: "${PASSWORD}"}`), KEY);
    const port = await portOf(program);
    await waitFor(async () => {
      expect(seriesValue(await scrape(port), 'beaconchain_source_up', { source: 'machines' })).toBe(1);
    });
    expect(program.output).not.toContain(PASSWORD);
  });

  it('keeps its state behind TLS and a password with any characters, under its prefix; check reads it', async () => {
    const { cert, key } = certificate();
    const plain = await startRedis(['--save', '']);
    await plain.kill();
    const port = await freePort();
    const tls = [
      '--tls-port',
      String(port),
      '--tls-cert-file',
      cert,
      '--tls-key-file',
      key,
      '--tls-auth-clients',
      'no',
    ];
    const redis = new RedisServer(plain.port, ['--save', '', ...tls]);
    await redis.start();
    await redis.command('CONFIG', 'SET', 'requirepass', PASSWORD);
    const api = await startStubApi(KEY);
    const tlsOf = `{ca_file: "${cert}", server_name: redis.test}`;
    const text = config(
      api.url,
      `{url: "rediss://127.0.0.1:${port}", password: "${PASSWORD}", prefix: "team:exporter", tls: ${tlsOf}}`,
    );
    const program = startServe(text, KEY);
    const served = await portOf(program);
    await waitFor(async () => {
      expect(seriesValue(await scrape(served), 'beaconchain_source_up', { source: 'machines' })).toBe(1);
    });
    const file = join(temporaryFolder(), 'config.yaml');
    writeFileSync(file, text);
    const check = startExporter(['check', `--config.file=${file}`], { BEACONCHAIN_API_KEY: KEY });
    expect(await check.ended).toEqual({ code: 0, signal: null });
    expect(check.stdout).toContain('as last learned by the daemon');
    expect(await program.stop()).toEqual({ code: 0, signal: null });
    expect(program.output).not.toContain(PASSWORD);
    expect(program.output).not.toContain('rediss://');
  });
});
