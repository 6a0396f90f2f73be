import { z } from 'zod';
import type { Api } from '../../../src/api/client.ts';
import { evenPace, nextTick, type Poll, type Source, type Timing } from '../../../src/sources/source.ts';
import { MINUTE } from '../time/timing.ts';

type Behaviour = Partial<Omit<Source<number>, 'poll'>> & {
  /** What a poll does. By default it adds one to the value. */
  readonly poll?: (
    previous: number,
    timing: Timing,
    signal: AbortSignal,
    api: Api,
  ) => Promise<Poll<number>> | Poll<number>;
};

/** A source whose value is a number. It is due at fixed intervals. */
export function fakeSource({ poll = (value) => ({ value: value + 1 }), ...overrides }: Behaviour = {}): Source {
  const source: Source<number> = {
    name: 'machines',
    endpoints: ['machine_metrics'],
    intervalMs: MINUTE,
    empty: 0,
    state: z.number(),
    due: (_value, attempts, timing) => nextTick(attempts, timing.intervalMs),
    weight: 1,
    isDaily: false,
    pace: (requestsPerDay, requestsPerPoll) =>
      evenPace(overrides.intervalMs ?? MINUTE, requestsPerDay, requestsPerPoll),
    poll: async (api, previous, timing, signal) => poll(previous, timing, signal, api),
    families: (value) => [{ name: 'fake', type: 'gauge', help: 'Fake.', samples: [{ labels: {}, value }] }],
    nextChange: () => Number.POSITIVE_INFINITY,
    ...overrides,
  };
  // Safe, because the scheduler returns to a source only the values of that source.
  return source as unknown as Source;
}
