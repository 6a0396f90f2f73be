import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../support/answers/known-request.ts';
import type { FaultServer, Respond, ServiceRequest } from '../../support/faults/fault-server.ts';
import { startService } from '../../support/faults/service.ts';
import { configFile, temporaryFolder } from '../../support/files/files.ts';
import { asking, ran, serveArgs, startExporter, waitFor } from '../../support/programs/program.ts';

const KEY = 'the-key';

/** Slashings of both kinds in each epoch, and names of machines of which no record is new. */
const eventful: Respond = ({ path }, genuine) => {
  const answer = genuine();
  if (!path.endsWith('/slots') || answer.status !== 200) return answer;
  const { data, ...rest } = JSON.parse(answer.body);
  const [block, other] = data.filter(({ status }: { status: string }) => status === '1');
  if (block) block.attesterslashingscount = 1;
  if (other) other.proposerslashingscount = 1;
  return { ...answer, body: JSON.stringify({ ...rest, data }) };
};

/** Everything is on, and due every two seconds. */
async function service(request: Respond = eventful): Promise<{ service: FaultServer; config: string; folder: string }> {
  const api = await startService(KEY, { plan: 'scale', machines: 12, request });
  const folder = temporaryFolder();
  const config = configFile(
    `${asking(api.url)}budget: {plan: {per_second: 5}, utilization: 1}
machines: {interval: 2s, expected: [never-seen]}
slashings: {interval: 2s}
validators: {watch: ["1-25"], interval: 2s}
state: {dir: "${folder}/state"}
`,
    folder,
  );
  return { service: api, config, folder };
}

/** The method, the path and the keys of the body. */
function formOf({ method, path, body }: ServiceRequest): string {
  const keys = body === '' ? '' : ` ${keysOf(JSON.parse(body)).sort().join(' ')}`;
  return `${method} ${path.replace(/\/\d+(?=\/|$)/g, '/N')}${keys}`;
}

function keysOf(value: unknown, at = ''): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [at];
  const entries = Object.entries(value);
  return entries.length === 0
    ? [at || '{}']
    : entries.flatMap(([key, inner]) => keysOf(inner, at ? `${at}.${key}` : key));
}

/** The forms of all requests, each of which the service knows and which has the headers of its version. */
function formsOf({ requests }: FaultServer): Set<string> {
  for (const request of requests) {
    const { method, path, headers, body } = request;
    const accept = headers['accept']?.toString();
    expect([formOf(request), refusalOf({ path, body, accept })?.status]).toEqual([formOf(request), undefined]);
    expect(accept).toBe(path.endsWith('/queues') ? 'application/vnd.beaconcha.in.v2.1+json' : 'application/json');
    const isV1 = path.startsWith('/api/v1/');
    expect(method).toBe(isV1 ? 'GET' : 'POST');
    expect(headers[isV1 ? 'apikey' : 'authorization']).toBe(isV1 ? KEY : `Bearer ${KEY}`);
    expect(headers['content-type']).toBe(isV1 ? undefined : 'application/json');
  }
  return new Set(requests.map(formOf));
}

async function ended(args: readonly string[]): Promise<void> {
  expect([0, 5]).toContain((await ran(args, { BEACONCHAIN_API_KEY: KEY })).code);
}

const METRICS = 'POST /api/v2/machine-metrics';
const RANGE = 'range.timestamp.end range.timestamp.start';
const DAYS = 'POST /api/v2/ethereum/benchmark-store chain';
const VALIDATORS = 'POST /api/v2/ethereum/validators';
const SELECTOR = 'validator.validator_identifiers';

const OWN_BLOCK = 'POST /api/v2/ethereum/block/rewards block.number chain';

/** A program that has just started does not know what is final, and asks a minute later. */
const LISTS = ['performance', 'rewards'].map((kind) => `${VALIDATORS}/${kind}-list chain epoch page_size ${SELECTOR}`);

