import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from '../../src/lib/duration.ts';
import type { Accepts, Failure } from './shrink-search.ts';
import type { Setting, Story, StoryEvent } from './story.ts';

/**
 * Each step makes one aspect of a failing story simpler. Events never change their order, and no time becomes later, so
 * that every step comes to an end. Each returns the simplest story that was accepted.
 */

/** Up to this many events, every pair is taken out together: a pause, for example, may fail only with its end. */
const FEW_EVENTS = 16;

/**
 * Takes out events in blocks, large ones first, until no single one can go (the complements of delta debugging: Zeller
 * and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002).
 */
export async function fewerEvents(from: Story, accepts: Accepts): Promise<Story> {
  let story = from;
  const without = async (isOut: (index: number) => boolean): Promise<boolean> => {
    const candidate = { ...story, events: story.events.filter((_, i) => !isOut(i)) };
    if (!(await accepts(candidate))) return false;
    story = candidate;
    return true;
  };
  await without(() => true);
  for (let size = Math.ceil(story.events.length / 2); size >= 1; ) {
    let isShorter = false;
    for (let start = 0; start < story.events.length; ) {
      if (await without((i) => i >= start && i < start + size)) isShorter = true;
      else start += size;
    }
    // Without an event that has gone, one that had to stay may go.
    if (!isShorter) size = size === 1 ? 0 : Math.ceil(size / 2);
    else size = Math.min(size, Math.ceil(story.events.length / 2));
  }
  while (story.events.length <= FEW_EVENTS && (await withoutAPair(story, without)));
  return story;
}

async function withoutAPair(
  { events }: Story,
  without: (isOut: (index: number) => boolean) => Promise<boolean>,
): Promise<boolean> {
  for (let a = 0; a < events.length; a += 1) {
    for (let b = a + 1; b < events.length; b += 1) if (await without((i) => i === a || i === b)) return true;
  }
  return false;
}

/** The needed length is found to about this much. */
const SHARES = [1 / 2, 3 / 4, 7 / 8, 15 / 16];

/** Ends the trouble earlier: at the failure, at the last event, or somewhere on the way there. */
export async function shorter(from: Story, failure: Failure, accepts: Accepts): Promise<Story> {
  const { events, lengthMs } = from;
  const last = events.at(-1)?.at ?? 0;
  const between = SHARES.map((share) => Math.floor(last + (lengthMs - last) * share));
  const lengths = [last, failure.at, ...between];
  for (const next of [...new Set(lengths.flatMap((at) => [roundDown(at), at]))].sort((a, b) => a - b)) {
    // Events are lost only if they come after the failure.
    if (next < 0 || next >= lengthMs || next < Math.min(last, failure.at)) continue;
    const candidate = { ...from, lengthMs: next, events: events.filter(({ at }) => at <= next) };
    if (await accepts(candidate)) return candidate;
  }
  return from;
}

/** A simpler world. After each success its own simpler ones are tried. */
export async function simplerSetting(
  from: Story,
  simplerSettings: (setting: Setting) => readonly Setting[],
  accepts: Accepts,
): Promise<Story> {
  for (const setting of simplerSettings(from.setting)) {
    const candidate = { ...from, setting };
    if (await accepts(candidate)) return simplerSetting(candidate, simplerSettings, accepts);
  }
  return from;
}

/** Events with simpler parameters, one event after the other. */
export async function simplerEvents(
  from: Story,
  simpler: (event: StoryEvent) => readonly StoryEvent[],
  accepts: Accepts,
): Promise<Story> {
  let story = from;
  for (let i = 0; i < from.events.length; ) {
    const next = await firstAccepted(
      simpler(story.events[i] as StoryEvent).map(({ what }) => withEvent(story, i, { what })),
      accepts,
    );
    if (next) story = next;
    else i += 1;
  }
  return story;
}

const GAPS = [0, 1_000, MS_PER_MINUTE, MS_PER_HOUR, MS_PER_DAY];

/** Shorter gaps between events, then times that are easy to read. */
export async function simplerTimes(from: Story, accepts: Accepts): Promise<Story> {
  let story = from;
  for (let i = 0; i < from.events.length; i += 1) {
    const gap = gapBefore(story, i);
    const gaps = [...GAPS, Math.floor(gap / 2)].filter((one) => one < gap);
    story =
      (await firstAccepted(
        gaps.map((one) => moved(story, i, gap - one)),
        accepts,
      )) ?? story;
  }
  for (let i = 0; i < from.events.length; i += 1) {
    const at = story.events[i]?.at ?? 0;
    const earliest = at - gapBefore(story, i);
    const times = UNITS.map((unit) => Math.floor(at / unit) * unit).filter((time) => time < at && time >= earliest);
    story =
      (await firstAccepted(
        times.map((time) => withEvent(story, i, { at: time })),
        accepts,
      )) ?? story;
  }
  return story;
}

function gapBefore({ events }: Story, index: number): number {
  return (events[index]?.at ?? 0) - (events[index - 1]?.at ?? 0);
}

/** An event and all that follows, this much earlier. */
function moved(story: Story, index: number, ms: number): Story {
  const events = story.events.map((event, i) => (i < index ? event : { ...event, at: event.at - ms }));
  return { ...story, lengthMs: Math.max(events.at(-1)?.at ?? 0, story.lengthMs - ms), events };
}

function withEvent(story: Story, index: number, change: Partial<StoryEvent>): Story {
  return { ...story, events: story.events.map((event, i) => (i === index ? { ...event, ...change } : event)) };
}

async function firstAccepted(candidates: readonly Story[], accepts: Accepts): Promise<Story | undefined> {
  for (const candidate of candidates) if (await accepts(candidate)) return candidate;
  return undefined;
}

/** The multiples of these are easy to read, the first ones most. */
const UNITS = [MS_PER_DAY, MS_PER_HOUR, 10 * MS_PER_MINUTE, MS_PER_MINUTE, 10_000, 1_000, 100];

/** To a time that is easy to read and not much earlier. */
function roundDown(ms: number): number {
  const unit = UNITS.find((one) => ms >= 10 * one) ?? 1;
  return Math.floor(ms / unit) * unit;
}
