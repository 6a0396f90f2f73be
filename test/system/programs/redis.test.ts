import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scrape } from '../../support/ask.ts';
import { seriesValue } from '../../support/exposition-text.ts';
import { temporaryFolder } from '../../support/files.ts';
import { freePort } from '../../support/ports.ts';
import { portOf, start, startExporter, startServe, waitFor } from '../../support/program.ts';
import { connected, RedisServer, startRedis } from '../../support/redis.ts';
import { startService } from '../../support/service.ts';
import { areMissing, OPENSSL, REDIS, runTool } from '../../support/tools.ts';

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

/**
 * A node of a cluster, and its bus port. That port is given, because Redis adds 10,000 to its own by default, and may
 * find a connection there.
 */
async function startNode(...args: string[]): Promise<{ node: RedisServer; busPort: number }> {
  const busPort = await freePort();
  const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)];
  return { node: await startRedis(['--save', '', ...cluster, ...args]), busPort };
}

describe.skipIf(areMissing(REDIS, OPENSSL))('system/programs/redis', () => {
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
    expect(program.stderr).toBe('the state in Redis cannot be used: WRONGPASS, the user or the password is wrong\n');
    expect(program.output).not.toContain(PASSWORD);
  });

  const SUPPORTED = 'only a single server, or a primary with standbys behind one address, is supported';
  const refusals: [string, (redis: RedisServer) => Promise<unknown>, string][] = [
    [
      'that wants a password',
      (redis) => redis.command('CONFIG', 'SET', 'requirepass', PASSWORD),
      'NOAUTH, a password is required: set state.redis.password',
    ],
    [
      'whose user may not run scripts',
      (redis) => redis.command('ACL', 'SETUSER', 'default', '-@scripting'),
      'NOPERM, the user lacks a permission: docs/high-availability.md lists the permissions it needs',
    ],
    [
      'whose user may not write',
      (redis) => redis.command('ACL', 'SETUSER', 'default', '-@write'),
      'NOPERM, the user lacks a permission: docs/high-availability.md lists the permissions it needs',
    ],
    [
      'that has something else under our names',
      (redis) => redis.command('SET', 'beaconchain:revisions', 'x'),
      'WRONGTYPE, another program uses these key names: choose another state.redis.prefix',
    ],
  ];

  it.each(refusals)('a server %s is refused in one line that says so', async (_, spoil, why) => {
    const redis = await startRedis(['--save', '']);
    await spoil(redis);
    const program = startServe(config('http://127.0.0.1:1', `{url: "${redis.url}"}`), KEY);
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expect(program.stderr).toBe(`the state in Redis cannot be used: ${why}\n`);
  });

  it.each([
    ['without its slots', false],
    ['with all slots', true],
  ])('a cluster %s is refused in one line that says what is supported', async (_, hasSlots) => {
    const { node: redis } = await startNode();
    if (hasSlots) {
      await redis.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
      await waitFor(async () => expect(await redis.command('CLUSTER', 'INFO')).toContain('cluster_state:ok'));
    }
    const program = startServe(config('http://127.0.0.1:1', `{url: "${redis.url}"}`), KEY);
    expect(await program.ended).toEqual({ code: 1, signal: null });
    const word = hasSlots ? 'CROSSSLOT' : 'CLUSTERDOWN';
    expect(program.stderr).toBe(`the state in Redis cannot be used: ${word}, the server is a cluster: ${SUPPORTED}\n`);
  });

  it('a node of a cluster that has not the slot is refused as well', async () => {
    const { node: redis } = await startNode('--cluster-require-full-coverage', 'no');
    const { node: other, busPort } = await startNode();
    await other.command('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await redis.command('CLUSTER', 'MEET', '127.0.0.1', String(other.port), String(busPort));
    await waitFor(async () =>
      expect(await redis.command('CLUSTER', 'INFO')).toMatch(/cluster_state:ok[\s\S]*cluster_slots_ok:16384/),
    );
    const program = startServe(config('http://127.0.0.1:1', `{url: "${redis.url}", prefix: "{one}"}`), KEY);
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expect(program.stderr).toBe(`the state in Redis cannot be used: MOVED, the server is a cluster: ${SUPPORTED}\n`);
  });

  it('a sentinel is refused in one line that says what is supported', async () => {
    const redis = await startRedis(['--save', '']);
    const file = join(temporaryFolder(), 'sentinel.conf');
    const port = await freePort();
    const lines = [`port ${port}`, 'bind 127.0.0.1', `sentinel monitor primary 127.0.0.1 ${redis.port} 1`];
    writeFileSync(file, `${lines.join('\n')}\n`);
    start(REDIS.command, [file, '--sentinel']);
    await waitFor(() => connected(port));
    const program = startServe(config('http://127.0.0.1:1', `{url: "redis://127.0.0.1:${port}"}`), KEY);
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expect(program.stderr).toBe(
      `the state in Redis cannot be used: ERR, the server does not run scripts (it may be a Sentinel): ${SUPPORTED}\n`,
    );
  });

  it('a standby is refused in one line that says so', async () => {
    const primary = await startRedis(['--save', '']);
    const standby = await startRedis(['--save', '', '--replicaof', '127.0.0.1', String(primary.port)]);
    await waitFor(async () => expect(await standby.command('INFO', 'replication')).toContain('link_status:up'));
    const program = startServe(config('http://127.0.0.1:1', `{url: "${standby.url}"}`), KEY);
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expect(program.stderr).toBe(
      `the state in Redis cannot be used: READONLY, the server is a standby: state.redis.url must point to the primary\n`,
    );
  });

  it.each([
    [
      'signed by nobody known',
      { server_name: 'redis.test' },
      'DEPTH_ZERO_SELF_SIGNED_CERT, the certificate of the server is not trusted: set state.redis.tls.ca_file',
    ],
    [
      'of another name',
      { ca_file: true },
      'ERR_TLS_CERT_ALTNAME_INVALID, the certificate of the server is for another name: set state.redis.tls.server_name',
    ],
    [
      'that wants one of ours',
      { ca_file: true, server_name: 'redis.test', wantsOurs: true },
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED, a client certificate is required: set state.redis.tls.cert_file and key_file',
    ],
  ])('a server with a certificate %s is refused in one line that says so', async (_, given, why) => {
    const { cert, key } = certificate();
    const port = await freePort();
    const clients = 'wantsOurs' in given ? ['--tls-ca-cert-file', cert] : ['--tls-auth-clients', 'no'];
    await startRedis([
      '--save',
      '',
      '--tls-port',
      String(port),
      '--tls-cert-file',
      cert,
      '--tls-key-file',
      key,
      ...clients,
    ]);
    const tls = {
      ...('ca_file' in given ? { ca_file: cert } : {}),
      ...('server_name' in given ? { server_name: given.server_name } : {}),
    };
    const redis = JSON.stringify({ url: `rediss://127.0.0.1:${port}`, tls });
    const program = startServe(config('http://127.0.0.1:1', redis), KEY);
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expect(program.stderr).toBe(`the state in Redis cannot be used: ${why}\n`);
  });

  it('a user with the rights of the documentation is enough', async () => {
    const redis = await startRedis(['--save', '']);
    const docs = readFileSync('docs/high-availability.md', 'utf8');
    const rights = /ACL SETUSER exporter on >\.\.\. ([^`]+)`/.exec(docs)?.[1] ?? '';
    await redis.command('ACL', 'SETUSER', 'exporter', 'on', `>${PASSWORD}`, ...rights.split(' '));
    const api = await startService(KEY);
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
    const api = await startService(KEY);
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
    expect(check.stdout).toContain('as last reported to the daemon');
    expect(await program.stop()).toEqual({ code: 0, signal: null });
    expect(program.output).not.toContain(PASSWORD);
    expect(program.output).not.toContain('rediss://');
  });
});
