import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { datapoint, returnsPage } from '../../support/datapoint.ts';
import type { Fault, FaultServer, FaultServerOptions } from '../../support/fault-server.ts';
import { temporaryFolder } from '../../support/files.ts';
import { startExporter } from '../../support/program.ts';
import { startService } from '../../support/service.ts';

interface Probed {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly service: FaultServer;
}

interface Given {
  readonly key?: string;
  readonly args?: readonly string[];
  readonly config?: string;
  readonly request?: Fault['request'];
  readonly plan?: FaultServerOptions['plan'];
}

const SPAN = { start: 1_788_264_023, end: 1_788_350_422 };
const DAY = { ...(returnsPage(datapoint()) as object), range: { slot: SPAN, epoch: SPAN, timestamp: SPAN } };

/** A plan with a quota, on which nothing has to wait. */
const FAST = { perSecond: 1_000, perMonth: 1_000 };

async function probed(given: Given = {}): Promise<Probed> {
  const { key = 'the-key', args = ['--probe'], config = '', plan = FAST, request } = given;
  const dir = temporaryFolder();
  const service = await startService('the-key', { plan, ...(request && { request }) });
  const file = join(dir, 'config.yaml');
  const { url } = service;
  const chains = `chains: {mainnet: {v1_base_url: "${url}"}}`;
  writeFileSync(
    file,
    `api: {base_url: "${url}"}\n${config || chains}\nstate: {dir: "${dir}"}\n`.replaceAll('URL', url),
  );
  const program = startExporter(['check', `--config.file=${file}`, ...args], { BEACONCHAIN_API_KEY: key });
  const { code } = await program.ended;
  return { code, stdout: program.stdout, stderr: program.stderr, service };
}

/** The genuine answers, with others in place of some. */
function except(change: (path: string, body: Record<string, unknown>) => unknown): Fault['request'] {
  return ({ path }, genuine) => {
    const answer = genuine();
    const body = answer.status === 200 ? change(path, JSON.parse(answer.body)) : undefined;
    return body === undefined ? answer : { ...answer, body: typeof body === 'string' ? body : JSON.stringify(body) };
  };
}

function rowsIn(stdout: string): string[][] {
  const [table = ''] = stdout.slice(stdout.indexOf('endpoint ')).split('\n\n');
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.split(/ {2,}/));
}

