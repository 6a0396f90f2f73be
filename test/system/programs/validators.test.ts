import { describe, expect, it } from 'vitest';
import { epochAt } from '../../../src/lib/chain.ts';
import { ask, scrape } from '../../support/ask.ts';
import { seriesOf } from '../../support/exposition-text.ts';
import type { Respond, ServiceRequest } from '../../support/fault-server.ts';
import { ahead, portOf, startExporter, waitFor } from '../../support/program.ts';
import { startReloading } from '../../support/reloading.ts';
import { row } from '../../support/slot-rows.ts';
import {
  committeeOf,
  EPOCH,
  membersAnswer,
  performanceAnswer,
  rangeOf,
  startOfEpoch,
  validatorRow,
} from '../../support/validators.ts';

const KEY = 'the-key';
const STATUS = '/api/v2/ethereum/validators';
const PERFORMANCE = '/api/v2/ethereum/validators/performance-aggregate';
const PERIOD_EPOCHS = 256;

/** Bit i is byte i >> 3, bit i & 7 (api-facts 4.1): here the seats 0, 9 and 511. */
const BITS = `0x0102${'00'.repeat(61)}80`;

/** A service in the shapes of api-facts 10, written by hand. Nothing of it is the sandbox's. */
class Service {
  /** Fields of rows by index; null: the service does not know it. */
  readonly rows = new Map<number, Record<string, unknown> | null>();
  /** The epoch of the status answers; undefined: the one of the clock. */
  epoch: number | undefined;
  /** The most identifiers for which the performance is returned; 0: the plan does not include it. */
  maxIdentifiers = 100;
  isStatusRefused = false;
  /** How far the clock of the service, and that of the program, is ahead. */
  aheadMs = 0;
  /** The first seats of the current committee. */
  seats: readonly number[] = [7, 500_000, 12];
  next: readonly number[] | undefined;

