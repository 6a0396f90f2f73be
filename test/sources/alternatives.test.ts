import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FAILURE_REASONS, type FailureReason, RequestFailed } from '../../src/api/errors.ts';
import { BudgetClosed } from '../../src/budget/permit.ts';
import { Alternatives, type Asked, askEither, mayTryOther } from '../../src/sources/alternatives.ts';
import { cases } from '../support/fuzz.ts';
import { DAY, HOUR, MINUTE, NOW, noSignal } from '../support/timing.ts';

const WAYS = ['a', 'b'] as const;
type Outcome = FailureReason | 'ok';
type Outcomes = Readonly<Record<(typeof WAYS)[number], Outcome>>;

/** A poll, and which ways it asked. What is known passes through JSON, as over a restart. */
async function poll(
  outcomes: Outcomes,
  known?: Alternatives,
  now = NOW,
  prefersFirst = false,
): Promise<Asked<string> & { asked: string[] }> {
  const asked: string[] = [];
  const result = await askEither(
    { ways: WAYS, prefersFirst, previous: known, now, signal: noSignal() },
    async (way) => {
      asked.push(way);
      const outcome = outcomes[way as keyof Outcomes];
      if (outcome !== 'ok') throw new RequestFailed('daily_returns', outcome, 'made up');
      return way;
    },
  );
  return {
    ...result,
    known: Alternatives.optional().parse(result.known && JSON.parse(JSON.stringify(result.known))),
    asked,
  };
}

/** These close the budget for every request. */
const CLOSING: readonly FailureReason[] = ['unauthorized', 'rate_limited', 'revoked'];

const reason = fc.constantFrom(...FAILURE_REASONS);
const outcome = fc.constantFrom<Outcome>(...FAILURE_REASONS, 'ok');
const known: fc.Arbitrary<Alternatives | undefined> = fc.option(
  fc.record(
    {
      first: fc.constantFrom('a', 'b', 'c'),
      answeredAt: fc.integer({ min: NOW - 3 * DAY, max: NOW + DAY }),
      tried: fc.record({ at: fc.integer({ min: NOW - 3 * DAY, max: NOW + DAY }), after: reason }),
    },
    { requiredKeys: ['first'] },
  ),
  { nil: undefined },
);