// Most of the time they wait for the budget.
describe.concurrent('system/programs/check', () => {
  it('asks each endpoint once, and tells plan, limits and costs', async () => {
    const { code, stdout, stderr, service } = await probed({ plan: 'free_trial' });
    expect(stderr).toBe(`Sends 5 requests (at most 12) to ${service.url}, which count against your quota.\n`);
    expect(rowsIn(stdout).map(([endpoint, ...rest]) => [endpoint, rest.at(-1)])).toEqual([
      ['machine_metrics', '/api/v2/machine-metrics'],
      ['daily_returns', '/api/v2/ethereum/benchmark-store'],
      ['sync_committee', '/api/v2/ethereum/sync-committee'],
      ['epoch_slots', '/api/v1/epoch/latest/slots'],
      ['attester_slashings', expect.stringMatching(/^\/api\/v1\/slot\/\d+\/attesterslashings$/)],
    ]);
    // What the first request costs cannot be known.
    expect(rowsIn(stdout).map((row) => row.slice(-3, -1))).toEqual([
      ['0', 'default'],
      ...Array.from({ length: 4 }, () => ['default', '-1']),
    ]);
    expect(stdout).not.toMatch(/: absent:|unreadable,/);
    expect(stdout).toContain('Key: valid. Plan: 1 per second and 1000 per month, as on a trial or a legacy plan.');
    expect(stdout).toContain('Limits: as reported by the service.\n  bucket default: 1 per second');
    expect(stdout).toContain('1000 per month (995 left)');
    expect(code).toBe(0);
    expect(service.sandbox.account.inMonth).toBe(5);
  });

  it('asks on every chain, and what is beyond the specification where that is wanted', async () => {
    const { stdout, service } = await probed({
      config: [
        'budget: {plan: {per_second: 100}}',
        'machines: {enabled: false}',
        'chains: {mainnet: {v1_base_url: "URL"}, hoodi: {v1_base_url: "URL/hoodi"}}',
        'validators: {watch: {mainnet: ["0-29"], hoodi: ["0-9"]}}',
      ].join('\n'),
      request: (_, genuine) => ({ ...genuine(), headers: {} }),
    });
    expect(service.requests).toHaveLength(16);
    expect(rowsIn(stdout).map(([endpoint, chain]) => `${chain} ${endpoint}`)).toEqual(
      ['mainnet', 'hoodi'].flatMap((chain) =>
        [
          'daily_returns',
          'sync_committee',
          'sync_committee_members',
          'validators',
          'validators_performance',
          'epoch_slots',
          'attester_slashings',
          'proposer_slashings',
        ].map((endpoint) => `${chain} ${endpoint}`),
      ),
    );
    expect(stdout).toContain('Plan: not known, because the responses contain no limits.');
  });

  it('says that the key is refused, without showing it, and plans nothing', async () => {
    const { code, stdout, service } = await probed({ key: 'not-the-key' });
    expect(stdout).toContain('Key: refused. Copy it again');
    expect(stdout).not.toContain('not-the-key');
    expect(stdout).not.toContain('requests/day');
    expect(rowsIn(stdout).map((row) => row[1] ?? '')).toEqual(['401', 'mainnet', 'mainnet', 'mainnet', 'mainnet']);
    expect(service.requests).toHaveLength(1);
    expect(code).toBe(1);
  });

  it('fails where nothing is answered', async () => {
    const { code, stdout, service } = await probed({ request: () => ({ status: 404, body: 'not here' }) });
    expect(service.requests).toHaveLength(6);
    expect(stdout).toContain('machine_metrics: not_found (status 404).\n');
    expect(code).toBe(1);
  });

  it('finds the daily returns at the other path where the first one is unknown', async () => {
    const { code, stdout } = await probed({
      request: ({ path }, genuine) => {
        if (path.endsWith('/benchmark-store')) return { status: 404, body: '{"error": "no such endpoint"}' };
        return path.endsWith('/eth-store') ? { status: 200, body: JSON.stringify(DAY) } : genuine();
      },
    });
    expect(rowsIn(stdout)[1]).toEqual(expect.arrayContaining(['daily_returns', '200', '/api/v2/ethereum/eth-store']));
    expect(code).toBe(0);
  });

  it.for<[string, Fault['request'], string]>([
    [
      'an endpoint that is refused',
      ({ path }, genuine) => (path.includes('attesterslashings') ? { status: 403, body: '{}' } : genuine()),
      'attester_slashings of mainnet: forbidden (status 403).',
    ],
    [
      'a record that cannot be read',
      except((path, body) => {
        const [first, ...rest] = path.includes('/slots') ? (body['data'] as object[]) : [];
        return first && { ...body, data: [{ ...first, slot: 'x' }, ...rest] };
      }),
      'epoch_slots of mainnet: 1 record unreadable, the first because of slot: ',
    ],
    [
      'an absent field',
      except((path, body) => {
        if (!path.includes('store')) return undefined;
        return { ...body, data: (body['data'] as object[]).map((day) => ({ ...day, deposits: undefined })) };
      }),
      'daily_returns of mainnet: absent: data[].deposits.',
    ],
    [
      'an answer of another form',
      except((path) => (path.includes('machine') ? { data: [] } : undefined)),
      'machine_metrics: unexpected shape: data: Invalid input: expected object, received array.',
    ],
    [
      'an answer that is no JSON',
      except((path) => (path.includes('machine') ? '<html>' : undefined)),
      'machine_metrics: invalid_body (not JSON).',
    ],
  ])('ends with 4 for %s', async ([, request, line]) => {
    const { code, stdout } = await probed({ request });
    expect(stdout).toContain(line);
    expect(code).toBe(4);
  });

  it('sends no more than 12 requests for a chain, however often it fails', async () => {
    const { code, stdout, service } = await probed({ request: () => ({ status: 500, body: '' }) });
    expect(service.requests).toHaveLength(12);
    expect(stdout).toContain('attester_slashings  mainnet  not asked\n');
    expect(stdout).toContain('Not requested because of the previous answers: the limit of 12 requests');
    expect(code).toBe(1);
  });

  it('shows control characters of the service as text', async () => {
    const { stdout } = await probed({
      request: (_, genuine) => {
        const { status, body } = genuine();
        return { status, body, headers: { 'ratelimit-bucket': '\u009b2J', 'x-ratelimit-limit-second': '100' } };
      },
    });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(stdout).toContain(String.raw`bucket \u009b2J:`);
  });

  it('says nothing of the key where no answer does', async () => {
    const { code, stdout } = await probed({ request: () => ({ status: 502, body: '<html>' }) });
    expect(stdout).toContain('Key: not known, because no response could be read. Plan: not known');
    expect(code).toBe(1);
  });

  it('says why it did not ask', async () => {
    const { code, stdout } = await probed({
      request: ({ path }, genuine) =>
        path.includes('sync-committee')
          ? { status: 429, body: '{}', headers: { 'retry-after': '900000', 'ratelimit-window': 'month' } }
          : genuine(),
    });
    expect(rowsIn(stdout).map((row) => row[2] ?? '')).toEqual([
      expect.stringMatching(/^\d+$/),
      '200',
      '429',
      'not asked',
      'not asked',
    ]);
    expect(stdout).toMatch(
      /^Not requested because of the previous answers: no request before 20\d\d-\d\d-\d\dT[\d:.]+Z\.$/m,
    );
    expect(code).toBe(4);
  });
});
