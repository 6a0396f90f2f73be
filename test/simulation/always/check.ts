import type { Scrape } from '../scrape.ts';
import type { World } from '../world.ts';

/** Something that must always hold. A check may remember what it has seen; it is made anew for each run. */
export interface Check {
  readonly name: string;
  /** After each scrape. Returns what is wrong. */
  onScrape?(scrape: Scrape, world: World): string | undefined;
  /** After each event, and now and then. Returns what is wrong. */
  onMoment?(world: World): string | undefined;
  /** When everything had time to become right again. `scrapes`: the last of each host. Returns what is wrong. */
  atEnd?(world: World, scrapes: readonly Scrape[]): string | undefined;
}

export type NewCheck = () => Check;
