import { HOUR, MINUTE, SECOND } from '../../support/time/timing.ts';
import type { Random } from '../random.ts';
import type { Setting } from '../story.ts';
import type { World } from '../world.ts';

/** A kind of event. `W` is plain data. */
export interface Kind<W extends object = object> {
  readonly name: string;
  /** How often it is drawn, relative to the others. */
  readonly weight: number;
  /** Chooses the details. undefined: it makes no sense in this world. */
  draw(random: Random, setting: Setting): W | undefined;
  apply(what: W, world: World): void;
}

/** Forgets the type of the details, which only the kind itself knows. */
export function kind<W extends object>(one: Kind<W>): Kind {
  return one as unknown as Kind;
}

/** Does something after `ms`, unless the trouble is over by then. */
export function later(world: World, ms: number, act: () => void): void {
  world.clock.after(ms, () => {
    if (!world.isCalm) act();
  });
}

/** Some seconds to some hours. */
export function aWhile(random: Random): number {
  return random.pick([random.scale(SECOND, MINUTE), random.scale(MINUTE, 30 * MINUTE), random.scale(MINUTE, 6 * HOUR)]);
}