/** The forms of all enabled endpoints that `check --probe` asks. */
const PROBED = [
  `${METRICS} page_size ${RANGE}`,
  `${METRICS}/machine-names {}`,
  `${DAYS} page_size range.evaluation_window`,
  'POST /api/v2/ethereum/sync-committee chain sync_committee_period.view',
  `${VALIDATORS} chain page_size ${SELECTOR}`,
  `${VALIDATORS}/performance-aggregate chain range.evaluation_window ${SELECTOR}`,
  `${VALIDATORS}/rewards-aggregate chain range.evaluation_window ${SELECTOR}`,
  ...LISTS,
  'POST /api/v2/ethereum/performance-aggregate chain range.evaluation_window',
  'POST /api/v2/ethereum/queues chain',
  OWN_BLOCK,
  'GET /api/v1/epoch/latest/slots',
  'GET /api/v1/slot/N/attesterslashings',
  'GET /api/v1/slot/N/proposerslashings',
  'GET /api/v1/sync_committee/latest',
];

/** Requests that are due only at times: an epoch by its number, a new committee, and own blocks. */
const AT_TIMES = ['GET /api/v1/epoch/N/slots', 'GET /api/v1/sync_committee/next', OWN_BLOCK, ...LISTS];

function regularFormsOf(api: FaultServer): string[] {
  return [...formsOf(api)].filter((one) => !AT_TIMES.includes(one)).sort();
}

describe('each request has a documented form and no other key', () => {
  it('of serve', async () => {
    const { service: api, config } = await service();
    const program = startExporter(serveArgs(config), { BEACONCHAIN_API_KEY: KEY });
    const wanted = [
      ...PROBED.filter((one) => !one.endsWith('sync_committee/latest') && !AT_TIMES.includes(one)),
      `${METRICS} cursor page_size ${RANGE}`,
      `${METRICS} machines page_size ${RANGE}`,
      'GET /api/v1/epoch/finalized/slots',
      'GET /api/v1/sync_committee/N',
    ];
    await waitFor(() => expect(regularFormsOf(api)).toEqual(wanted.sort()));
    await program.stop();
  });

  it('of check --probe', async () => {
    const { service: api, config } = await service();
    await ended(['check', '--probe', '--yes', `--config.file=${config}`]);
    expect([...formsOf(api)].sort()).toEqual([...PROBED].sort());
  });

  it('of check --safe-to-restart', async () => {
    const { service: api, config } = await service();
    await ended(['check', '--safe-to-restart=30m', `--config.file=${config}`]);
    expect(regularFormsOf(api)).toEqual(['GET /api/v1/sync_committee/N']);
  });

  it('of backfill, with windows, ranges, cursors, and the other path of the daily returns', async () => {
    const notFound: Respond = ({ path }) =>
      path.endsWith('/benchmark-store') ? { status: 404, body: '{"error":"not found"}' } : undefined;
    const { service: api, config, folder } = await service(notFound);
    const run = (...args: string[]): Promise<void> =>
      ended(['backfill', `--config.file=${config}`, '--yes', `--output=${folder}/${args.length}.om`, ...args]);
    await run('--source=daily-returns', '--window=30d');
    await run('--source=daily-returns', '--start=-20d', '--end=-5d');
    await run('--source=machines', '--start=-70m', '--end=-1h', '--full-resolution');
    await run('--source=validators', '--start=-3h', '--end=-2h', '--label=job=x', '--chain=mainnet');
    const other = DAYS.replace('benchmark-store', 'eth-store');
    expect([...formsOf(api)].sort()).toEqual(
      [
        `${DAYS} page_size range.evaluation_window`,
        `${DAYS} page_size ${RANGE}`,
        ...[other.replace(' chain', ' chain cursor'), other].flatMap((path) => [
          `${path} page_size range.evaluation_window`,
          `${path} page_size ${RANGE}`,
        ]),
        `${METRICS} cursor page_size ${RANGE}`,
        `${METRICS} machines page_size ${RANGE}`,
        `${METRICS} page_size ${RANGE}`,
        `${VALIDATORS} chain page_size ${SELECTOR}`,
        ...['performance', 'rewards'].map((list) => `${VALIDATORS}/${list}-list chain epoch page_size ${SELECTOR}`),
        'GET /api/v1/epoch/finalized/slots',
      ].sort(),
    );
  });
});
