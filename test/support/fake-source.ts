import { z } from 'zod';
import type { Api } from '../../src/api/client.ts';
import { evenPace, nextTick, type Poll, type Source, type Timing } from '../../src/sources/source.ts';
import { MINUTE } from './timing.ts';

type Behaviour = Partial<Omit<Source<number>, 'poll'>> & {
  /** What a poll does; the value is counted up by default. */
  readonly poll?: (
    previous: number,
    timing: Timing,
    signal: AbortSignal,
    api: Api,
  ) => Promise<Poll<number>> | Poll<number>;
};

/** A source that knows a number, with the plain cadence. */
export function fakeSource({ poll = (value) => ({ value: value + 1 }), ...overrides }: Behaviour = {}): Source {
  const source: Source<number> = {
    name: 'machines',
    endpoint: 'machine_metrics',
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
    summary: () => ({}),
    nextChange: () => Number.POSITIVE_INFINITY,
    ...overrides,
  };
  // The scheduler hands back only what it got from this source.
  return source as unknown as Source;
}
