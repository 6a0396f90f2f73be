import { isDeepStrictEqual } from 'node:util';
import { drawStory } from './draw.ts';
import { tellEvent } from './events/index.ts';
import { run } from './run.ts';
import { calmSetting, type Failure, type Setting, type Story } from './story.ts';

const MAX_MS = 60_000;
const LOG_LINES = 60;

/** A seed that fails, to read: its shortest story found, and with `withLog` the end of what the program logged in it. */
export async function tellFailure(seed: number, failure: Failure, withLog: boolean): Promise<string> {
  const { story, failure: how } = await shorten(drawStory(seed), failure);
  const log = withLog ? (await run(story)).log.slice(-LOG_LINES) : [];
  return [...linesOf(story, how), ...log, ''].join('\n');
}

interface Failing {
  readonly story: Story;
  readonly failure: Failure;
}

/** Leaves out the time after the failure, events, and what is unusual in the world, as long as the same check fails. */
async function shorten(story: Story, failure: Failure): Promise<Failing> {
  const until = performance.now() + MAX_MS;
  let shortest: Failing = { story, failure };
  const accepts = async (candidate: Story): Promise<boolean> => {
    if (performance.now() > until) return false;
    // A story from which too much is left out, such as the machine of an event, cannot be run: it does not fail.
    const failed = await run(candidate).then(
      (outcome) => outcome.failure,
      () => undefined,
    );
    if (failed?.check !== failure.check) return false;
    shortest = { story: candidate, failure: failed };
    return true;
  };
  const lengthMs = Math.min(story.lengthMs, Math.ceil(failure.at));
  if (!story.steady) await accepts({ ...story, lengthMs, events: story.events.filter(({ at }) => at <= lengthMs) });
  // Blocks first, single events last.
  for (let size = Math.ceil(shortest.story.events.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < shortest.story.events.length; ) {
      const { events } = shortest.story;
      if (!(await accepts({ ...shortest.story, events: events.toSpliced(from, size) }))) from += size;
    }
  }
  for (const one of differences(shortest.story.setting)) {
    const { setting } = shortest.story;
    await accepts({ ...shortest.story, setting: { ...setting, [one.part]: { ...setting[one.part], ...one.calm } } });
  }
  return shortest;
}

interface Difference {
  readonly part: keyof Setting;
  readonly name: string;
  readonly value: unknown;
  /** The field as it is in the simplest world. */
  readonly calm: object;
}

/** What is not as it is in the simplest world. */
function differences(setting: Setting): Difference[] {
  const calm = calmSetting(setting);
  return (['service', 'network', 'exporter'] as const).flatMap((part) => {
    const usual = new Map<string, unknown>(Object.entries(calm[part]));
    return Object.entries(setting[part])
      .filter(([name, value]) => !isDeepStrictEqual(value, usual.get(name)))
      .map(([name, value]) => ({ part, name, value, calm: { [name]: usual.get(name) } }));
  });
}

function linesOf({ seed, start, lengthMs, setting, events }: Story, failure: Failure): string[] {
  const unusual = differences(setting).map(({ part, name, value }) => `${part}.${name} ${JSON.stringify(value)}`);
  return [
    [`Seed ${seed}, from ${new Date(start).toISOString()}`, `${timeOf(lengthMs)} of trouble`, ...unusual].join(', '),
    // What comes later has not happened.
    ...events.filter(({ at }) => at <= failure.at).map((event) => `+${timeOf(event.at)}  ${tellEvent(event)}`),
    `+${timeOf(failure.at)}  FAILED ${failure.check}: ${failure.message}`,
    `npm run simulate -- --seeds=1 --seed=${seed}`,
  ];
}

/** `1d 02:03:04.500` */
function timeOf(ms: number): string {
  const time = new Date(Math.floor(ms)).toISOString().slice('1970-01-01T'.length, -1);
  return `${Math.floor(ms / 86_400_000)}d ${time}`;
}
