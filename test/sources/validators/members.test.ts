import { describe, expect, it } from 'vitest';
import { watchOf } from '../../../src/facts/watch.ts';
import { membersAnswer } from '../../../src/sandbox/sync-committee.ts';
import type { Entry } from '../../../src/scheduler/entry.ts';
import { validatorsSource } from '../../../src/sources/validators/index.ts';
import { NO_VALIDATORS, type Validators } from '../../../src/sources/validators/state.ts';
import type { SentRequest } from '../../support/answers/fake-api.ts';
import {
  CURRENT,
  changesAt,
  committeeOf,
  EPOCH,
  familiesOf,
  NOW,
  next,
  PERIOD,
  poll,
  serviceOf,
  startOfEpoch,
  validatorsOptions,
} from '../../support/answers/validators.ts';
import { samplesOf, sampleValue } from '../../support/exposition/samples.ts';
import { scheduleAt } from '../../support/runs/round.ts';
import { HOUR } from '../../support/time/timing.ts';

const OPTIONS = validatorsOptions({ status: false, syncCommittee: true, watch: watchOf([{ first: 1, last: 99 }]) });
const SOURCE = validatorsSource(OPTIONS);
const START = startOfEpoch(CURRENT * 256);

/** A service with these members by period. `next` is the period after `head`. */
function membersOf(committees: Record<number, readonly unknown[]>, head = CURRENT) {
  return serviceOf({
    sync_committee_members: ({ path }: SentRequest) => {
      const selector = path.split('/').at(-1);
      const period = selector === 'next' ? head + 1 : Number(selector);
      const members = committees[period];
      return membersAnswer(period, members && committeeOf(members));
    },
  });
}

const KNOWN = { [CURRENT]: [7, 500_000, 12, 7, 99], [CURRENT + 1]: [500_001, 3] };

function asked(api: ReturnType<typeof serviceOf>): (string | undefined)[] {
  return api.requests.map(({ path }) => path.split('/').at(-1));
}

function shown(state: Validators, now = NOW): Record<string, string[] | undefined> {
  const families = familiesOf(state, now, OPTIONS);
  return Object.fromEntries(
    ['current', 'next'].map((period) => {
      const series = samplesOf(families, 'beaconchain_watched_sync_committee_validator').filter(
        ({ labels }) => labels['period'] === period,
      );
      const count = sampleValue(families, 'beaconchain_watched_sync_committee_validators', {
        chain: 'mainnet',
        period,
      });
      expect(series).toHaveLength(count ?? 0);
      return [period, count === undefined ? undefined : series.map(({ labels }) => labels['validator'] ?? '')];
    }),
  );
}

/** When the members are requested next. */
function dueAfter(entry: Entry<Validators>, now = NOW): number {
  return scheduleAt(SOURCE, entry, now).first.nextAttemptAt;
}

describe('the sync committees of watched validators', () => {
  it('are read once, the current one and the next, with all seats in order', async () => {
    const api = membersOf(KNOWN);
    const { value: state, entry, failure } = await poll(api, NO_VALIDATORS, OPTIONS);
    expect(failure).toBeUndefined();
    expect(asked(api)).toEqual([String(CURRENT), 'next']);
    expect(api.requests[0]).toMatchObject({ endpoint: 'sync_committee_members', chain: 'mainnet' });
    expect(shown(state)).toEqual({ current: ['7', '12', '99'], next: ['3'] });
    expect(state.committees).toContainEqual({ period: CURRENT, seats: committeeOf([7, 500_000, 12, 7, 99]) });
    expect(SOURCE.more?.gives?.(state).seatsOf?.(CURRENT + 1)).toEqual(committeeOf([500_001, 3]));
    expect(dueAfter(entry)).toBe(START + PERIOD + 5 * EPOCH);
  });

  it('change at the boundary without a poll', async () => {
    const { value: state, entry } = await poll(membersOf(KNOWN), NO_VALIDATORS, OPTIONS);
    const boundary = START + PERIOD;
    expect(changesAt(familiesOf(state, NOW, OPTIONS))).toBe(boundary);
    expect(shown(state, boundary - 1)).toEqual({ current: ['7', '12', '99'], next: ['3'] });
    expect(shown(state, boundary)).toEqual({ current: ['3'], next: undefined });
    const api = membersOf({ [CURRENT + 2]: [1] }, CURRENT + 1);
    const known = boundary + 5 * EPOCH;
    expect(dueAfter(entry, boundary)).toBe(known);
    const { value: later } = await next(api, entry, OPTIONS, known);
    expect(asked(api)).toEqual(['next']);
    expect(shown(later, known)).toEqual({ current: ['3'], next: ['1'] });
    // The last epochs of a period are counted after its end.
    expect(later.committees.map(({ period }) => period)).toEqual([CURRENT, CURRENT + 1, CURRENT + 2]);
  });

  it('do not include the next one in the first five epochs, because the service does not know it', async () => {
    const api = membersOf(KNOWN);
    const { entry } = await poll(api, NO_VALIDATORS, OPTIONS, START + EPOCH);
    expect(asked(api)).toEqual([String(CURRENT)]);
    expect(dueAfter(entry, START + EPOCH)).toBe(START + 5 * EPOCH);
  });

  it('are requested for the current period even if all are known, to show what the account permits', async () => {
    const { value: known } = await poll(membersOf(KNOWN), NO_VALIDATORS, OPTIONS);
    const api = membersOf({});
    const { value: state } = await poll(api, known, OPTIONS, NOW + HOUR);
    expect(asked(api)).toEqual([String(CURRENT)]);
    expect(state).toEqual(known);
  });

  it('are unknown after an empty list, no seats or another period, and requested an hour later', async () => {
    const [none, empty, other] = [undefined, [], null].map((seats) => membersAnswer(CURRENT, seats));
    for (const body of [none, empty, other, membersAnswer(CURRENT - 1, committeeOf([7]))]) {
      const api = serviceOf({ sync_committee_members: () => body });
      const { value: state, entry, failure } = await poll(api, NO_VALIDATORS, OPTIONS);
      expect(failure).toBeUndefined();
      expect(shown(state)).toEqual({ current: undefined, next: undefined });
      expect(dueAfter(entry)).toBe(NOW + HOUR);
    }
  });

  it('are rejected with an unreadable seat, because positions could be wrong', async () => {
    const api = serviceOf({ sync_committee_members: () => membersAnswer(CURRENT, committeeOf([7, 'x', 12])) });
    const { value: state, failure } = await poll(api, NO_VALIDATORS, OPTIONS);
    expect(failure).toMatchObject({ reason: 'invalid_body' });
    expect(state.committees).toEqual([]);
  });
});
