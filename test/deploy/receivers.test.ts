import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createMailServer } from 'node:net';
import { join } from 'node:path';
import { text as read } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { temporaryFolder } from '../support/files/files.ts';
import { makeCertificate } from '../support/network/certificates.ts';
import { listen } from '../support/network/listen.ts';
import { waitFor } from '../support/programs/program.ts';
import { startAlertmanager } from '../support/tools/alertmanager.ts';
import { ALERTMANAGER, AMTOOL, areMissing, KUBECTL, OPENSSL, runTool } from '../support/tools/tools.ts';

const FOLDER = join(import.meta.dirname, '../../deploy/alertmanager');
const NAMES = readdirSync(join(FOLDER, 'receivers')).flatMap((file) => /^(.*)\.yml$/.exec(file)?.[1] ?? []);
const ACCEPTED = '{"ok": true, "result": {"chat": {}}}';
const SMTP: Record<string, string> = { EHLO: '250-mail\r\n250 AUTH PLAIN', AUTH: '235 ok', DATA: '354 go' };

/** What ntfy makes of the templates in the URL. kubectl knows the same templates, those of Go. */
function renderNtfy({ searchParams }: URL, body: string): string {
  const object = JSON.stringify({
    ...JSON.parse(body),
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'any' },
  });
  const output = `-o=go-template=${searchParams.get('t')}\n${searchParams.get('m')}`;
  return runTool(KUBECTL, ['label', '--local', '-f', '-', 'a=b', output], object).stdout;
}

/** The most characters of a field that the services take: https://discord.com/developers/docs/resources/message and others. */
const MOST: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  discord: { title: 256, description: 4_096 },
  ntfy: { body: 32_768, shown: 4_096 },
  pagerduty: { summary: 1_024 },
  pushover: { title: 250, message: 1_024, url: 512 },
  slack: { text: 40_000 },
  telegram: { text: 4_096 },
};

/** All texts of a message by their fields, and so everything that could be shown. */
function textsOf(name: string, url: URL, body: string): (readonly [field: string, text: string])[] {
  if (name === 'ntfy') return [['shown', renderNtfy(url, body)]];
  if (name === 'pushover') return [...new URLSearchParams(body || url.search)];
  const texts: (readonly [string, string])[] = [];
  JSON.parse(body, (field, value) => (typeof value === 'string' ? texts.push([field, value]) : value));
  return texts;
}

/** Why the service refuses a message. */
function refusalsOf(name: string, texts: readonly (readonly [field: string, text: string])[]): string[] {
  const tooLong = texts.filter(([field, { length }]) => length > (MOST[name]?.[field] ?? Number.POSITIVE_INFINITY));
  return tooLong.map(([field, { length }]) => `${name}: ${field} has ${length} characters`);
}

