import { describe, expect, it } from 'vitest';
import { epochAt } from '../../../src/facts/chain.ts';
import { watchOf } from '../../../src/facts/watch.ts';
import { emptyEntry } from '../../../src/scheduler/entry.ts';
import { pacesOf } from '../../../src/scheduler/schedules.ts';
import { link } from '../../../src/sources/content.ts';
import { validatorsSource } from '../../../src/sources/validators/index.ts';
import { NO_VALIDATORS, type Validators } from '../../../src/sources/validators/schema.ts';
import { validatorsSummary } from '../../../src/sources/validators/summary.ts';
import { type FakeApi, failed, failing, type SentRequest } from '../../support/answers/fake-api.ts';
import {
  EPOCH,
  familiesOf,
  identifiersOf,
  MANY,
  NOW,
  poll,
  serviceOf,
  startOfEpoch,
  validatorRow,
  validatorsAnswer,
  validatorsOptions,
} from '../../support/answers/validators.ts';
import { samplesOf, sampleValue } from '../../support/exposition/samples.ts';
import { attempts, DAY, MINUTE, timing } from '../../support/time/timing.ts';

const OPTIONS = validatorsOptions();

function byStatus(value: Validators, now = NOW, options = OPTIONS): Record<string, number> {
  const samples = samplesOf(familiesOf(value, now, options), 'beaconchain_watched_validators_by_status');
  return Object.fromEntries(samples.flatMap(({ labels, value: n }) => (n > 0 ? [[labels['status'], n]] : [])));
}

function value(state: Validators, name: string, now = NOW, options = OPTIONS): number | undefined {
  return sampleValue(familiesOf(state, now, options), `beaconchain_watched_${name}`, { chain: 'mainnet' });
}

function offlineSince(state: Validators, now = NOW, options = OPTIONS): Record<string, number> {
  const name = 'beaconchain_watched_validator_offline_since_timestamp_seconds';
  return Object.fromEntries(
    samplesOf(familiesOf(state, now, options), name).map(({ labels, value: at }) => [labels['validator'], at * 1000]),
  );
}

