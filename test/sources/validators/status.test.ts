import { describe, expect, it } from 'vitest';
import { watchOf } from '../../../src/lib/watch.ts';
import { pacesOf } from '../../../src/scheduler/schedules.ts';
import { validatorsSource } from '../../../src/sources/validators/index.ts';
import { NO_VALIDATORS, type Validators } from '../../../src/sources/validators/schema.ts';
import { emptyEntry } from '../../../src/state/entry.ts';
import { type FakeApi, failed, type SentRequest } from '../../support/fake-api.ts';
import { samplesOf, sampleValue } from '../../support/samples.ts';
import { attempts, DAY, timing } from '../../support/timing.ts';
import {
  EPOCH,
  identifiersOf,
  NOW,
  poll,
  serviceOf,
  startOfEpoch,
  validatorRow,
  validatorsAnswer,
  validatorsOptions,
} from '../../support/validators.ts';

const OPTIONS = validatorsOptions();

function families(value: Validators, now = NOW, options = OPTIONS, intervalMs = EPOCH) {
  return validatorsSource(options).families(value, timing({ now, intervalMs }));
}

function byStatus(value: Validators, now = NOW, options = OPTIONS): Record<string, number> {
  const samples = samplesOf(families(value, now, options), 'beaconchain_watched_validators_by_status');
  return Object.fromEntries(samples.flatMap(({ labels, value: n }) => (n > 0 ? [[labels['status'], n]] : [])));
}

function value(state: Validators, name: string, now = NOW, options = OPTIONS): number | undefined {
  return sampleValue(families(state, now, options), `beaconchain_watched_${name}`, { chain: 'mainnet' });
}

function offlineSince(state: Validators, now = NOW, options = OPTIONS): Record<string, number> {
  const name = 'beaconchain_watched_validator_offline_since_timestamp_seconds';
  return Object.fromEntries(
    samplesOf(families(state, now, options), name).map(({ labels, value: at }) => [labels['validator'], at * 1000]),
  );
}

/** Rows for what is asked, changed by index. */
function rows(changes: Record<number, Record<string, unknown> | null>, epoch = 444_377): (r: SentRequest) => unknown {
  return (request) =>
    validatorsAnswer(
      epoch,
      identifiersOf(request).flatMap((index) => {
        const change = changes[index];
        return change === null ? [] : [validatorRow(index, change)];
      }),
    );
}

function statusRequests(api: FakeApi): SentRequest[] {
  return api.requests.filter(({ endpoint }) => endpoint === 'validators');
}

