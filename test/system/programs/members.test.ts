import { describe, expect, it } from 'vitest';
import { CHAINS } from '../../../src/lib/chain.ts';
import { committee } from '../../../src/sandbox/sync-committee.ts';
import type { Sandbox } from '../../../src/sandbox/world.ts';
import { ask, scrape } from '../../support/ask.ts';
import { seriesOf } from '../../support/exposition-text.ts';
import { portOf, startExporter, waitFor } from '../../support/program.ts';
import { startReloading } from '../../support/reloading.ts';

const KEY = 'the-key';
const ONE = 'beaconchain_watched_sync_committee_validator';
const COUNT = 'beaconchain_watched_sync_committee_validators';
const REFUSED = 'the service refuses a part of validators';

const OWN = Array.from({ length: 1_000 }, (_, validator) => validator);
const service = { watched: { validators: { mainnet: OWN, hoodi: [] }, slots: 8 } };

function sections({ watch = '"0-999"', members = true, interval = '1h' } = {}): string {
  return `machines: {enabled: false}
daily_returns: {enabled: false}
slashings: {enabled: false}
sync_committee: {enabled: true, interval: 1h}
validators: {watch: [${watch}], sync_committee: ${members}, status: false, interval: ${interval}}
`;
}

/** The members of the current period below this index, as the simulated service names them. */
function members(sandbox: Sandbox, below: number): string[] {
  const { data } = JSON.parse(committee(sandbox, 'mainnet', 'latest', Date.now()));
  const watched = new Set<number>(data.validators.filter((validator: number) => validator < below));
  return [...watched].sort((a, b) => a - b).map(String);
}

async function shown(port: number): Promise<string[]> {
  const series = seriesOf(await scrape(port)).filter(({ labels }) => labels['period'] === 'current');
  const validators = series.filter(({ name }) => name === ONE);
  expect(validators.every(({ value, labels }) => value === 1 && labels['chain'] === 'mainnet')).toBe(true);
  const total = series.find(({ name }) => name === COUNT)?.value;
  if (total === undefined) throw new Error('not known yet');
  expect(validators).toHaveLength(total);
  return validators.map(({ labels }) => labels['validator'] ?? '');
}

describe.concurrent('system/programs/members', () => {
  it('shows the watched members; another list takes hold without a request; a kill and a start keep them', async () => {
    const { api, file, port, program, configure, reload, value } = await startReloading({
      key: KEY,
      service,
      more: sections(),
    });
    const first = await waitFor(() => shown(port));
    expect(first).toEqual(members(api.sandbox, 1_000));
    expect(first.length).toBeGreaterThan(0);
    const period = Math.floor((Date.now() / 1000 - CHAINS.mainnet.genesis) / 98_304);
    const asked = api.requests.map(({ method, path }) => `${method} ${path}`);
    expect(asked).toEqual([
      'POST /api/v2/ethereum/sync-committee',
      `GET /api/v1/sync_committee/${period}`,
      'GET /api/v1/sync_committee/next',
    ]);
    expect(api.requests[1]?.headers['apikey']).toBe(KEY);
    const requests = () => value('beaconchain_api_requests_total', { endpoint: 'sync_committee_members' });
    await waitFor(async () => expect(await requests()).toBe(2));
    configure(sections({ watch: '"0-499"' }));
    await reload();
    expect(await shown(port)).toEqual(members(api.sandbox, 500));
    await program.stop('SIGKILL');
    const again = startExporter(
      ['serve', `--config.file=${file}`, '--web.listen-address=127.0.0.1:0', '--log.format=json'],
      {},
    );
    expect(await shown(await portOf(again))).toEqual(members(api.sandbox, 500));
    expect(api.requests).toHaveLength(asked.length);
  });

  it('without members it asks for none; switched on by a reload it does so at once', async () => {
    const { api, port, configure, reload, isUp } = await startReloading({
      key: KEY,
      service,
      more: sections({ members: false }),
    });
    await isUp('sync_committee');
    expect(await scrape(port)).not.toMatch(/watched_sync_committee|sync_committee_members/);
    expect(api.requests.map(({ path }) => path)).toEqual(['/api/v2/ethereum/sync-committee']);
    configure(sections());
    await reload();
    expect(await waitFor(() => shown(port))).toEqual(members(api.sandbox, 1_000));
    expect(api.requests.filter(({ path }) => path.includes('/v2/'))).toHaveLength(1);
  });

  it('where nobody is watched it asks for no members', async () => {
    const { api, port, isUp } = await startReloading({ key: KEY, service, more: sections({ watch: '' }) });
    await isUp('sync_committee');
    expect(api.requests).toHaveLength(1);
    expect(await scrape(port)).not.toContain('watched_sync_committee');
  });

  it('a refusal is told once, the source stays up, the page says so, and a reload asks again', async () => {
    let isRefused = true;
    const { api, port, program, reload, value, isUp } = await startReloading({
      key: KEY,
      more: sections({ interval: '1s' }),
      service: {
        ...service,
        request: ({ path }) =>
          isRefused && path.includes('/v1/') ? { status: 403, body: '{"error":"not in your plan"}' } : undefined,
      },
    });
    await isUp('validators');
    await program.line(REFUSED);
    const ofMembers = () => api.requests.filter(({ path }) => path.includes('/v1/')).length;
    expect(ofMembers()).toBe(1);
    expect(await value('beaconchain_source_failures_total', { source: 'validators' })).toBe(0);
    const failures = { endpoint: 'sync_committee_members', reason: 'forbidden' };
    await waitFor(async () => expect(await value('beaconchain_api_request_failures_total', failures)).toBe(1));
    const page = (await ask(port, '/')).body.toString();
    expect(page).toContain(
      'The service refuses to list the members (forbidden). The exporter tries again every day, and after a reload or restart.',
    );
    isRefused = false;
    // The interval has passed since the last poll at some time.
    await waitFor(async () => {
      await reload();
      expect(await shown(port)).toEqual(members(api.sandbox, 1_000));
    });
    expect(program.lines(REFUSED)).toHaveLength(1);
    // A page is kept for a moment.
    await waitFor(async () => expect((await ask(port, '/')).body.toString()).not.toContain('refuses to list'));
  });
});