describe('sources/alternatives', () => {
  it('asks each way at most once in a poll, whatever is known', async () => {
    await fc.assert(
      fc.asyncProperty(outcome, outcome, known, fc.boolean(), async (a, b, before, prefersFirst) => {
        const { asked, answer, failure } = await poll({ a, b }, before, NOW, prefersFirst);
        expect(new Set(asked).size).toBe(asked.length);
        expect(answer === undefined).toBe(failure !== undefined);
        expect(answer ?? asked.at(-1)).toBe(asked.at(-1));
      }),
      cases(300),
    );
  });

  it('returns to the better way within a day of its return, at one further request a day until then', async () => {
    const rejected = fc.constantFrom(...FAILURE_REASONS.filter((one) => mayTryOther(undefined, one, NOW)));
    await fc.assert(
      fc.asyncProperty(rejected, async (a) => {
        let state: Alternatives | undefined;
        const asked: string[][] = [];
        for (let hour = 0; hour < 4 * 24; hour += 1) {
          const polled = await poll({ a, b: 'ok' }, state, NOW + hour * HOUR, true);
          expect(polled.answer).toBe('b');
          state = polled.known;
          asked.push(polled.asked);
        }
        expect(asked.filter(({ length }) => length === 2)).toEqual(Array(4).fill(['a', 'b']));
        const back = await poll({ a: 'ok', b: 'ok' }, state, NOW + 5 * DAY, true);
        expect(back.asked).toEqual(['a']);
        expect((await poll({ a: 'ok', b: 'ok' }, back.known, NOW + 5 * DAY + HOUR, true)).asked).toEqual(['a']);
      }),
      cases(6),
    );
  });

  it('a failure that persists costs one further request a day', async () => {
    const step = fc.integer({ min: HOUR / 2, max: 5 * HOUR });
    await fc.assert(
      fc.asyncProperty(reason, reason, known, step, fc.boolean(), async (a, b, before, interval, prefersFirst) => {
        let state: Alternatives | undefined = before;
        let further = 0;
        for (let at = NOW; at < NOW + 5 * DAY; at += interval) {
          const polled = await poll({ a, b }, state, at, prefersFirst);
          state = polled.known;
          further += polled.asked.length - 1;
        }
        // One more where what is known is from before another refusal.
        expect(further).toBeLessThanOrEqual(before === undefined ? 5 : 6);
      }),
      cases(200),
    );
  });

  it('finds the way that answers within a day, whatever was known, and then asks it alone', async () => {
    const refusal = fc.constantFrom(...FAILURE_REASONS.filter((one) => mayTryOther(undefined, one, NOW)));
    await fc.assert(
      fc.asyncProperty(refusal, fc.boolean(), known, async (refused, isA, before) => {
        const outcomes: Outcomes = isA ? { a: 'ok', b: refused } : { a: refused, b: 'ok' };
        // A time up to a day ahead of the clock counts as now.
        const first = await poll(outcomes, before);
        const later = await poll(outcomes, first.known, NOW + 2 * DAY);
        expect(later.answer).toBe(isA ? 'a' : 'b');
        const last = await poll(
          { a: 'forbidden', b: 'forbidden', [isA ? 'a' : 'b']: 'ok' },
          later.known,
          NOW + 9 * DAY,
        );
        expect(last.asked).toEqual([isA ? 'a' : 'b']);
      }),
      cases(200),
    );
  });

  it('does not take a way for absent that is only down: it is asked alone from then on', async () => {
    const { known: after, failure } = await poll({ a: 'forbidden', b: 'server_error' });
    expect(failure).toMatchObject({ reason: 'server_error' });
    const next = await poll({ a: 'forbidden', b: 'ok' }, after, NOW + MINUTE);
    expect(next).toMatchObject({ asked: ['b'], answer: 'b' });
  });

  it('goes back at once from a way that was down, and turns out not to be there', async () => {
    const { known: after } = await poll({ a: 'forbidden', b: 'timeout' });
    const next = await poll({ a: 'forbidden', b: 'not_found' }, after, NOW + MINUTE);
    expect(next).toMatchObject({ asked: ['b', 'a'], failure: { reason: 'forbidden' } });
    expect((await poll({ a: 'forbidden', b: 'not_found' }, next.known, NOW + HOUR)).asked).toEqual(['a']);
  });

  it('keeps the way that has answered through an hour in which nothing is found, whatever the other says', async () => {
    const other = fc.constantFrom(...FAILURE_REASONS);
    const during = fc.constantFrom<FailureReason>('not_found', 'forbidden', 'bad_request', 'invalid_body');
    const later = fc.integer({ min: 1, max: 40 });
    await fc.assert(
      fc.asyncProperty(during, other, later, async (a, b, hours) => {
        const before = (await poll({ a: 'ok', b })).known;
        const at = NOW + hours * HOUR;
        const down = (await poll({ a, b }, before, at)).known;
        const still = (await poll({ a, b }, down, at + HOUR)).known;
        expect((await poll({ a: 'ok', b }, still, at + 2 * HOUR)).answer).toBe('a');
      }),
      cases(200),
    );
  });

  it('finds the first way within a day of its return, where it was not found at first and the other never answers', async () => {
    const lasting = fc.constantFrom(...FAILURE_REASONS.filter((one) => !CLOSING.includes(one)));
    await fc.assert(
      fc.asyncProperty(reason, lasting, async (atFirst, b) => {
        let state = (await poll({ a: 'not_found', b: atFirst })).known;
        let answer: string | undefined;
        for (let hour = 1; hour <= 25; hour += 1) {
          ({ known: state, answer } = await poll({ a: 'ok', b }, state, NOW + hour * HOUR));
        }
        expect(answer).toBe('a');
      }),
      cases(200),
    );
  });

  it('leaves a way that was only down as soon as it is refused', async () => {
    for (const a of ['not_found', 'forbidden'] as const) {
      const { known: after } = await poll({ a, b: 'server_error' });
      for (const b of ['not_found', 'forbidden'] as const) {
        expect(await poll({ a: 'ok', b }, after, NOW + MINUTE)).toMatchObject({ asked: ['b', 'a'], answer: 'a' });
      }
    }
  });

  it('notes nothing where the budget does not let the other be asked', async () => {
    const polling = askEither({ ways: WAYS, previous: undefined, now: NOW, signal: noSignal() }, async (way) => {
      if (way === 'a') throw new RequestFailed('daily_returns', 'forbidden', 'made up');
      throw new BudgetClosed(NOW + DAY);
    });
    await expect(polling).rejects.toBeInstanceOf(BudgetClosed);
  });

  it('shows a refused key where the better way was to be asked again, and asks for that once the key is accepted', async () => {
    const before = (await poll({ a: 'not_found', b: 'ok' }, undefined, NOW, true)).known;
    for (const refused of ['unauthorized', 'revoked'] as const) {
      const { known: after, failure, asked } = await poll({ a: refused, b: refused }, before, NOW + DAY, true);
      expect(asked).toEqual(['a']);
      expect(failure).toMatchObject({ reason: refused });
      expect((await poll({ a: 'ok', b: 'ok' }, after, NOW + DAY + HOUR, true)).asked).toEqual(['a']);
    }
  });

  it('says of a way that it is the usual one from its answer until the other was tried without success', async () => {
    const said: [string, boolean][] = [];
    const ask = async (way: string, isUsual: boolean): Promise<string> => {
      said.push([way, isUsual]);
      if (way === 'a' || said.length > 3) throw new RequestFailed('daily_returns', 'bad_request', 'made up');
      return way;
    };
    let state: Alternatives | undefined;
    for (const at of [0, 2 * DAY, 2 * DAY + HOUR, 3 * DAY, 3 * DAY + HOUR]) {
      ({ known: state } = await askEither({ ways: WAYS, previous: state, now: NOW + at, signal: noSignal() }, ask));
    }
    expect(said).toEqual([
      ['a', false],
      ['b', false],
      ['b', true],
      ['b', true],
      ['b', true],
      ['a', false],
      ['b', false],
    ]);
  });
});
