import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { usedOfMonth } from '../../../src/sandbox/account.ts';
import type { Fault, FaultServerOptions } from '../../support/faults/fault-server.ts';
import { startService } from '../../support/faults/service.ts';
import { configFile, temporaryFolder } from '../../support/files/files.ts';
import { ahead, asking, ran } from '../../support/programs/program.ts';
import { HOUR } from '../../support/time/timing.ts';

interface Given extends Pick<FaultServerOptions, 'plan' | 'request'> {
  readonly key?: string;
  readonly args?: readonly string[];
  readonly config?: string;
  readonly aheadMs?: number;
}

/** A plan with a quota, on which nothing has to wait. */
const FAST = { perSecond: 1_000, perMonth: 1_000 };

async function probed(given: Given = {}) {
  const { key = 'the-key', args = ['--probe', '--yes'], config = '', plan = FAST, request, aheadMs = 0 } = given;
  const service = await startService('the-key', { plan, ...(request && { request }) });
  const { url } = service;
  const file = configFile(
    config === '' ? asking(url) : `api: {base_url: "${url}"}\n${config.replaceAll('URL', url)}\n`,
  );
  const ended = await ran(['check', `--config.file=${file}`, ...args], { BEACONCHAIN_API_KEY: key, ...ahead(aheadMs) });
  return { ...ended, service };
}

function rowsIn(stdout: string): string[][] {
  const [table = ''] = stdout.slice(stdout.indexOf('endpoint ')).split('\n\n');
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.split(/ {2,}/));
}

