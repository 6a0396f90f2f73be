import { describe, expect, it } from 'vitest';
import { epochAt } from '../../../src/facts/chain.ts';
import { watchOf } from '../../../src/facts/watch.ts';
import { validatorsSource } from '../../../src/sources/validators/index.ts';
import { NO_VALIDATORS, type Validators } from '../../../src/sources/validators/state.ts';
import { type FakeApi, failed, failing, type SentRequest } from '../../support/answers/fake-api.ts';
import {
  changesAt,
  chunksAsked,
  EPOCH,
  familiesOf,
  identifiersOf,
  MANY,
  NINE,
  NOW,
  next,
  pageOf,
  poll,
  serviceOf,
  sizesAsked,
  startOfEpoch,
  validatorRow,
  validatorsAnswer,
  validatorsOptions,
} from '../../support/answers/validators.ts';
import { samplesOf, sampleValue } from '../../support/exposition/samples.ts';
import { scheduleAt } from '../../support/runs/round.ts';
import { MINUTE } from '../../support/time/timing.ts';

const OPTIONS = validatorsOptions();
/** An answer about epoch 444377 is shown for its usual age of three epochs, and three more. */
const SHOWN_UNTIL = startOfEpoch(444_378 + 3 + 3);

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

/** A service that gives these rows. */
function serving(changes: Parameters<typeof rows>[0], epoch?: number): FakeApi {
  return serviceOf({ validators: rows(changes, epoch) });
}

/** Rows of the requested validators, changed by index. */
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

/** Fails if one of these validators is requested. */
function failsFor(indices: readonly number[], reason: Parameters<typeof failed>[1]) {
  return (request: SentRequest) => {
    if (identifiersOf(request).some((index) => indices.includes(index))) throw failed(request, reason);
    return rows({}, 444_378)(request);
  };
}

/** Validator 3 is offline. */
function off(epoch: number): FakeApi {
  return serving({ 3: { online: false } }, epoch);
}

