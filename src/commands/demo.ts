import { isIPv6 } from 'node:net';
import * as z from 'zod';
import { NO_DOCUMENTS } from '../exporter/state.ts';
import { CHAIN_NAMES } from '../facts/chain.ts';
import { indicesOf, type Watch } from '../facts/watch.ts';
import { type SandboxAnswer, type SandboxRequest, textAnswer } from '../sandbox/answer.ts';
import { recipientOf } from '../sandbox/blocks.ts';
import { startSandbox } from '../sandbox/server.ts';
import { publicKeyOf } from '../sandbox/validator.ts';
import { Sandbox } from '../sandbox/world.ts';
import type { Config } from '../sources/registry.ts';
import { UsageError } from '../toolkit/flags/flags.ts';
import { systemClock } from '../toolkit/lib/clock.ts';
import { messageOf } from '../toolkit/lib/error-code.ts';
import { visible } from '../toolkit/lib/text.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { createServer } from '../toolkit/web/server.ts';
import { ADDRESS, addressText, type ListenAddress, parseListenAddress } from '../toolkit/yaml/fields.ts';
import { type Alerting, startAlerting } from './demo-alerting.ts';
import { type Running, type Start, startDaemon } from './serve.ts';

const SANDBOX_FLAG = '--sandbox.listen-address';
const SANDBOX_PORT = ':10033';
const SECOND = `--web.listen-address=:10132 ${SANDBOX_FLAG}=:10133`;
/** Four proposals of watched validators per epoch. */
const SLOTS_PER_WATCHED_PROPOSAL = 8;

/** Serves the simulated service. @throws UsageError */
export async function sandbox({ settings: { config }, access, log }: Start): Promise<Running> {
  const [{ host = '0.0.0.0', port } = { port: 0 }, another] = config.web.listenAddresses;
  if (another) throw new UsageError('the sandbox listens on one address: expected a single --web.listen-address');
  const service = await startSandbox({
    host,
    port,
    clock: systemClock,
    createServer: (listener) => createServer(listener, access),
  });
  const url = access?.isTls ? service.url.replace('http:', 'https:') : service.url;
  log.info({ url, hoodi: `${url}/hoodi`, key: service.sandbox.account.key }, 'simulated service');
  return { stop: () => service.close().then(() => access?.close()) };
}

/** Runs the exporter and a simulated service in one process, without a key or network. */
export async function demo(start: Start): Promise<Running> {
  const own = start.settings.config.web.listenAddresses.map((address) => addressText(onLoopback(address)));
  const orders = addressText(sandboxAddress(start.flags['sandbox.listen-address']));
  const remedy = `the demo needs ${own.join(', ')} and ${orders}, which another demo may have. For a second one add (npm: after --) ${SECOND}`;
  return startDemo(start).catch((error: unknown) => {
    throw error instanceof Error ? Object.assign(error, { remedy }) : error;
  });
}

async function startDemo(start: Start): Promise<Running> {
  const { flags, settings, readAgain, access, log, output } = start;
  const { config } = settings;
  const address = sandboxAddress(flags['sandbox.listen-address']);
  // Without a config file, the demo enables everything.
  const isDefault = flags['config.file'] === undefined;
  const demonstrated = (given: Config): Config => (isDefault ? withEverything(given) : given);
  const { watch } = demonstrated(config).validators;
  const byKey = isDefault ? [KEYED] : [];
  await using starting = new AsyncDisposableStack();
  const service = await startSandbox({
    ...address,
    clock: systemClock,
    receive: (request, now) => receiveAlerts(request, now, (text) => output.write(text)),
    // Only an order causes a slashing.
    slotsPerSlashing: Number.POSITIVE_INFINITY,
    watched: {
      validators: { mainnet: [...indicesOf(watch.mainnet), ...byKey], hoodi: [...indicesOf(watch.hoodi)] },
      slots: SLOTS_PER_WATCHED_PROPOSAL,
    },
  });
  starting.defer(() => service.close());
  const { key } = service.sandbox.account;
  const [own = { host: undefined, port: 0 }] = config.web.listenAddresses;
  const urlAt = (port: number): string => `${access?.isTls ? 'https' : 'http'}://${browserHost(own.host)}:${port}`;
  // For port 0 the system chooses a port, too late for the settings.
  const externalUrl = own.port === 0 ? null : urlAt(own.port);
  const { chains } = service.sandbox;
  const feeRecipients = CHAIN_NAMES.map((chain) =>
    recipientOf(chains[chain], chains[chain].proposers.validators[0] ?? 0),
  );
  const simulated = (given: Config): Config => {
    const shown = demonstrated(given);
    const validators = isDefault ? { ...shown.validators, feeRecipients } : shown.validators;
    return onSandbox({ ...shown, validators }, service.url, externalUrl);
  };
  const daemon = await startDaemon({
    ...start,
    settings: { ...settings, config: simulated(config), key },
    readAgain: async () => {
      const again = await readAgain();
      return { ...again, config: simulated(again.config), key };
    },
    documents: NO_DOCUMENTS,
    isSimulated: true,
  });
  starting.defer(() => daemon.stop());
  const url = urlAt(daemon.port);
  log.info({ url, metrics: `${url}${config.web.telemetryPath}` }, 'demo: open the url');
  const orders = service.url.replace('127.0.0.1', 'localhost');
  output.write(advice(orders));
  // The demo's Prometheus has no password and does not trust the certificate.
  if ((flags.prometheus ?? true) && access === undefined) {
    const tell = (text: string) => output.write(`${text}\n`);
    const demonstrated = { url, path: config.web.telemetryPath, receiver: `${orders}${ALERTS_PATH}` };
    const alerting = await startAlerting(demonstrated, tell).catch((error) => {
      tell(`Prometheus is not started: ${messageOf(error)}`);
    });
    if (alerting) starting.defer(() => alerting.stop());
    if (alerting) output.write(besides(alerting));
  }
  const started = starting.move();
  const running = { stop: () => started.disposeAsync() };
  return isDefault ? running : { ...running, reload: () => daemon.reload() };
}

