import { MachineName } from '../../api/answers/machines.ts';
import { requestTo } from '../../api/endpoints.ts';
import { isFailure, RequestFailed } from '../../api/errors.ts';
import { CLOCK_AHEAD_SECONDS } from '../../toolkit/lib/clock.ts';
import { MS_PER_DAY, MS_PER_HOUR } from '../../toolkit/lib/duration.ts';
import type { Milliseconds } from '../../toolkit/lib/time.ts';
import { attempt } from '../answers.ts';
import type { Outcome, Read, ReadContext } from '../read.ts';
import { warningsOf, withRecords, withUnknown } from './fleet.ts';
import type { MachinesOptions } from './options.ts';
import { NOTHING, RECORDS_KEPT_SECONDS, readPages } from './pages.ts';
import type { Machines } from './state.ts';
import { rarely } from './sweep.ts';

/** The service lists the names of the last five hours (api-facts 2). */
const LIST_EVERY_MS = 6 * MS_PER_HOUR;

/** Lists the names of all machines. */
export function namesRead(options: MachinesOptions): Read<Machines> {
  const { intervalMs: configuredMs } = options;
  const listEvery = (sweepMs: Milliseconds): Milliseconds => rarely(LIST_EVERY_MS, sweepMs, configuredMs);
  return {
    name: 'names',
    endpoints: ['machine_names'],
    everyMs: LIST_EVERY_MS,
    // The budget stretches the sweeps by the same factor.
    price: ({ intervalMs }) => MS_PER_DAY / listEvery((configuredMs * intervalMs) / LIST_EVERY_MS),
    due: (_value, { attemptAt }, timing) => attemptAt + listEvery(timing.of('sweep') ?? configuredMs),
    async run(context, value) {
      const { api, signal } = context;
      const answer = await attempt(context, () => api.request(requestTo('machine_names', {}), signal));
      if (answer instanceof Error) return { value, failure: answer };
      const listed = api.records('machine_names', MachineName, answer.data);
      const asked = new Set(value.asked?.map(([name]) => name));
      const room = Math.max(0, options.max - value.machines.length - asked.size);
      return { value: withUnknown(options, value, [...new Set(listed).difference(asked)], room) };
    },
  };
}

/** Each name takes a request, so 300 names of an old account take 30 runs. */
const MAX_ASKED = 10;

/** Requests expected or listed machines that no sweep has found. */
export function unknownRead(options: MachinesOptions): Read<Machines> {
  return {
    name: 'unknown',
    endpoints: ['machine_metrics'],
    everyMs: options.intervalMs,
    price: () => 0,
    due: (value, _last, timing, tick) =>
      namesToAsk(value).length === 0 || timing.isFailing('sweep') ? Number.POSITIVE_INFINITY : tick,
    run: (context, value) => ask(options, context, value),
  };
}

function namesToAsk({ asked = [] }: Machines): string[] {
  return asked.flatMap(([name, at]) => (at === 0 ? [name] : [])).slice(0, MAX_ASKED);
}

/**
 * Requests the names one by one, over all records that the service keeps: in a shared request, older records of one machine could come
 * before the newest record of another.
 */
async function ask(options: MachinesOptions, context: ReadContext, previous: Machines): Promise<Outcome<Machines>> {
  const { api, timing, events } = context;
  const end = Math.floor(timing.now / 1000) + CLOCK_AHEAD_SECONDS;
  const range = { start: end - RECORDS_KEPT_SECONDS, end };
  const asked = new Map(previous.asked);
  let found = NOTHING;
  for (const name of namesToAsk(previous)) {
    const { records, failure } = await readPages(context, { range, names: [name] }, found, () => true);
    found = { records, failure: isFailure(failure, 'not_found') ? undefined : failure };
    // The request was not sent.
    if (failure && !(failure instanceof RequestFailed)) break;
    // A failed name is requested again after the next list, or the next day if it is expected.
    if (!found.failure || options.expected.includes(name)) asked.set(name, timing.now);
    else asked.delete(name);
    if (found.failure) break;
  }
  const read = { ...timing, now: api.now() };
  const before = { ...previous, asked: [...asked] };
  const { dropped, ...value } = await withRecords(options, before, found.records, read, context.slices());
  const after = { ...value, dropped: previous.dropped + dropped };
  events.push(...warningsOf(previous, after, timing));
  return { value: after, failure: found.failure };
}