describe('the status of watched validators', () => {
  it('is requested for ten validators at a time, then counted, summed and dated', async () => {
    const api = serviceOf();
    const { value: state, failure } = await poll(api);
    expect(failure).toBeUndefined();
    expect(sizesAsked(api, 'validators')).toEqual([10, 2]);
    expect(byStatus(state)).toEqual({ active_ongoing: 12 });
    const shown = ['online', 'offline', 'balance_ether', 'effective_balance_ether', 'epoch', 'epoch_timestamp_seconds'];
    const expected = [12, 0, 12 * 32.002422501, 384, 444_377, startOfEpoch(444_377) / 1000];
    expect(shown.map((name) => value(state, `validators_${name}`))).toEqual(expected);
  });

  it('counts unknown statuses as unknown, and missing rows as not found', async () => {
    const { value: state } = await poll(serving({ 1: { status: 'new_in_2027' }, 2: null, 3: { status: 7 }, 11: null }));
    expect(byStatus(state)).toEqual({ active_ongoing: 8, unknown: 2, not_found: 2 });
  });

  it('counts no validator as not found that may be on the next page', async () => {
    const validators = (request: SentRequest): unknown =>
      validatorsAnswer(444_377, [validatorRow(identifiersOf(request)[0] ?? 0)], 'next');
    const { value: state } = await poll(serviceOf({ validators }));
    expect(byStatus(state)).toEqual({ active_ongoing: 2, unread: 10 });
  });

  it('counts all as not found after a 404, which is never a refusal', async () => {
    const api = serviceOf({ validators: failing('not_found') });
    const { value: state, entry, failure } = await poll(api);
    expect(failure).toBeUndefined();
    expect(byStatus(state)).toEqual({ not_found: 12 });
    expect(entry.refusals).toEqual({});
  });

  it('counts null as neither online nor offline', async () => {
    const changes = { 1: { online: null }, 2: { validator: { index: null, public_key: '0x' } }, 3: { balances: null } };
    const { value: state } = await poll(serving(changes));
    expect(value(state, 'validators_online')).toBe(10);
    expect(value(state, 'validators_offline')).toBe(0);
    // The unreadable row may be that of the missing validator.
    expect(byStatus(state)).toEqual({ active_ongoing: 11, unread: 1 });
  });

  it('never counts a validator without duties as offline', async () => {
    const without = ['pending_queued', 'exited_unslashed', 'exited_slashed', 'withdrawal_possible', 'withdrawal_done'];
    const withDuties = ['active_exiting', 'active_slashed', 'new_in_2027'];
    const statuses = [...without, ...withDuties];
    const changes = Object.fromEntries(statuses.map((status, i) => [i + 1, { status, online: false }]));
    const { value: state } = await poll(serving(changes));
    expect(Object.keys(offlineSince(state))).toEqual(['6', '7', '8']);
    expect(value(state, 'validators_offline')).toBe(3);
    expect(value(state, 'validators_online')).toBe(4);
    const { tally } = pageOf(state);
    expect(tally).toEqual({ noun: 'validator', well: 4, known: 7, unknown: 0 });
  });

  it('never calls a slashed validator offline, because its owner had to stop it', async () => {
    const slashed = { slashed: true, status: 'active_slashed' };
    const changes = { 3: { ...slashed, online: false }, 4: { ...slashed, online: true } };
    const { value: first } = await poll(serving(changes));
    // One that was slashed stays slashed.
    const odd = { ...changes, 3: { ...changes[3], slashed: 'x' } };
    const { value: state } = await poll(serving(odd, 444_378), first, OPTIONS, NOW + EPOCH);
    const shown = ['online', 'offline', 'offline_effective_balance_ether'];
    expect(shown.map((name) => value(state, `validators_${name}`, NOW + EPOCH))).toEqual([11, 0, 0]);
    expect(offlineSince(state, NOW + EPOCH)).toEqual({});
  });

  it('remembers since which epoch a validator is offline', async () => {
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

  it('restarts the offline time after the values were withdrawn', async () => {
    const first = await poll(off(444_377));
    for (const [epochs, since] of [
      [6, 444_377],
      [7, 444_384],
      [675, 445_052],
    ] as const) {
      const now = NOW + epochs * EPOCH;
      const { value: state } = await poll(off(444_377 + epochs), first.value, OPTIONS, now);
      expect(offlineSince(state, now)).toEqual({ 3: startOfEpoch(since) });
    }
  });

  it('raises a notice at the second offline answer, even while another chunk fails', async () => {
    const answer = (epoch: number, online: boolean) => (request: SentRequest) => {
      if (!online && identifiersOf(request).includes(11)) throw failed(request, 'server_error');
      return rows({ 3: { online } }, epoch)(request);
    };
    let { entry } = await poll(serviceOf({ validators: answer(444_375, true) }), undefined, OPTIONS, NOW - 2 * EPOCH);
    for (const epoch of [444_376, 444_377]) {
      const now = NOW + (epoch - 444_377) * EPOCH;
      ({ entry } = await next(serviceOf({ validators: answer(epoch, false) }), entry, OPTIONS, now));
    }
    expect(byStatus(entry.value)).toEqual({ active_ongoing: 12 });
    expect(pageOf(entry.value).notices?.map(({ alert }) => alert)).toEqual(['BeaconchainValidatorOffline']);
  });

  describe.each<[string, (request: SentRequest) => unknown]>([
    ['404', failing('not_found')],
    ['200 without rows', () => validatorsAnswer(444_378, [])],
  ])('a %s', (_, none) => {
    const gone = (epoch: number) => (request: SentRequest) =>
      identifiersOf(request).includes(1) ? none(request) : rows({}, epoch)(request);
    const empty = (epoch: number) => () => validatorsAnswer(epoch, []);
    const there = (epoch: number) => rows({ 3: { online: false } }, epoch);
    /** When an epoch has passed since the first answer, in epochs from now. */
    const next = (startOfEpoch(444_379) - NOW) / EPOCH;

    it.each([
      ['once changes nothing', [gone(444_378)], [1.5], false],
      ['before an answer that has all changes nothing', [gone(444_378), there(444_380)], [1.5, 3], false],
      ['means nothing if another of its epoch follows', [gone(444_378), empty(444_378)], [1.5, 1.8], false],
      ['means nothing if another follows a minute later', [gone(444_378), gone(444_379)], [next - 0.1, next], false],
      ['means nothing before an older answer', [gone(444_378), rows({}, 444_376), gone(444_380)], [1, 2, 3], false],
      ['means not found if another follows an epoch later', [empty(444_378), empty(444_379)], [1.5, 3], true],
    ])('%s', async (_, answers, epochs, isGone) => {
      let { value: state } = await poll(off(444_377));
      for (const [i, validators] of answers.entries()) {
        const polled = await poll(serviceOf({ validators }), state, OPTIONS, NOW + (epochs[i] ?? 0) * EPOCH);
        expect(polled.failure).toBeUndefined();
        ({ value: state } = polled);
      }
      const now = NOW + (epochs.at(-1) ?? 0) * EPOCH;
      expect(byStatus(state, now)).toEqual(isGone ? { not_found: 12 } : { active_ongoing: 12 });
      expect(offlineSince(state, now)).toEqual(isGone ? {} : { 3: startOfEpoch(444_377) });
    });
  });

  it('fails if all rows are about other validators, and counts nobody as not found beside such a row', async () => {
    const { entry, value: before } = await poll(off(444_377));
    const others = (own: readonly number[]) => () =>
      validatorsAnswer(
        444_379,
        [...own, 1001].map((index) => validatorRow(index)),
      );
    const none = await next(serviceOf({ validators: others([]) }), entry, OPTIONS, NOW + 2 * EPOCH);
    expect(none.failure).toMatchObject({ endpoint: 'validators', reason: 'invalid_body' });
    expect(none.value.validators).toEqual(before.validators);
    const now = NOW + 2 * EPOCH;
    const { value: fresh } = await poll(serviceOf({ validators: others([1, 11]) }), undefined, OPTIONS, now);
    expect(byStatus(fresh, now)).toEqual({ active_ongoing: 2, unread: 10 });
  });

  it('names at most 100 offline validators, the longest first', async () => {
    const offFrom = (first: number, epoch: number) =>
      serving(Object.fromEntries(Array.from({ length: 151 }, (_, index) => [index, { online: index < first }])), epoch);
    const before = await poll(offFrom(120, 444_377), undefined, MANY);
    const after = await poll(offFrom(1, 444_378), before.value, MANY, NOW + EPOCH);
    const named = Object.keys(offlineSince(after.value, NOW + EPOCH, MANY)).map(Number);
    expect(named).toHaveLength(100);
    expect(named).toEqual(expect.arrayContaining([120, 150, 1, 69]));
    expect(value(after.value, 'validators_offline', NOW + EPOCH, MANY)).toBe(150);
  });

  it('sums balances only while those of every validator are known', async () => {
    const sums = (state: Validators, now = NOW): (number | undefined)[] =>
      ['balance', 'effective_balance', 'offline_effective_balance'].map((name) =>
        value(state, `validators_${name}_ether`, now),
      );
    const summed = async (row: Record<string, unknown> | null) => sums((await poll(serving({ 3: row }))).value);
    const balances = { current: '1000000000000000000', effective: null };
    expect(await summed({ online: false })).toEqual([12 * 32.002422501, 384, 32]);
    expect(await summed({ online: false, balances })).toEqual([expect.closeTo(353.0266), undefined, undefined]);
    expect(await summed({ balances })).toEqual([expect.closeTo(353.0266), undefined, 0]);
    expect(await summed(null)).toEqual([undefined, undefined, 0]);
    const { value: known } = await poll(serviceOf());
    const api = serviceOf({ validators: failsFor([1], 'server_error') });
    const { value: state } = await poll(api, known, OPTIONS, NOW + EPOCH);
    expect(sums(state, SHOWN_UNTIL)[1]).toBe(384);
    expect(sums(state, SHOWN_UNTIL + 1)).toEqual([undefined, undefined, undefined]);
  });

  describe('when requests fail', () => {
    it('keeps the values of a failed chunk until they are six epochs old', async () => {
      const { value: known } = await poll(serviceOf());
      const now = NOW + EPOCH;
      const api = serviceOf({ validators: failsFor([1], 'server_error') });
      const { value: state, failure } = await poll(api, known, OPTIONS, now);
      expect(failure).toMatchObject({ reason: 'server_error' });
      expect(byStatus(state, now)).toEqual({ active_ongoing: 12 });
      expect(value(state, 'validators_epoch', now)).toBe(444_377);
      expect(changesAt(familiesOf(state, now, OPTIONS))).toBe(SHOWN_UNTIL + 1);
      expect(byStatus(state, SHOWN_UNTIL)).toEqual({ active_ongoing: 12 });
      expect(byStatus(state, SHOWN_UNTIL + 1)).toEqual({ active_ongoing: 2, unread: 10 });
      expect(byStatus(state, SHOWN_UNTIL + EPOCH + 1)).toEqual({ unread: 12 });
    });

    it('repeats only the failed chunks', async () => {
      const indices = [5, 25, 45];
      const options = validatorsOptions({ watch: watchOf([{ first: 1, last: 60 }]) });
      const api = serviceOf({ validators: failsFor(indices, 'server_error') });
      const { value: state, entry } = await poll(api, undefined, options, NOW + EPOCH);
      expect(byStatus(state, NOW + EPOCH, options)).toEqual({ active_ongoing: 30, unread: 30 });
      const again = serviceOf({}, 444_378);
      const { value: whole } = await next(again, entry, options, NOW + EPOCH + MINUTE);
      expect(chunksAsked(again, 'validators').map(([first = 0]) => first + 4)).toEqual(indices);
      expect(byStatus(whole, NOW + EPOCH, options)).toEqual({ active_ongoing: 60 });
    });

    it('ends the read at an outage', async () => {
      const api = serviceOf({ validators: failing('network') });
      await poll(api);
      expect(chunksAsked(api, 'validators')).toHaveLength(1);
    });

    it('rejects an answer about a future epoch', async () => {
      const { value: state, failure } = await poll(serviceOf({}, 444_379));
      expect(failure).toMatchObject({ reason: 'invalid_body' });
      expect(byStatus(state)).toEqual({});
    });

    it('counts as refused after a second 403 in ten minutes, and gives its share to the other reads', async () => {
      const api = serviceOf({ validators: failing('forbidden') });
      const first = await poll(api, undefined, OPTIONS);
      expect(first.failure).toMatchObject({ reason: 'forbidden' });
      const { entry, failure, events } = await next(api, first.entry, OPTIONS, NOW + 10 * MINUTE);
      expect(failure).toBeUndefined();
      expect(events).toMatchObject([{ type: 'part_refused', part: 'status' }]);
      expect(chunksAsked(api, 'validators')).toHaveLength(2);
      const [before, after] = [first.entry, entry].map((known) => {
        const { reads } = scheduleAt(validatorsSource(OPTIONS), known, NOW + 10 * MINUTE, 30);
        return reads.find(({ read }) => read.name === 'duties')?.pace.intervalMs;
      });
      expect(before).toBeGreaterThan(15 * NINE);
      expect(after).toBeLessThan(2 * NINE);
    });

    it('is not refused by a 403 to a later chunk', async () => {
      const api = serviceOf({ validators: failsFor([11], 'forbidden') });
      const first = await poll(api, undefined, OPTIONS);
      const { entry, failure } = await next(api, first.entry, OPTIONS, NOW + 10 * MINUTE);
      expect(failure).toMatchObject({ reason: 'forbidden' });
      expect(scheduleAt(validatorsSource(OPTIONS), entry, NOW + 10 * MINUTE).first.read.name).toBe('status');
    });
  });

  it('follows a changed list at once, and reads new validators with the next poll', async () => {
    const { value: state } = await poll(serving({ 3: { online: false } }));
    const options = validatorsOptions({ watch: watchOf([5, 6, 100].map((index) => ({ first: index, last: index }))) });
    expect(byStatus(state, NOW, options)).toEqual({ active_ongoing: 2, unread: 1 });
    expect(offlineSince(state, NOW, options)).toEqual({});
    const { value: after } = await poll(serviceOf(), state, options);
    expect(after.validators.map(({ index }) => index)).toEqual([5, 6, 100]);
  });

  /** The epochs in which validator 4 was slashed, and first reported as slashed. */
  function times(state: Validators, now = NOW): (number | undefined)[] {
    const epochOf = (name: string): number | undefined => {
      const [sample] = samplesOf(familiesOf(state, now), `beaconchain_watched_validator_${name}_timestamp_seconds`);
      return sample && epochAt('mainnet', 1000 * Number(sample.value));
    };
    return [epochOf('slashed'), epochOf('reported_slashed')];
  }

  it.each<[string, life: unknown, epoch: number | undefined]>([
    ['the last epoch', { exit: 444_381, withdrawable: 444_376 + 8192 }, 444_376],
    ['2023', { exit: 200_005, withdrawable: 200_000 + 8192 }, 200_000],
    ['a later epoch, which is not believed', { exit: 444_381, withdrawable: 444_378 + 8192 }, undefined],
    // As recorded from production (api-facts 8).
    ['the exit alone, whose queue decided', { exit: 401_930, withdrawable: 402_186 }, undefined],
    ['nothing', undefined, undefined],
    ['nonsense', { exit: 'x', withdrawable: 2 ** 64 }, undefined],
  ])('dates a slashing before the first answer by %s, without an alert', async (_, life, epoch) => {
    const slashed = { slashed: true, status: 'active_slashed', life_cycle_epochs: life };
    const { value: state } = await poll(serving({ 4: slashed }));
    expect(value(state, 'validators_slashed')).toBe(1);
    expect(times(state)).toEqual([epoch, undefined]);
  });

  it.each<[string, changes: readonly (Record<string, unknown> | null)[], fires: boolean]>([
    ['after an answer that said it was not', [{}, { slashed: true }], true],
    ['also with an answer between that lacks it', [{}, null, { slashed: true }], true],
    ['for good', [{}, { slashed: true }, {}, null, { slashed: true }], true],
    ['but not if it was not found before', [null, { slashed: true }], false],
    ['but not if one answer withdraws an older one', [{ slashed: true }, {}, { slashed: true }], false],
  ])('fires the alert for a slashing that is reported %s', async (_, changes, fires) => {
    let state = NO_VALIDATORS;
    for (const [i, change] of changes.entries()) {
      ({ value: state } = await poll(serving({ 4: change }, 444_370 + i), state));
    }
    const first = 444_370 + changes.findIndex((one) => one?.['slashed'] === true);
    expect(times(state)).toEqual([undefined, fires ? first : undefined]);
    const { notices } = pageOf(state);
    expect(notices?.map(({ alert }) => alert)).toEqual(fires ? ['BeaconchainWatchedValidatorSlashed'] : []);
  });

  it('counts a slashed validator for good, unless another source does', async () => {
    const change = { 4: { slashed: true, status: 'withdrawal_done', online: null } };
    const { value: state } = await poll(serving(change));
    const { value: later } = await poll(serving({ 4: null }, 444_378), state, OPTIONS, NOW + EPOCH);
    expect(value(later, 'validators', NOW + EPOCH)).toBe(12);
    expect(value(later, 'validators_slashed', NOW + EPOCH)).toBe(1);
    expect(times(later)).toEqual([undefined, undefined]);
    const beside = familiesOf(later, NOW, OPTIONS, { showsSlashed: true });
    expect(beside.map(({ name }) => name)).not.toContain('beaconchain_watched_validators_slashed');
  });
});
