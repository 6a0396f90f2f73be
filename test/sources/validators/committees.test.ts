import { describe, expect, it } from 'vitest';
import { watchOf } from '../../../src/facts/watch.ts';
import { validatorsSource } from '../../../src/sources/validators/index.ts';
import { NO_VALIDATORS, type Validators } from '../../../src/sources/validators/schema.ts';
import { failing, type SentRequest } from '../../support/answers/fake-api.ts';
import {
  CURRENT,
  committeeOf,
  EPOCH,
  membersAnswer,
  NOW,
  PERIOD,
  poll,
  serviceOf,
  startOfEpoch,
  validatorsOptions,
} from '../../support/answers/validators.ts';
import { samplesOf, sampleValue } from '../../support/exposition/samples.ts';
import { attempts, DAY, HOUR, timing } from '../../support/time/timing.ts';

const OPTIONS = validatorsOptions({ status: false, syncCommittee: true, watch: watchOf([{ first: 1, last: 99 }]) });
const SOURCE = validatorsSource(OPTIONS);
const START = startOfEpoch(CURRENT * 256);
const NEXT_KNOWN = START + 5 * EPOCH;

/** Members by period; `next` is the one after `head`, and others are not known yet. */
function membersOf(committees: Record<number, readonly unknown[]>, head = CURRENT) {
  return serviceOf({
    sync_committee_members: ({ path }: SentRequest) => {
      const selector = path.split('/').at(-1);
      const period = selector === 'next' ? head + 1 : Number(selector);
      const members = committees[period];
      return members ? membersAnswer(period, committeeOf(members)) : { status: 'OK', data: [] };
    },
  });
}

const KNOWN = { [CURRENT]: [7, 500_000, 12, 7, 99], [CURRENT + 1]: [500_001, 3] };

function asked(api: ReturnType<typeof serviceOf>): (string | undefined)[] {
  return api.requests.map(({ path }) => path.split('/').at(-1));
}

function shown(state: Validators, now = NOW): Record<string, string[] | undefined> {
  const families = SOURCE.families(state, timing({ now }));
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

function due(state: Validators, lastAttemptAt: number, now = lastAttemptAt): number {
  return SOURCE.due(state, attempts(lastAttemptAt), timing({ now, intervalMs: EPOCH }));
}

describe('the sync committees of watched validators', () => {
  it('are read once: the current one and the next, each watched member once, the seats kept in order', async () => {
    const api = membersOf(KNOWN);
    const { value: state, failure } = await poll(api, NO_VALIDATORS, OPTIONS);
    expect(failure).toBeUndefined();
    expect(asked(api)).toEqual([String(CURRENT), 'next']);
    expect(api.requests[0]).toMatchObject({ endpoint: 'sync_committee_members', chain: 'mainnet' });
    expect(shown(state)).toEqual({ current: ['7', '12', '99'], next: ['3'] });
    expect(state.committees).toContainEqual({ period: CURRENT, seats: committeeOf([7, 500_000, 12, 7, 99]) });
    expect(due(state, NOW)).toBe(START + PERIOD + 5 * EPOCH);
  });

  it('move on at the boundary without a request, and without a poll', async () => {
    const { value: state } = await poll(membersOf(KNOWN), NO_VALIDATORS, OPTIONS);
    const boundary = START + PERIOD;
    expect(SOURCE.nextChange(state, timing({ now: NOW }))).toBe(boundary);
    expect(shown(state, boundary - 1)).toEqual({ current: ['7', '12', '99'], next: ['3'] });
    expect(shown(state, boundary)).toEqual({ current: ['3'], next: undefined });
    const api = membersOf({ [CURRENT + 2]: [1] }, CURRENT + 1);
    expect(due(state, boundary, boundary)).toBe(boundary + 5 * EPOCH);
    const { value: later } = await poll(api, state, OPTIONS, boundary + 5 * EPOCH);
    expect(asked(api)).toEqual(['next']);
    expect(shown(later, boundary + 5 * EPOCH)).toEqual({ current: ['3'], next: ['1'] });
    // The last epochs of the period before are counted after its end.
    expect(later.committees.map(({ period }) => period)).toEqual([CURRENT, CURRENT + 1, CURRENT + 2]);
  });

  it('the next one is not requested in the first five epochs, in which the service does not know it', async () => {
    const api = membersOf(KNOWN);
    const { value: state } = await poll(api, NO_VALIDATORS, OPTIONS, START + EPOCH);
    expect(asked(api)).toEqual([String(CURRENT)]);
    expect(due(state, START + EPOCH)).toBe(NEXT_KNOWN);
  });

  it.each([
    ['an empty list', { status: 'OK', data: [] }],
    ['a committee without seats', membersAnswer(CURRENT, [])],
    ['null for its seats', membersAnswer(CURRENT, null)],
    ['another period', membersAnswer(CURRENT - 1, committeeOf([7]))],
  ])('%s means that they are not known: asked again an hour later', async (_, body) => {
    const { value: state, failure } = await poll(
      serviceOf({ sync_committee_members: () => body }),
      NO_VALIDATORS,
      OPTIONS,
    );
    expect(failure).toBeUndefined();
    expect(shown(state)).toEqual({ current: undefined, next: undefined });
    expect(due(state, NOW)).toBe(NOW + HOUR);
  });

  it('a list with a seat that cannot be read is none: the positions could be wrong', async () => {
    const api = serviceOf({ sync_committee_members: () => membersAnswer(CURRENT, committeeOf([7, 'x', 12])) });
    const { value: state, failure } = await poll(api, NO_VALIDATORS, OPTIONS);
    expect(failure).toMatchObject({ reason: 'invalid_body' });
    expect(state.committees).toEqual([]);
  });

  it.each([
    ['next poll after an outage', 'server_error', EPOCH],
    ['next poll after the page of a CDN', 'unexpected_status', EPOCH],
    ['next hour after a refusal', 'forbidden', HOUR],
  ] as const)('are asked for again in the %s (%s), and the other parts are read', async (_, reason, wait) => {
    const api = serviceOf({ sync_committee_members: failing(reason) });
    const { value: state } = await poll(api, NO_VALIDATORS, { ...OPTIONS, status: true });
    expect(due(state, NOW)).toBe(NOW + wait);
    expect(state.performance.groups).toHaveLength(1);
  });

  it('two refusals turn them off for a day, told once; what is known stays, and the status is read', async () => {
    const options = { ...OPTIONS, status: true };
    const { value: known } = await poll(membersOf({ [CURRENT]: [7] }), NO_VALIDATORS, options);
    const api = serviceOf({ sync_committee_members: failing('forbidden') });
    const later = NOW + 2 * HOUR;
    const first = await poll(api, known, options, NOW + HOUR);
    expect([first.failure, first.events]).toMatchObject([{ reason: 'forbidden' }, []]);
    const { value: state, failure, events } = await poll(api, first.value, options, later);
    expect([failure, events]).toMatchObject([undefined, [{ type: 'part_refused', part: 'sync_committee' }]]);
    expect(api.requests.filter(({ endpoint }) => endpoint === 'validators')).toHaveLength(20);
    expect(shown(state, later)).toEqual({ current: ['7'], next: undefined });
    expect(due(state, later)).toBe(later + DAY);
  });
});