describe.skipIf(areMissing(ALERTMANAGER, AMTOOL, KUBECTL, OPENSSL))('deploy/alertmanager/receivers', () => {
  const secrets = temporaryFolder();
  /** As in Debian 12. It takes some tokens only inline. */
  const isOld = /version 0\.(?:1\d|2[0-7])\./.test(runTool(AMTOOL, ['--version']).stdout);

  /** The receiver of a file. Its token is the address of the stand-in, because some have a secret address for a token. */
  function filled(name: string, base: string): Record<string, unknown> {
    const [token, file] = [`${base}/${name}`, join(temporaryFolder(), name)];
    writeFileSync(file, token);
    const inline = /(\w+)_file: .*\n +# Alertmanager before 0\.28: \1: .*/g;
    const text = readFileSync(join(FOLDER, `receivers/${name}.yml`), 'utf8')
      .replace(inline, (both, key) => (isOld ? `${key}: "${token}"` : both))
      .replace(/\/etc\/prometheus\/[\w-]+/g, file);
    return parse(text.replace('https://ntfy.sh', `${base}/ntfy`))[0];
  }

  it.each(NAMES)('%s takes the place of its receiver in alertmanager.yml', (name) => {
    const shipped = parse(readFileSync(join(FOLDER, 'alertmanager.yml'), 'utf8'));
    const receiver = filled(name, 'http://localhost');
    Object.assign(
      shipped.receivers.find((one: { name: unknown }) => one.name === receiver['name']),
      receiver,
    );
    const file = join(secrets, `${name}.yml`);
    writeFileSync(file, stringify(shipped));
    expect(runTool(AMTOOL, ['check-config', file])).toMatchObject({ status: 0 });
  });

  const arrived = new Map<string, string>();
  const refused: string[] = [];
  let send: (alerts: readonly object[]) => Promise<void>;
  beforeAll(async () => {
    const web = createServer(async (request, response) => {
      const url = new URL(request.url ?? '', 'http://stand-in');
      const [, name = ''] = url.pathname.split('/');
      const body = await read(request);
      const texts = textsOf(name, url, body);
      const refusals = refusalsOf(name, [...texts, ['body', body]]);
      refused.push(...refusals);
      arrived.set(name, texts.map(([, text]) => text).join('\n'));
      response.writeHead(refusals.length > 0 ? 400 : 200, { 'Content-Type': 'application/json' }).end(ACCEPTED);
    });
    const base = `http://127.0.0.1:${await listen(web)}`;
    // The address of Pushover cannot be configured: a proxy leads to the stand-in.
    const tls = createTlsServer(makeCertificate(), (request, response) => {
      web.emit('request', Object.assign(request, { url: `/pushover${request.url}` }), response);
    });
    web.on('connect', (_, socket) => {
      socket.on('error', () => undefined).write('HTTP/1.1 200 OK\r\n\r\n');
      tls.emit('connection', socket);
    });
    const mail = createMailServer((socket) => {
      let session = '';
      // Alertmanager may leave with a reset. The text has arrived by then.
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        session += chunk;
        if (session.endsWith('\r\n.\r\n')) arrived.set('email', session.replaceAll('=\r\n', '').replaceAll('\r', ''));
        // Of the text, only the end is answered.
        if (session.includes('\r\nDATA\r\n') && !/\r\n(?:DATA|\.|QUIT)\r\n$/.test(session)) return;
        socket.write(`${SMTP[String(chunk).slice(0, 4)] ?? '250 ok'}\r\n`);
      });
      socket.write('220 mail\r\n');
    });
    const all = Object.assign({}, ...NAMES.map((name) => filled(name, base)));
    Object.assign(all.email_configs[0], { smarthost: `127.0.0.1:${await listen(mail)}`, require_tls: false });
    Object.assign(all.pagerduty_configs[0], { url: `${base}/pagerduty` });
    Object.assign(all.telegram_configs[0], { api_url: `${base}/telegram` });
    all.pushover_configs[0].http_config = { proxy_url: base, tls_config: { insecure_skip_verify: true } };
    const templates = [join(FOLDER, 'receivers/message.tmpl')];
    const route = {
      receiver: all.name,
      group_by: ['alertname'],
      group_wait: '1s',
      group_interval: '1s',
      // A busy machine takes seconds to take thousands, and Alertmanager gives up a message after group_interval.
      routes: [{ receiver: all.name, matchers: ['alertname="Of5000"'], group_wait: '10s', group_interval: '60s' }],
    };
    ({ send } = await startAlertmanager(stringify({ templates, route, receivers: [all] })));
  });

  /** Sends the alerts, and waits until every service shows its texts. */
  async function play(
    alerts: readonly object[],
    shown: (name: string) => (string | RegExp)[],
    hidden: RegExp,
  ): Promise<void> {
    arrived.clear();
    await send(alerts);
    await waitFor(() => {
      expect([...arrived.keys()].sort()).toEqual(NAMES);
      for (const [name, text] of arrived) for (const part of shown(name)) expect(text, name).toMatch(part);
    });
    for (const [name, text] of arrived) expect(text, name).not.toMatch(hidden);
    expect(refused).toEqual([]);
  }

  /** An alert with the longest texts that ours have. */
  function alertOf(alertname: string, machine: string, endsAt?: string): object {
    const group = Number(machine.slice(-1)) % 2 ? 'home' : 'office';
    const labels = { alertname, severity: 'critical', subject: 'machine', machine, group, job: 'noise' };
    const annotations = {
      summary: `Machine ${machine} (mainnet) is silent`,
      description: 'Check its power, network and clients. '.repeat(10),
      explorer_url: 'https://beaconcha.in/validator/12345',
      runbook_url: `http://a.test/docs/alerts#${alertname.toLowerCase()}`,
    };
    return { labels, annotations, endsAt };
  }

  it('each message says what, where, since when and what to do, and then that it is resolved', async () => {
    const summary = 'Machine node-1 (mainnet) is silent';
    const link = 'http://a.test/docs/alerts#one';
    const firing = [summary, /critical alert since .*\d\d:\d\d/, link, /Check its power/, /in\/validator\/12345/];
    await play([alertOf('One', 'node-1')], () => firing, /noise|Resolved/);
    const resolved = [`Resolved: ${summary}`, /alert from .*\d\d:\d\d.* to /];
    await play([alertOf('One', 'node-1', new Date().toISOString())], () => resolved, /noise|since/);
  });

  it.each([19, 100, 5_000])('each message about %i alerts names ten and counts the rest', async (count) => {
    const over = new Date().toISOString();
    const alerts = (isOver: (i: number) => boolean): object[] =>
      Array.from({ length: count }, (_, i) => alertOf(`Of${count}`, `node-${i}`, isOver(i) ? over : undefined));
    const firing = count - Math.ceil(count / 3);
    const shown = (name: string): (string | RegExp)[] => {
      if (name === 'ntfy') return [/^\d+ alerts or more: Machine node-\d*[^0]\b/, `and ${count - 10} more`];
      const groups = name === 'pushover' ? [] : [/^home: \d+$/m, /^office: \d+$/m];
      return [`${firing} alerts: Machine node-1 `, /Check its power/, `and ${firing - 10} more`, ...groups];
    };
    await play(
      alerts((i) => i % 3 === 0),
      shown,
      /Resolved: \d|Resolved: Machine node-0 .*\n.*since/,
    );
    // The next message about thousands would take another minute.
    if (count === 5_000) return;
    await play(
      alerts(() => true),
      () => [/Resolved: \d+ alerts/],
      /since/,
    );
  });
});
