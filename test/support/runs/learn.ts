import type { Sandbox } from '../../../src/sandbox/world.ts';
import { type Entry, emptyEntry, sourceId } from '../../../src/scheduler/entry.ts';
import { inputsFor } from '../../../src/scheduler/schedules.ts';
import type { Source } from '../../../src/sources/source.ts';
import { apiOf, type SentRequest } from '../answers/fake-api.ts';
import { round } from './round.ts';

/** An error, or the answer in place of that of the world, to a request at a time, Unix ms. undefined: as the world answers. */
export type Fault = (request: SentRequest, now: number) => unknown;

/** What sources have learned of a world, by the id of the source, after a round of each of them at these times, Unix ms. */
export async function learn(
  sources: readonly Source[],
  sandbox: Sandbox,
  times: readonly number[],
  fault: Fault = () => undefined,
): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  const entryOf = (source: Source): Entry => entries.get(sourceId(source)) ?? emptyEntry(source);
  for (const now of times) {
    const api = apiOf(sandbox, (request) => fault(request, now));
    for (const source of sources) {
      const known = sources.map((one) => ({ source: one, saved: entryOf(one) }));
      const { entry } = await round(source, api, entryOf(source), { now, inputs: inputsFor(source, known) });
      entries.set(sourceId(source), entry);
    }
  }
  return entries;
}