/** The service answers with rows for what is asked, changed by index. */
function serving(changes: Parameters<typeof rows>[0], epoch?: number): FakeApi {
  return serviceOf({ validators: rows(changes, epoch) });
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

/** Validator 3 is offline. */
function off(epoch: number): FakeApi {
  return serving({ 3: { online: false } }, epoch);
}

describe('the status of watched validators', () => {
  it('is requested for ten at a time, as the specification and the facts say', async () => {
    const api = serviceOf();
    const { value: state, failure } = await poll(api);
    expect(failure).toBeUndefined();
    expect(api.requests.filter(({ endpoint }) => endpoint === 'validators')).toEqual([
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
    const { value: state } = await poll(serving({ 1: { status: 'new_in_2027' }, 2: null, 11: null }));
    expect(byStatus(state)).toEqual({ active_ongoing: 9, unknown: 1, not_found: 2 });
  });

  it('counts no validator as not found that may be on the next page', async () => {
    const validators = (request: SentRequest): unknown =>
      validatorsAnswer(444_377, [validatorRow(identifiersOf(request)[0] ?? 0)], 'next');
    const { value: state } = await poll(serviceOf({ validators }));
    expect(byStatus(state)).toEqual({ active_ongoing: 2 });
  });

  it('takes a 404 as none was found, and never as a refusal', async () => {
    const api = serviceOf({ validators: failing('not_found') });
    const { value: state, failure } = await poll(api);
    expect(failure).toBeUndefined();
    expect(byStatus(state)).toEqual({ not_found: 12 });
    expect(state.refusals).toBeUndefined();
  });

  it('takes null for neither online nor offline, and rows without index or balances as they are', async () => {
    const changes = { 1: { online: null }, 2: { validator: { index: null, public_key: '0x' } }, 3: { balances: null } };
    const { value: state } = await poll(serving(changes));
    expect(value(state, 'validators_online')).toBe(10);
    expect(value(state, 'validators_offline')).toBe(0);
    // A row that cannot be read may be that of the missing one.
    expect(byStatus(state)).toEqual({ active_ongoing: 11 });
    expect(value(state, 'validators_effective_balance_ether')).toBe(320);
  });

  it('never takes a validator without duties for offline, whatever its row says', async () => {
    const without = ['pending_queued', 'exited_unslashed', 'exited_slashed', 'withdrawal_possible', 'withdrawal_done'];
    const withDuties = ['active_exiting', 'active_slashed', 'new_in_2027'];
    const statuses = [...without, ...withDuties];
    const changes = Object.fromEntries(statuses.map((status, i) => [i + 1, { status, online: false }]));
    const { value: state } = await poll(serving(changes));
    expect(Object.keys(offlineSince(state))).toEqual(['6', '7', '8']);
    expect(value(state, 'validators_offline')).toBe(3);
    expect(value(state, 'validators_online')).toBe(4);
    const { tally } = validatorsSummary(OPTIONS, state, timing({ now: NOW, intervalMs: EPOCH }), link);
    expect(tally).toEqual({ noun: 'validator', well: 4, known: 7, unknown: 0 });
  });

  it('remembers the epoch since which a validator is offline, until it is online or without duties', async () => {
    const first = await poll(off(444_377));
    expect(offlineSince(first.value)).toEqual({ 3: startOfEpoch(444_377) });
    const second = await poll(off(444_379), first.value, OPTIONS, NOW + 2 * EPOCH);
    expect(offlineSince(second.value, NOW + 2 * EPOCH)).toEqual({ 3: startOfEpoch(444_377) });
    expect(value(second.value, 'validators_offline', NOW + 2 * EPOCH)).toBe(1);
    for (const online of [true, null]) {
      const api = serving({ 3: { online } }, 444_380);
      const back = await poll(api, second.value, OPTIONS, NOW + 3 * EPOCH);
      expect(offlineSince(back.value, NOW + 3 * EPOCH)).toEqual({});
      const again = await poll(off(444_381), back.value, OPTIONS, NOW + 4 * EPOCH);
      expect(offlineSince(again.value, NOW + 4 * EPOCH)).toEqual({ 3: startOfEpoch(444_381) });
    }
  });

  it('is offline anew after its values were withdrawn, so that one answer days after another is no alert', async () => {
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
    const off = (first: number, epoch: number) => (request: SentRequest) =>
      validatorsAnswer(
        epoch,
        identifiersOf(request).map((index) => validatorRow(index, { online: index < first })),
      );
    const before = await poll(serviceOf({ validators: off(120, 444_377) }), undefined, MANY);
    const after = await poll(serviceOf({ validators: off(1, 444_378) }), before.value, MANY, NOW + EPOCH);
    const named = Object.keys(offlineSince(after.value, NOW + EPOCH, MANY)).map(Number);
    expect(named).toHaveLength(100);
    expect(named).toEqual(expect.arrayContaining([120, 150, 1, 69]));
    expect(value(after.value, 'validators_offline', NOW + EPOCH, MANY)).toBe(150);
  });

  describe('when requests fail', () => {
    const failsFor = (index: number, reason: Parameters<typeof failed>[1]) => (request: SentRequest) => {
      if (identifiersOf(request).includes(index)) throw failed(request, reason);
      return rows({}, 444_378)(request);
    };

    it('the validators of one that failed keep their values, and go once these are three epochs old', async () => {
      const { value: known } = await poll(serviceOf());
      const now = NOW + EPOCH;
      const api = serviceOf({ validators: failsFor(1, 'server_error') });
      const { value: state, failure } = await poll(api, known, OPTIONS, now);
      expect(failure).toMatchObject({ reason: 'server_error' });
      expect(byStatus(state, now)).toEqual({ active_ongoing: 12 });
      expect(value(state, 'validators_epoch', now)).toBe(444_377);
      expect(validatorsSource(OPTIONS).nextChange(state, timing({ now, intervalMs: EPOCH }))).toBe(NOW + 3 * EPOCH + 1);
      expect(byStatus(state, NOW + 3 * EPOCH)).toEqual({ active_ongoing: 12 });
      expect(byStatus(state, NOW + 3 * EPOCH + 1)).toEqual({ active_ongoing: 2 });
      expect(byStatus(state, NOW + 4 * EPOCH + 1)).toEqual({});
      // Where another request was answered, the part is not refused.
      const partly = await poll(serviceOf({ validators: failsFor(11, 'forbidden') }), known, OPTIONS, now);
      expect(partly.value.refusals).toBeUndefined();
    });

    it.each([
      ['in a row end the poll', [5, 15, 25], 3],
      ['among others do not', [5, 25, 45], 6],
    ])('three %s', async (_, indices, requests) => {
      const answer = (request: SentRequest) => {
        for (const index of indices) failsFor(index, 'server_error')(request);
        return rows({})(request);
      };
      const api = serviceOf({ validators: answer });
      await poll(api, undefined, validatorsOptions({ watch: watchOf([{ first: 1, last: 60 }]) }));
      expect(api.requests.map(identifiersOf)).toHaveLength(requests);
    });

    it('an answer of an epoch in the future is none', async () => {
      const { value: state, failure } = await poll(serviceOf({}, 444_379));
      expect(failure).toMatchObject({ reason: 'invalid_body' });
      expect(byStatus(state)).toEqual({});
    });

    it('403 of the first request, and again ten minutes later, refuses the part: reported once, requested again a day later or after a reload', async () => {
      const options = validatorsOptions();
      const api = serviceOf({ validators: failing('forbidden') });
      const first = await poll(api, undefined, options, NOW - 10 * MINUTE);
      expect(first.failure).toMatchObject({ reason: 'forbidden' });
      const again = await poll(api, first.value, options, NOW - 1);
      expect(again.failure).toMatchObject({ reason: 'forbidden' });
      expect([...(first.events ?? []), ...(again.events ?? [])]).toEqual([]);
      const { value: state, failure, events } = await poll(api, again.value, options);
      expect(failure).toBeUndefined();
      expect(events).toMatchObject([{ type: 'part_refused', part: 'status' }]);
      expect(api.requests).toHaveLength(3);
      const source = validatorsSource(options);
      expect(source.parts?.(first.value)).toContainEqual({ part: 'status', isRefused: false });
      expect(source.parts?.(state)).toContainEqual({ part: 'status', isRefused: true });
      expect(source.due(state, attempts(NOW), timing({ now: NOW, intervalMs: EPOCH }))).toBe(NOW + DAY);
      // The others get its share of a scarce budget.
      const allowance = { bucketOf: () => '', allowedPerDay: () => 30 };
      const planned = (known: Validators) =>
        pacesOf([{ source, current: { ...emptyEntry(source), value: known } }], allowance, NOW).get(source)
          ?.requestsPerDay;
      expect(planned(NO_VALIDATORS)).toBeCloseTo(30);
      expect(planned(state)).toBeLessThan(1);
      const { value: later, events: afterwards } = await poll(api, state, options, NOW + DAY);
      expect(api.requests).toHaveLength(4);
      expect(afterwards).toEqual([]);
      const reloaded = source.anew?.(later, NOW + DAY) ?? later;
      expect(source.due(reloaded, attempts(NOW + DAY), timing({ now: NOW + DAY + 2, intervalMs: EPOCH }))).toBe(
        NOW + DAY + EPOCH,
      );
    });
  });

  it('follows a changed watch: what is no longer watched goes, what is new comes with the next poll', async () => {
    const { value: state } = await poll(serving({ 3: { online: false } }));
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

  const ALONE = validatorsOptions({ hasSlashings: false });

  /** The epochs in which validator 4 was slashed and first reported so. */
  function times(state: Validators, now = NOW): (number | undefined)[] {
    const epochOf = (name: string): number | undefined => {
      const [sample] = samplesOf(
        familiesOf(state, now, ALONE),
        `beaconchain_watched_validator_${name}_timestamp_seconds`,
      );
      return sample && epochAt('mainnet', 1000 * Number(sample.value));
    };
    return [epochOf('slashed'), epochOf('reported_slashed')];
  }

  it.each<[string, life: unknown, epoch: number | undefined]>([
    ['the last epoch', { exit: 444_381, withdrawable: 444_376 + 8192 }, 444_376],
    ['2023', { exit: 200_005, withdrawable: 200_000 + 8192 }, 200_000],
    [
      'an epoch after that of the answer, which is not believed',
      { exit: 444_381, withdrawable: 444_378 + 8192 },
      undefined,
    ],
    // As recorded from production (api-facts 8).
    ['the exit alone, whose queue decided', { exit: 401_930, withdrawable: 402_186 }, undefined],
    ['nothing', undefined, undefined],
    ['nonsense', { exit: 'x', withdrawable: 2 ** 64 }, undefined],
  ])('a validator that is slashed when first read was slashed in %s, and fires no alert', async (_, life, epoch) => {
    const slashed = { slashed: true, status: 'active_slashed', life_cycle_epochs: life };
    const { value: state } = await poll(serving({ 4: slashed }), undefined, ALONE);
    expect(value(state, 'validators_slashed', NOW, ALONE)).toBe(1);
    expect(times(state)).toEqual([epoch, undefined]);
  });

  it.each<[string, changes: readonly (Record<string, unknown> | null)[], fires: boolean]>([
    ['after an answer that said it was not', [{}, { slashed: true }], true],
    ['also with an answer between that lacks it', [{}, null, { slashed: true }], true],
    ['for good', [{}, { slashed: true }, {}, null, { slashed: true }], true],
    ['but not if it was not found before', [null, { slashed: true }], false],
    ['but not if one answer withdraws an older one', [{ slashed: true }, {}, { slashed: true }], false],
  ])('fires the alert without a time if it is reported as slashed %s', async (_, changes, fires) => {
    let state = NO_VALIDATORS;
    for (const [i, change] of changes.entries()) {
      ({ value: state } = await poll(serving({ 4: change }, 444_370 + i), state, ALONE));
    }
    const first = 444_370 + changes.findIndex((one) => one?.['slashed'] === true);
    expect(times(state)).toEqual([undefined, fires ? first : undefined]);
    const { notices } = validatorsSummary(ALONE, state, timing({ now: NOW, intervalMs: EPOCH }), link);
    expect(notices?.map(({ alert }) => alert)).toEqual(fires ? ['BeaconchainWatchedValidatorSlashed'] : []);
  });

  it('counts a slashed validator for good where no other source does, also once it is withdrawn', async () => {
    const change = { 4: { slashed: true, status: 'withdrawal_done', online: null } };
    const { value: state } = await poll(serving(change), undefined, ALONE);
    const { value: later } = await poll(serving({ 4: null }, 444_378), state, ALONE, NOW + EPOCH);
    expect(value(later, 'validators', NOW + EPOCH, ALONE)).toBe(12);
    expect(value(later, 'validators_slashed', NOW + EPOCH, ALONE)).toBe(1);
    expect(times(later)).toEqual([undefined, undefined]);
    expect(familiesOf(later).map(({ name }) => name)).not.toContain('beaconchain_watched_validators_slashed');
  });
});
