import { z } from 'zod';
import type { Outcome, Read, ReadContext } from '../../../src/sources/read.ts';
import type { Source } from '../../../src/sources/source.ts';
import { MINUTE } from '../time/timing.ts';

type FakeRead = Partial<Omit<Read<number>, 'run'>> & {
  /** What a run does. By default it adds one to the value. */
  readonly run?: (value: number, context: ReadContext) => Promise<Outcome<number>> | Outcome<number>;
};

type Behaviour = Partial<Omit<Source<number>, 'reads'>> & FakeRead & { readonly reads?: readonly FakeRead[] };

export function fakeRead({ run = (value) => ({ value: value + 1 }), ...overrides }: FakeRead = {}): Read<number> {
  return {
    name: 'only',
    endpoints: ['machine_metrics'],
    everyMs: MINUTE,
    ...overrides,
    run: async (context, value) => run(value, context),
  };
}

/** A source whose value is a number. By default it has one read, which is due at fixed intervals. */
export function fakeSource({ reads, ...behaviour }: Behaviour = {}): Source {
  const { name = 'machines', chain, share = () => 1, events = {}, page, more, ...read } = behaviour;
  const source: Source<number> = {
    name,
    ...(chain && { chain }),
    reads: (reads ?? [{ ...read, name: 'only' }]).map(fakeRead) as [Read<number>],
    empty: 0,
    state: z.number(),
    share,
    metrics: (value) => [{ name: 'fake', type: 'gauge', help: 'Fake.', samples: [{ labels: {}, value }] }],
    events,
    ...(page && { page }),
    ...(more && { more }),
  };
  // Safe, because the scheduler returns to a source only the values of that source.
  return source as unknown as Source;
}
