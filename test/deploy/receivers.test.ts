import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createMailServer } from 'node:net';
import { join } from 'node:path';
import { text as read } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
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

/** All strings of a message, and so everything that could be shown. */
function stringsOf(name: string, url: URL, body: string): string {
  if (name === 'ntfy') return renderNtfy(url, body);
  if (name === 'pushover') return [...new URLSearchParams(body || url.search).values()].join('\n');
  const strings: string[] = [];
  JSON.parse(body, (_, value) => (typeof value === 'string' ? strings.push(value) : value));
  return strings.join('\n');
}

describe.skipIf(areMissing(ALERTMANAGER, AMTOOL, KUBECTL, OPENSSL))('deploy/alertmanager/receivers', () => {
  const secrets = temporaryFolder();
  /** Debian 12 has such a one, which takes some tokens only inline. */
  const isOld = /version 0\.(?:1\d|2[0-7])\./.test(runTool(AMTOOL, ['--version']).stdout);

  /** The receiver of a file. Its token is the address of the stand-in, because some have a secret address for a token. */
  function filled(name: string, base: string): Record<string, unknown> {
    const [token, file] = [`${base}/${name}`, join(secrets, name)];
    writeFileSync(file, token);
    const inline = /(\w+)_file: .*\n +# Alertmanager before 0\.28: \1: .*/g;
    const text = readFileSync(join(FOLDER, `receivers/${name}.yml`), 'utf8')
      .replace(inline, (both, key) => (isOld ? `${key}: "${token}"` : both))
      .replace(/\/etc\/alertmanager\/[\w-]+/g, file);
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

  it('each says what, where, since when and what to do, then that it is over, and nothing else', async () => {
    const arrived = new Map<string, string>();
    const web = createServer(async (request, response) => {
      const url = new URL(request.url ?? '', 'http://stand-in');
      const [, name = ''] = url.pathname.split('/');
      arrived.set(name, stringsOf(name, url, await read(request)));
      response.setHeader('Content-Type', 'application/json').end(ACCEPTED);
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
    const route = { receiver: all.name, group_wait: '0s', group_interval: '1s' };
    const { port } = await startAlertmanager(() => stringify({ templates, route, receivers: [all] }));
    const labels = { alertname: 'BeaconchainMachineOffline', severity: 'critical', subject: 'machine', job: 'noise' };
    const [summary, link] = ['Machine node-a (mainnet) is silent', 'http://a.test/docs/alerts'];
    const annotations = { summary, description: 'noise', runbook_url: link };
    const play = async (endsAt: string | undefined, shown: (string | RegExp)[], hidden: RegExp): Promise<void> => {
      arrived.clear();
      const body = new Blob([JSON.stringify([{ labels, annotations, endsAt }])], { type: 'application/json' });
      await fetch(`http://127.0.0.1:${port}/api/v2/alerts`, { method: 'POST', body });
      await waitFor(() => expect([...arrived.keys()].sort()).toEqual(NAMES));
      for (const [name, text] of arrived) {
        for (const part of shown) expect(text, name).toMatch(part);
        expect(text, name).not.toMatch(hidden);
      }
    };
    await play(undefined, [summary, /critical alert since .*\d\d:\d\d/, link], /noise|Resolved/);
    await play(new Date().toISOString(), [`Resolved: ${summary}`, /alert from .*\d\d:\d\d.* to /], /noise|since/);
  });
});
