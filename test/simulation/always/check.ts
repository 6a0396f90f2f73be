import type { Scrape } from '../scrape.ts';
import type { TrafficEvent } from '../traffic.ts';
import type { World } from '../world.ts';

/** A condition that must always hold. A check may remember what it saw, so each run makes a new one. */
export interface Check {
  readonly name: string;
  /** Everything that happens, once and in order, though a while later. Returns what is wrong. */
  onEvent?(event: TrafficEvent, world: World): string | undefined;
  /** After each event of the story, and after each scrape. Returns what is wrong. */
  onMoment?(world: World): string | undefined;
  /** After each scrape. Returns what is wrong. */
  onScrape?(scrape: Scrape, world: World): string | undefined;
  /** When everything had time to become right again. Returns what is wrong. */
  atEnd?(world: World, scrape: Scrape): string | undefined;
}

export type NewCheck = () => Check;

/** A time of a story, for messages. */
export function when(at: number, { story }: World): string {
  return `${((at - story.start) / 1_000).toFixed(3)} s`;
}