  readonly respond: Respond = (request) => {
    const { path } = request;
    if (path === STATUS) return this.isStatusRefused ? refused() : ok(this.#status(request));
    if (path === PERFORMANCE) {
      const { length } = identifiers(request);
      return length > this.maxIdentifiers ? refused() : ok(performanceAnswer(225 * length, 3 * length, 0.98));
    }
    const [, selector = ''] = /sync_committee\/(\w+)$/.exec(path) ?? [];
    if (selector !== '') return ok(this.#members(selector));
    const [, view = ''] = /epoch\/(\w+)\/slots$/.exec(path) ?? [];
    return ok({ status: 'OK', data: view === '' ? [] : this.#slots(view) });
  };

  /** The epoch of its clock. */
  get now(): number {
    return epochAt('mainnet', Date.now() + this.aheadMs);
  }

  #status(request: ServiceRequest): object {
    const data = identifiers(request).flatMap((index) => {
      const change = this.rows.get(index);
      return change === null ? [] : [validatorRow(index, change)];
    });
    return { data, range: rangeOf(this.epoch ?? this.now), paging: { next_cursor: '' } };
  }

  #members(selector: string): unknown {
    const current = Math.floor(this.now / PERIOD_EPOCHS);
    if (selector === 'next') {
      return this.next ? membersAnswer(current + 1, committeeOf(this.next)) : { status: 'OK', data: [] };
    }
    // Also of the period before, whose last epochs may be counted.
    return membersAnswer(Number(selector), committeeOf(this.seats));
  }

  #slots(view: string): object[] {
    const named = view === 'latest' ? this.now : view === 'finalized' ? this.now - 2 : Number(view);
    return Array.from({ length: 32 }, (_, i) => {
      const slot = named * 32 + i;
      const isPast = startOfEpoch(0) + slot * 12_000 <= Date.now() + this.aheadMs;
      return row({ slot, status: isPast ? '1' : '0', ...(isPast && { syncaggregate_bits: BITS }) });
    });
  }
}

function ok(body: unknown): { status: number; body: string } {
  return { status: 200, body: JSON.stringify(body) };
}

function refused(): { status: number; body: string } {
  return { status: 403, body: '{"error":"not in your plan"}' };
}

function identifiers({ body }: ServiceRequest): number[] {
  return JSON.parse(body).validator.validator_identifiers;
}

/** Everything else is off; an interval of 2 s, and no limit makes it longer. */
function sections(watch: string, { slashings = false, more = '' } = {}): string {
  return `machines: {enabled: false}
daily_returns: {enabled: false}
sync_committee: {enabled: false}
budget: {plan: {per_second: 1000}}
slashings: {enabled: ${slashings}, interval: 12s}
validators: {watch: [${watch}], interval: 2s${more}}
`;
}

async function series(port: number): Promise<Record<string, number>> {
  const watched = seriesOf(await scrape(port)).filter(({ name }) => name.startsWith('beaconchain_watched_'));
  return Object.fromEntries(
    watched.map(({ name, labels, value }) => {
      const { chain, ...rest } = labels;
      return [[name.slice('beaconchain_watched_'.length), ...Object.values(rest)].join(' '), value];
    }),
  );
}

function again(file: string, env = {}) {
  const flags = [`--config.file=${file}`, '--web.listen-address=127.0.0.1:0', '--log.format=json'];
  return startExporter(['serve', ...flags], env);
}

async function started(service: Service, more: string) {
  return startReloading({ key: KEY, more, service: { request: service.respond } });
}

describe.concurrent('system/programs/validators', () => {
  it('shows status, balances, offline since, duties and score; all are the same after a kill', async () => {
    const service = new Service();
    const first = service.now - 1;
    service.epoch = first;
    service.rows
      .set(1, { online: false })
      .set(2, { online: null, status: 'exited_unslashed' })
      .set(3, { status: 'a_new_one' })
      .set(4, null)
      .set(5, { slashed: true, status: 'withdrawal_done', online: null });
    const { api, file, port, program, isUp } = await started(service, sections('"1-12"'));
    await isUp('validators');
    const shown = await series(port);
    expect(shown).toMatchObject({
      validators: 12,
      validators_slashed: 1,
      'validators_by_status active_ongoing': 8,
      'validators_by_status exited_unslashed': 1,
      'validators_by_status withdrawal_done': 1,
      'validators_by_status unknown': 1,
      'validators_by_status not_found': 1,
      'validators_by_status pending_queued': 0,
      validators_online: 8,
      validators_offline: 1,
      'validator_offline_since_timestamp_seconds 1': startOfEpoch(first) / 1000,
      validators_effective_balance_ether: 11 * 32,
      validators_epoch: first,
      'validators_score_ratio total': 0.98,
      'validators_duties attestation assigned': 2_700,
      'validators_duties attestation missed': 36,
      'sync_committee_validators current': 2,
    });
    // Neither a block nor the row tells when it was slashed, and no earlier answer says that it was not.
    expect(Object.keys(shown).filter((name) => name.includes('slashed_timestamp'))).toEqual([]);
    // The service does not know the next committee.
    expect(shown).not.toHaveProperty('sync_committee_validators next');
    const page = (await ask(port, '/')).body.toString();
    expect(page).not.toMatch(/Watched validator 1 .*offline|validator of mainnet offline/);

    service.epoch = first + 1;
    await waitFor(async () => expect((await series(port))['validators_epoch']).toBe(first + 1));
    // A later answer says it too.
    await waitFor(async () => expect((await ask(port, '/')).body.toString()).toContain('of mainnet offline: 1'));
    expect((await series(port))['validator_offline_since_timestamp_seconds 1']).toBe(startOfEpoch(first) / 1000);
    await program.stop('SIGKILL');
    const known = await portOf(again(file));
    expect((await series(known))['validator_offline_since_timestamp_seconds 1']).toBe(startOfEpoch(first) / 1000);
    expect((await series(known))['validators_duties attestation missed']).toBe(36);
    const asked = api.requests.filter(({ path }) => path === STATUS).length;
    await waitFor(() => expect(api.requests.filter(({ path }) => path === STATUS).length).toBeGreaterThan(asked));
    expect((await series(known))['validator_offline_since_timestamp_seconds 1']).toBe(startOfEpoch(first) / 1000);
    service.rows.delete(1);
    await waitFor(async () => expect((await series(known))['validators_offline']).toBe(0));
    expect(await series(known)).not.toHaveProperty('validator_offline_since_timestamp_seconds 1');
    // Members are known, so they are not requested again.
    expect(api.requests.filter(({ path }) => path.endsWith(`/${Math.floor(service.now / 256)}`))).toHaveLength(1);
  });

  it('a plan without the endpoint fails the source, is asked again, and pauses nothing else', async () => {
    const service = new Service();
    service.isStatusRefused = true;
    service.maxIdentifiers = 0;
    const { api, port, program, value } = await started(service, sections('"1-50"', { slashings: true }));
    const requests = () => api.requests.filter(({ path }) => path === STATUS).length;
    const heads = () => api.requests.filter(({ path }) => path.endsWith('/latest/slots')).length;
    await program.line('poll failed');
    const before = heads();
    // A second refusal within ten minutes is not enough to switch the part off.
    await waitFor(() => expect([requests() > 1, heads() > before]).toEqual([true, true]));
    const shown = await series(port);
    expect(Object.keys(shown).filter((name) => /status|online|offline|balance|epoch|duties a/.test(name))).toEqual([]);
    expect(shown['sync_committee_validators current']).toBe(2);
    expect(await value('beaconchain_source_up', { source: 'validators' })).toBe(0);
    expect(await value('beaconchain_source_part_refused', { source: 'validators', part: 'status' })).toBe(0);
    expect(program.lines('the service refuses a part of validators')).toEqual([]);
    service.isStatusRefused = false;
    await waitFor(async () => expect((await series(port))['validators_online']).toBe(50));
    await program.stop();
  });

  it('another watch by a reload: nothing of the old one is shown, and the new one comes with the next poll', async () => {
    const service = new Service();
    service.rows.set(3, { online: false });
    const { port, isUp, configure, reload } = await started(service, sections('"1-12"'));
    await isUp('validators');
    expect((await series(port))['validators_duties attestation assigned']).toBe(225 * 12);
    configure(sections('"11-40"'));
    await reload();
    const at = await series(port);
    expect(at['validators']).toBe(30);
    expect(at).not.toHaveProperty('validator_offline_since_timestamp_seconds 3');
    // Either nothing yet, or already that of the new ones.
    expect([undefined, 225 * 30]).toContain(at['validators_duties attestation assigned']);
    await waitFor(async () => {
      const later = await series(port);
      expect(later['validators_online']).toBe(30);
      expect(later['validators_duties attestation assigned']).toBe(225 * 30);
    });
    expect((await series(port))['sync_committee_validators current']).toBe(1);
  });

  it('counts the seats of finalized blocks once each, also over a kill', async () => {
    const service = new Service();
    service.seats = [7, 500_000, 12, 7];
    const { api, file, port, program, isUp } = await started(service, sections('"1-12"', { slashings: true }));
    await isUp('slashings');
    const counts = async (at: number) => {
      const shown = await series(at);
      const slots = seriesOf(await scrape(at)).find(({ name }) => name === 'beaconchain_slots_total')?.value;
      return [slots, ...['participated', 'missed'].map((status) => shown[`sync_committee_duties_total ${status}`])];
    };
    // Of the seats 0, 2 and 3 the bit of the first is set. The epoch may change at any moment.
    const [slots = 0, ...seats] = await counts(port);
    expect(slots % 32).toBe(0);
    expect(slots).toBeGreaterThan(0);
    expect(seats).toEqual([slots, 2 * slots]);
    await program.stop('SIGKILL');

    service.aheadMs = 3 * EPOCH;
    const next = again(file, ahead(service.aheadMs));
    const known = await portOf(next);
    await waitFor(async () => {
      const [later = 0, ...both] = await counts(known);
      expect(later).toBeGreaterThanOrEqual(slots + 3 * 32);
      expect(both).toEqual([later, 2 * later]);
    });
    await next.stop('SIGKILL');
    const kept = await portOf(again(file, ahead(service.aheadMs)));
    const [last = 0, ...both] = await counts(kept);
    expect(last).toBeGreaterThanOrEqual(slots + 3 * 32);
    expect(both).toEqual([last, 2 * last]);
    expect(program.lines('seats are not counted, because the members are not known')).toEqual([]);
    // Each of the two sources asks at most once for a period.
    expect(api.requests.filter(({ path }) => /sync_committee\/\d+$/.test(path)).length).toBeLessThanOrEqual(4);
  });
});