describe('the status of watched validators', () => {
  it('is requested for ten at a time, as the specification and the facts say', async () => {
    const api = serviceOf();
    const { value: state, failure } = await poll(api);
    expect(failure).toBeUndefined();
    expect(statusRequests(api)).toEqual([
      {
        endpoint: 'validators',
        priority: 'validators',
        path: '/api/v2/ethereum/validators',
        body: {
          chain: 'mainnet',
          validator: { validator_identifiers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
          page_size: 10,
        },
      },
      expect.objectContaining({
        body: { chain: 'mainnet', validator: { validator_identifiers: [11, 12] }, page_size: 10 },
      }),
    ]);
    expect(byStatus(state)).toEqual({ active_ongoing: 12 });
    expect(value(state, 'validators_online')).toBe(12);
    expect(value(state, 'validators_offline')).toBe(0);
    expect(value(state, 'validators_balance_ether')).toBe(12 * 32.002422501);
    expect(value(state, 'validators_effective_balance_ether')).toBe(384);
    expect(value(state, 'validators_epoch')).toBe(444_377);
    expect(value(state, 'validators_epoch_timestamp_seconds')).toBe(startOfEpoch(444_377) / 1000);
  });

  it('counts unknown names as unknown, and what the answer lacks as not found', async () => {
    const { value: state } = await poll(
      serviceOf({ validators: rows({ 1: { status: 'new_in_2027' }, 2: null, 11: null }) }),
    );
    expect(byStatus(state)).toEqual({ active_ongoing: 9, unknown: 1, not_found: 2 });
  });

  it('counts no validator as not found that may be on the next page', async () => {
    const validators = (request: SentRequest): unknown =>
      validatorsAnswer(444_377, [validatorRow(identifiersOf(request)[0] ?? 0)], 'next');
    const { value: state } = await poll(serviceOf({ validators }));
    expect(byStatus(state)).toEqual({ active_ongoing: 2 });
  });

  it('takes a 404 as none was found, and never as a refusal', async () => {
    const api = serviceOf({
      validators: (request) => {
        throw failed(request, 'not_found');
      },
    });
    const { value: state, failure } = await poll(api);
    expect(failure).toBeUndefined();
    expect(byStatus(state)).toEqual({ not_found: 12 });
    expect(state.statusRefusal).toBeUndefined();
  });

  it('takes null for neither online nor offline, and rows without index or balances as they are', async () => {
    const changes = { 1: { online: null }, 2: { validator: { index: null, public_key: '0x' } }, 3: { balances: null } };
    const { value: state } = await poll(serviceOf({ validators: rows(changes) }));
    expect(value(state, 'validators_online')).toBe(10);
    expect(value(state, 'validators_offline')).toBe(0);
    // A row that cannot be read may be that of the missing one.
    expect(byStatus(state)).toEqual({ active_ongoing: 11 });
    expect(value(state, 'validators_effective_balance_ether')).toBe(320);
  });

  it('remembers the epoch since which a validator is offline, until it is online or without duties', async () => {
    const off = (epoch: number) => serviceOf({ validators: rows({ 3: { online: false } }, epoch) }, epoch);
    const first = await poll(off(444_377));
    expect(offlineSince(first.value)).toEqual({ 3: startOfEpoch(444_377) });
    const second = await poll(off(444_379), first.value, OPTIONS, NOW + 2 * EPOCH);
    expect(offlineSince(second.value, NOW + 2 * EPOCH)).toEqual({ 3: startOfEpoch(444_377) });
    expect(value(second.value, 'validators_offline', NOW + 2 * EPOCH)).toBe(1);
    for (const online of [true, null]) {
      const api = serviceOf({ validators: rows({ 3: { online } }, 444_380) }, 444_380);
      const back = await poll(api, second.value, OPTIONS, NOW + 3 * EPOCH);
      expect(offlineSince(back.value, NOW + 3 * EPOCH)).toEqual({});
      const again = await poll(off(444_381), back.value, OPTIONS, NOW + 4 * EPOCH);
      expect(offlineSince(again.value, NOW + 4 * EPOCH)).toEqual({ 3: startOfEpoch(444_381) });
    }
  });

  it('is offline anew after its values were withdrawn, so that one answer days after another is no alert', async () => {
    const off = (epoch: number) => serviceOf({ validators: rows({ 3: { online: false } }, epoch) }, epoch);
    const first = await poll(off(444_377));
    for (const [epochs, since] of [
      [3, 444_377],
      [4, 444_381],
      [675, 445_052],
    ] as const) {
      const now = NOW + epochs * EPOCH;
      const { value: state } = await poll(off(444_377 + epochs), first.value, OPTIONS, now);
      expect(offlineSince(state, now)).toEqual({ 3: startOfEpoch(since) });
    }
  });

  it('names at most 100 that are offline, the longest first', async () => {
    const options = validatorsOptions({ watch: watchOf([{ first: 1, last: 150 }]) });
    const off = (first: number, epoch: number) => (request: SentRequest) =>
      validatorsAnswer(
        epoch,
        identifiersOf(request).map((index) => validatorRow(index, { online: index < first })),
      );
    const before = await poll(serviceOf({ validators: off(120, 444_377) }), undefined, options);
    const after = await poll(serviceOf({ validators: off(1, 444_378) }), before.value, options, NOW + EPOCH);
    const named = Object.keys(offlineSince(after.value, NOW + EPOCH, options)).map(Number);
    expect(named).toHaveLength(100);
    expect(named).toEqual(expect.arrayContaining([120, 150, 1, 69]));
    expect(value(after.value, 'validators_offline', NOW + EPOCH, options)).toBe(150);
  });

  describe('when requests fail', () => {
    const failsFor = (index: number, reason: Parameters<typeof failed>[1]) => (request: SentRequest) => {
      if (identifiersOf(request).includes(index)) throw failed(request, reason);
      return rows({}, 444_378)(request);
    };

    it('the validators of one that failed keep their values, and go once these are three epochs old', async () => {
      const { value: known } = await poll(serviceOf());
      const now = NOW + EPOCH;
      const { value: state, failure } = await poll(
        serviceOf({ validators: failsFor(1, 'server_error') }),
        known,
        OPTIONS,
        now,
      );
      expect(failure).toMatchObject({ reason: 'server_error' });
      expect(byStatus(state, now)).toEqual({ active_ongoing: 12 });
      expect(value(state, 'validators_epoch', now)).toBe(444_377);
      expect(validatorsSource(OPTIONS).nextChange(state, timing({ now, intervalMs: EPOCH }))).toBe(NOW + 3 * EPOCH + 1);
      expect(byStatus(state, NOW + 3 * EPOCH)).toEqual({ active_ongoing: 12 });
      expect(byStatus(state, NOW + 3 * EPOCH + 1)).toEqual({ active_ongoing: 2 });
      expect(byStatus(state, NOW + 4 * EPOCH + 1)).toEqual({});
      // Where another request was answered, the part is not refused.
      const partly = await poll(serviceOf({ validators: failsFor(11, 'forbidden') }), known, OPTIONS, now);
      expect(partly.value.statusRefusal).toBeUndefined();
    });

    it('an answer of an epoch in the future is none', async () => {
      const { value: state, failure } = await poll(serviceOf({}, 444_379));
      expect(failure).toMatchObject({ reason: 'invalid_body' });
      expect(byStatus(state)).toEqual({});
    });

    it('403 of the first request refuses the part: reported once, no failure, requested again a day later or after a reload', async () => {
      const told: string[] = [];
      const options = validatorsOptions({ onRefused: (part) => told.push(part) });
      const api = serviceOf({
        validators: (request) => {
          throw failed(request, 'forbidden');
        },
      });
      const { value: state, failure } = await poll(api, undefined, options);
      expect(failure).toBeUndefined();
      expect(told).toEqual(['status']);
      expect(api.requests).toHaveLength(1);
      const source = validatorsSource(options);
      expect(source.due(state, attempts(NOW), timing({ now: NOW, intervalMs: EPOCH }))).toBe(NOW + DAY);
      // The others get its share of a scarce budget.
      const allowance = { bucketOf: () => '', allowedPerDay: () => 30 };
      const planned = (known: Validators) =>
        pacesOf([{ source, current: { ...emptyEntry(source), value: known } }], allowance, NOW).get(source)
          ?.requestsPerDay;
      expect(planned(NO_VALIDATORS)).toBeCloseTo(30);
      expect(planned(state)).toBeLessThan(1);
      const { value: later } = await poll(api, state, options, NOW + DAY);
      expect(api.requests).toHaveLength(2);
      expect(told).toEqual(['status']);
      const reloaded = validatorsSource(validatorsOptions({ operatorAt: NOW + DAY + 1 }));
      expect(reloaded.due(later, attempts(NOW + DAY), timing({ now: NOW + DAY + 2, intervalMs: EPOCH }))).toBe(
        NOW + DAY + EPOCH,
      );
    });
  });

  it('follows a changed watch: what is no longer watched goes, what is new comes with the next poll', async () => {
    const { value: state } = await poll(serviceOf({ validators: rows({ 3: { online: false } }) }));
    const options = validatorsOptions({
      watch: watchOf([
        { first: 5, last: 6 },
        { first: 100, last: 100 },
      ]),
    });
    expect(byStatus(state, NOW, options)).toEqual({ active_ongoing: 2 });
    expect(offlineSince(state, NOW, options)).toEqual({});
    const { value: next } = await poll(serviceOf(), state, options);
    expect(next.validators.map(({ index }) => index)).toEqual([5, 6, 100]);
  });

  it('counts a slashed validator for good where no other source does, also once it is withdrawn', async () => {
    const options = validatorsOptions({ hasSlashings: false });
    const change = { 4: { slashed: true, status: 'withdrawal_done', online: null } };
    const { value: state } = await poll(serviceOf({ validators: rows(change) }), undefined, options);
    const { value: later } = await poll(
      serviceOf({ validators: rows({ 4: null }, 444_378) }, 444_378),
      state,
      options,
      NOW + EPOCH,
    );
    expect(value(later, 'validators', NOW + EPOCH, options)).toBe(12);
    expect(value(later, 'validators_slashed', NOW + EPOCH, options)).toBe(1);
    const [slashed] = samplesOf(
      families(later, NOW, options),
      'beaconchain_watched_validator_slashed_timestamp_seconds',
    );
    expect(slashed).toMatchObject({ labels: { validator: '4' }, value: startOfEpoch(444_377) / 1000 });
    expect(families(later).map(({ name }) => name)).not.toContain('beaconchain_watched_validators_slashed');
  });
});
