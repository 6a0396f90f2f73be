import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from '../../src/lib/duration.ts';
import { unusual } from './calm.ts';
import type { Failure } from './shrink-search.ts';
import type { Story, StoryEvent } from './story.ts';

/** A failing story to read: what is unusual in its world, each event, what failed, and the command that repeats it. */
export function tell(
  story: Story,
  failure: Failure,
  tellEvent: (event: StoryEvent) => string,
  replay = `npm run simulate -- --seeds=1 --seed=${story.seed}`,
): string {
  const lines = [
    worldOf(story),
    // What comes later has not happened.
    ...story.events.filter(({ at }) => at <= failure.at).map((event) => `${timeOf(event.at)}  ${tellEvent(event)}`),
    `${timeOf(failure.at)}  FAILED ${failure.check}: ${failure.message}`,
    replay,
  ];
  return `${lines.join('\n')}\n`;
}

function worldOf({ seed, start, lengthMs, setting }: Story): string {
  const trouble = `${timeOf(lengthMs).slice(1)} of trouble`;
  return [`Seed ${seed}, from ${new Date(start).toISOString()}`, trouble, ...unusual(setting)].join(', ');
}

/** `+1d 02:03:04.500` after the start. */
export function timeOf(exact: number): string {
  const ms = Math.floor(exact);
  const days = Math.floor(ms / MS_PER_DAY);
  const hours = Math.floor(ms / MS_PER_HOUR) % 24;
  const minutes = Math.floor(ms / MS_PER_MINUTE) % 60;
  const seconds = ((ms % MS_PER_MINUTE) / 1000).toFixed(3).padStart(6, '0');
  return `+${days}d ${two(hours)}:${two(minutes)}:${seconds}`;
}

function two(amount: number): string {
  return String(amount).padStart(2, '0');
}