// Concurrent, because they mostly wait for the budget.
describe.concurrent('system/programs/check', () => {
  it('requests each endpoint once, and prints plan, limits and costs', async () => {
    const request: Fault['request'] = ({ path }, genuine) => {
      const answer = genuine();
      const bucket = path.startsWith('/api/v1') && { 'ratelimit-bucket': 'v1' };
      return { ...answer, headers: { ...answer.headers, ...bucket } };
    };
    const { code, stdout, stderr, service } = await probed({ plan: 'free_trial', request });
    const [cost, ...sent] = stderr.trimEnd().split('\n');
    expect(cost).toBe(`Sends at most 17 requests to ${service.url}, which count against your quota.`);
    expect(sent).toEqual(rowsIn(stdout).map((row, i) => `${i + 1}. ${i < 4 ? 'POST' : 'GET'} ${row.at(-1)}`));
    expect(rowsIn(stdout).map(([endpoint, ...rest]) => [endpoint, rest.at(-1)])).toEqual([
      ['machine_names', '/api/v2/machine-metrics/machine-names'],
      ['machine_metrics', '/api/v2/machine-metrics'],
      ['daily_returns', '/api/v2/ethereum/benchmark-store'],
      ['sync_committee', '/api/v2/ethereum/sync-committee'],
      ['epoch_slots', '/api/v1/epoch/latest/slots'],
      ['attester_slashings', expect.stringMatching(/^\/api\/v1\/slot\/\d+\/attesterslashings$/)],
    ]);
    // What the first request of a bucket costs cannot be known.
    const costs = [['0', 'default'], ...Array(3).fill(['default', '-1']), ['0', 'v1'], ['v1', '-1']];
    expect(rowsIn(stdout).map((row) => row.slice(-3, -1))).toEqual(costs);
    expect(stdout).not.toMatch(/: absent:|unreadable,/);
    expect(stdout).toContain('\nMachines in these answers: hoodi-1, node-a, node-b, node-c, node-d.\n');
    expect(stdout).toContain('Key: valid. Plan: 1 per second and 1000 per month, as on a trial or a legacy plan.');
    expect(stdout).toContain('Limits: as reported by the service.\n  bucket default: 1 per second');
    expect(stdout).toContain('1000 per month (994 left)');
    expect(code).toBe(0);
    expect(usedOfMonth(service.sandbox.account, Date.now())).toBe(6);
  });

  it('requests every chain, and the optional parts that are configured', async () => {
    const { stdout, stderr, service } = await probed({
      config: [
        'budget: {plan: {per_second: 100}}',
        'machines: {enabled: false}',
        'chains: {mainnet: {v1_base_url: "URL"}, hoodi: {v1_base_url: "URL/hoodi"}}',
        'validators: {watch: {mainnet: ["0-29"], hoodi: ["0-9"]}}',
      ].join('\n'),
    });
    expect(service.requests).toHaveLength(28);
    expect(stderr).toContain(`at most 32 requests to ${service.url} and ${service.url}/hoodi, which count`);
    expect(stdout).toContain('Validators of mainnet: asked for 10 of 30 watched ones, the service knows all of these.');
    expect(rowsIn(stdout).map(([endpoint, chain]) => `${chain} ${endpoint}`)).toEqual(
      ['mainnet', 'hoodi'].flatMap((chain) =>
        [
          'daily_returns',
          'sync_committee',
          'sync_committee_members',
          'validators',
          'validators_performance',
          'validators_rewards',
          'validators_performance_list',
          'validators_rewards_list',
          'network_performance',
          'queues',
          'epoch_slots',
          'attester_slashings',
          'proposer_slashings',
          'block_rewards',
        ].map((endpoint) => `${chain} ${endpoint}`),
      ),
    );
  });

  it.each([2, -2])('judges times by the clock of the service if its own is %i hours ahead', async (hours) => {
    const { code, stdout } = await probed({ aheadMs: hours * HOUR });
    expect(stdout).not.toMatch(/unreadable,|no machine has reported/);
    expect(code).toBe(0);
  });

  it('reports a refused key without showing it, and plans nothing', async () => {
    const { code, stdout, service } = await probed({ key: 'not-the-key' });
    expect(stdout).toContain('Key: refused. Copy it again');
    expect(stdout).not.toContain('not-the-key');
    expect(stdout).not.toContain('requests/day');
    const column = ['401', 'not asked', ...Array(4).fill('mainnet')];
    expect(rowsIn(stdout).map((row) => row[1] ?? '')).toEqual(column);
    expect(service.requests).toHaveLength(1);
    expect(code).toBe(1);
  });

  it('exits with 4 if a record cannot be read', async () => {
    const request: Fault['request'] = ({ path }, genuine) => {
      const answer = genuine();
      if (!path.includes('/slots') || answer.status !== 200) return answer;
      const { data, ...body } = JSON.parse(answer.body);
      const [first, ...rest] = data;
      return { ...answer, body: JSON.stringify({ ...body, data: [{ ...first, slot: 'x' }, ...rest] }) };
    };
    const { code, stdout } = await probed({ request });
    expect(stdout).toContain(
      'epoch_slots of mainnet: 1 record unreadable in whole or in part, the first because of slot: ',
    );
    expect(code).toBe(4);
  });

  it.each([403, 410])('requests the returns at the other path if the first one answers %i', async (status) => {
    const request: Fault['request'] = ({ path }, genuine) =>
      path.endsWith('/benchmark-store') ? { status, body: '{"error":"made up"}' } : genuine();
    const { code, stdout } = await probed({ request });
    const row = rowsIn(stdout).find(([endpoint]) => endpoint === 'daily_returns');
    expect([row?.[2], row?.at(-1)]).toEqual(['200', '/api/v2/ethereum/eth-store']);
    expect(code).toBe(0);
  });

  it('sends no more than 15 requests for a chain and 2 for the account, however often it fails', async () => {
    const { code, stdout, service } = await probed({
      config: 'chains: {mainnet: {v1_base_url: "URL"}}\nvalidators: {watch: [1]}',
      request: () => ({ status: 500, body: '' }),
    });
    expect(service.requests).toHaveLength(17);
    expect(stdout).toMatch(/^block_rewards +mainnet +not asked$/m);
    expect(stdout).toContain('Not requested because of the previous responses: the limit of 15 requests');
    expect(code).toBe(1);
  });

  it('writes a report with the form of each answer, and no data of the user', async () => {
    const report = join(temporaryFolder(), 'report.md');
    const answers: string[] = [];
    const request: Fault['request'] = ({ path }, genuine) => {
      const { body } = genuine();
      answers.push(body);
      const isCut = path.endsWith('attesterslashings');
      return isCut ? { status: 403, headers: { 'content-type': 'text/html' }, body: '<html>' } : undefined;
    };
    const args = ['--probe', '--yes', `--report=${report}`];
    const { code, stdout, service } = await probed({ args, request });
    expect(stdout).toMatch(
      /report\.md has the forms of requests and responses .*no names, indices, keys or amounts\.\n$/,
    );
    expect(code).toBe(4);
    const text = readFileSync(report, 'utf8');
    const forms: { request: string }[] = JSON.parse(text.slice(text.indexOf('['), text.lastIndexOf(']') + 1));
    expect(forms.map((form) => form.request.replace(/.* /, ''))).toEqual(
      service.requests.map(({ path }) => path.replace(/\d{3,}/, 'N')),
    );
    expect(forms).toContainEqual(expect.objectContaining({ status: 403, answer: 'invalid_body (HTML, not JSON)' }));
    // Short numbers are in the report as lengths, limits and versions.
    const secrets = answers.join().match(/0x\w{8,}|\d{5,}|node-\w+/g) ?? [];
    expect(secrets.length).toBeGreaterThan(100);
    const leaks = ['the-key', '127.0.0.1', ...secrets].filter((secret) => text.includes(secret));
    expect(leaks).toEqual([]);
  });

  it.for<[string, string[], number, string]>([
    ['without a terminal or --yes', ['--probe'], 2, 'there is no terminal. Add --yes to send them\n'],
    ['for a report without a probe', ['--yes', '--report=FILE'], 2, '--report requires --probe\n'],
    ['if the report exists', ['--probe', '--yes', '--report=/dev/null'], 1, '--report: /dev/null exists: '],
    [
      'if the report has no folder',
      ['--probe', '--yes', '--report=/no/such'],
      1,
      '--report: /no/such cannot be written: ',
    ],
  ])('sends no request %s', async ([, args, code, line]) => {
    const { service, stderr, ...ended } = await probed({ args });
    expect({ ...ended, requests: service.requests }).toEqual({ code, stdout: '', requests: [] });
    expect(stderr).toContain(line);
  });
});