/** The address of the simulated service. @throws UsageError */
export function sandboxAddress(text = SANDBOX_PORT) {
  const address = parseListenAddress(text);
  if (address) return onLoopback(address);
  throw new UsageError(
    `${SANDBOX_FLAG}, beside --web.listen-address: expected ${ADDRESS}, got ${JSON.stringify(text)}`,
  );
}

/** Loopback unless the user names a host: the demo takes orders without a password. */
function onLoopback({ host = '127.0.0.1', port }: ListenAddress) {
  return { host, port };
}

/** README.md shows the same commands. */
function advice(url: string): string {
  return [
    `Cause an alert (${url}/ lists all orders):`,
    `  curl -X POST '${url}/-/slash?chain=mainnet&validators=12340'`,
    `  curl -X POST '${url}/-/silence?machine=node-a'`,
    `  curl -X POST '${url}/-/offline?chain=mainnet&validator=12341'`,
    `Alerts that Alertmanager sends to ${url}${ALERTS_PATH} are printed here.`,
    '',
  ].join('\n');
}

function besides({ prometheus, alertmanager }: Alerting): string {
  const programs = [`Prometheus: ${prometheus}`, ...(alertmanager ? [`Alertmanager: ${alertmanager}`] : [])];
  return `Beside the demo, unless --no-prometheus (npm: after --): ${programs.join(', ')}\n`;
}

function browserHost(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return 'localhost';
  return isIPv6(host) ? `[${host}]` : host;
}

/** The validator that is watched by its public key. */
const KEYED = 12_349;

/** Both chains, with watched validators and two groups. A machine and two validators are in no group. */
function withEverything(config: Config): Config {
  return {
    ...config,
    chains: [
      { name: 'mainnet', v1BaseUrl: '' },
      { name: 'hoodi', v1BaseUrl: '' },
    ],
    machines: { ...config.machines, chainRules: [{ match: 'hoodi-*', chain: 'hoodi' }] },
    groups: [
      { name: 'home', machines: ['node-a', 'node-b'], watch: watchOn([12_340, 12_344], [500, 501]) },
      { name: 'office', machines: ['node-c', 'hoodi-*'], watch: watchOn([12_345, 12_348], [502, 503]) },
    ],
    validators: {
      ...config.validators,
      watch: watchOn([12_340, 12_348], [500, 504]),
      keys: { mainnet: [publicKeyOf(new Sandbox().chains.mainnet, KEYED)], hoodi: [] },
    },
  };
}

type Ends = readonly [first: number, last: number];

function watchOn(mainnet: Ends, hoodi: Ends): Config['validators']['watch'] {
  const rangeOf = ([first, last]: Ends): Watch => [{ first, last }];
  return { mainnet: rangeOf(mainnet), hoodi: rangeOf(hoodi) };
}

/** The two hosts of the real service are two paths of the sandbox. */
function onSandbox(config: Config, url: string, externalUrl: string | null): Config {
  const { web } = config;
  return {
    ...config,
    api: { ...config.api, baseUrl: url },
    chains: config.chains.map(({ name }) => ({ name, v1BaseUrl: name === 'mainnet' ? url : `${url}/${name}` })),
    web: {
      ...web,
      listenAddresses: web.listenAddresses.map(onLoopback),
      externalUrl: web.externalUrl ?? externalUrl,
    },
  };
}

export const ALERTS_PATH = '/alerts';

const Texts = z.record(z.string(), z.string()).default({});

/**
 * The printed fields of a message from Alertmanager to a webhook
 * (https://prometheus.io/docs/alerting/latest/configuration/#webhook_config).
 */
const AlertMessage = z.object({
  alerts: z.array(z.object({ status: z.enum(['firing', 'resolved']), labels: Texts, annotations: Texts })),
});
type Alert = z.infer<typeof AlertMessage>['alerts'][number];

/** Prints a line for each alert that Alertmanager posts. Undefined for any other path. @throws for another body */
export function receiveAlerts(
  { path, body }: Pick<SandboxRequest, 'path' | 'body'>,
  now: UnixMs,
  print: (text: string) => void,
): SandboxAnswer | undefined {
  if (path !== ALERTS_PATH) return undefined;
  const { alerts } = AlertMessage.parse(JSON.parse(body));
  const time = new Date(now).toTimeString().slice(0, 'HH:MM:SS'.length);
  for (const alert of alerts) print(`${time} ${lineOf(alert)}\n`);
  return textAnswer(200, 'printed');
}

function lineOf({ status, labels, annotations }: Alert): string {
  const name = [labels['severity'], labels['alertname']].filter(Boolean).join(' ');
  const text = [annotations['summary'], annotations['runbook_url']].filter(Boolean).join(' ');
  // The text is untrusted: in one line, and without control sequences of a terminal.
  return visible(`${status === 'firing' ? 'ALERT firing' : 'RESOLVED'} ${name}${text && ': '}${text}`);
}
