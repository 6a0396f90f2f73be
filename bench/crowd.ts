import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent as PlainAgent, get as plainGet } from 'node:http';
import { Agent as SecureAgent, get as secureGet } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import bcrypt from 'bcryptjs';
import { tunables } from './built.ts';
import { Child } from './child.ts';
import { table, verdict } from './report.ts';
import { digits, summary } from './stats.ts';

const CROWDS = [
  'nobody else',
  'connections that say nothing',
  'headers byte by byte',
  'headers of 20 kB',
  '1,000 requests at once, answers not read',
  'downloads broken off',
  'scrapes at once',
  'passwords tried',
];
const LASTS_MS = 8_000;
const PAUSE_MS = 20;
const TARGET_MS = 100;

/** What an honest client waits for a gzipped scrape of 1,000 machines beside a crowd of bad ones. */
export async function benchCrowd(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    const rows: string[][] = [];
    for (const scheme of ['plain', 'tls'] as const) {
      const file = scheme === 'tls' ? [webConfig(folder)] : [];
      for (const crowd of CROWDS) {
        if (crowd === 'passwords tried' && scheme === 'plain') continue;
        rows.push(await beside(crowd, scheme, file));
      }
    }
    table(
      `A crowd: gzipped scrapes of 1,000 machines beside it; the target is ${TARGET_MS} ms at the 99th percentile`,
      ['over', 'beside', 'scrapes', 'median', '99th percentile', 'most memory', ''],
      rows,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function beside(crowd: string, scheme: 'plain' | 'tls', file: readonly string[]): Promise<string[]> {
  const server = new Child<number>('crowd-server.ts', { args: file, env: { GLIBC_TUNABLES: tunables() } });
  const port = await server.message();
  const scrape = scraper(port, scheme);
  // The first one has its password compared.
  await scrape();
  const others =
    crowd === CROWDS[0] ? undefined : new Child<number>('crowd-client.ts', { args: [crowd, `${port}`, scheme] });
  const clients = await others?.message();
  const times: number[] = [];
  for (const end = performance.now() + LASTS_MS; performance.now() < end; await setTimeout(PAUSE_MS)) {
    times.push(await scrape());
  }
  const memory = peakMemory(server.process.pid);
  await Promise.all([others?.stop(), server.stop()]);
  const { median, p99, count } = summary(times);
  return [
    scheme,
    clients === undefined ? crowd : `${clients} ${crowd}`,
    `${count}`,
    `${digits(median)} ms`,
    `${digits(p99)} ms`,
    memory,
    verdict(p99 <= TARGET_MS),
  ];
}

/** Milliseconds of a scrape over a connection that is kept open, as Prometheus does. */
function scraper(port: number, scheme: 'plain' | 'tls'): () => Promise<number> {
  const isSecure = scheme === 'tls';
  const agent = isSecure
    ? new SecureAgent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
    : new PlainAgent({ keepAlive: true, maxSockets: 1 });
  const get = isSecure ? secureGet : plainGet;
  const headers = { 'accept-encoding': 'gzip', ...(isSecure ? { authorization: PASSWORD } : {}) };
  return () =>
    new Promise((resolve, reject) => {
      const start = performance.now();
      const outgoing = get({ host: '127.0.0.1', port, path: '/metrics', agent, headers }, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`status ${answer.statusCode}`));
        answer.resume().on('error', reject);
        answer.on('end', () => resolve(performance.now() - start));
      });
      outgoing.on('error', reject);
    });
}

const PASSWORD = `Basic ${Buffer.from('prometheus:secret').toString('base64')}`;

/** With a certificate and a user of the usual cost. */
function webConfig(folder: string): string {
  const [cert, key, file] = ['cert.pem', 'key.pem', 'web.yml'].map((name) => join(folder, name));
  const { error, status } = spawnSync(
    'openssl',
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=bench -keyout ${key} -out ${cert}`.split(
      ' ',
    ),
  );
  if (error || status !== 0) throw new Error('openssl makes no certificate', { cause: error });
  const users = `basic_auth_users: {prometheus: ${bcrypt.hashSync('secret', 10)}}`;
  writeFileSync(file ?? '', `tls_server_config: {cert_file: ${cert}, key_file: ${key}}\n${users}\n`);
  return file ?? '';
}

/** Linux alone tells it. */
function peakMemory(pid = 0): string {
  const [, kiB] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return kiB === undefined ? 'unknown' : `${Math.round(Number(kiB) / 1024)} MiB`;
}
