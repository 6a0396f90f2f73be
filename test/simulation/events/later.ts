import type { World } from '../world.ts';

/** Does something after `ms`, unless the trouble is over by then. */
export function later(world: World, ms: number, act: () => void): void {
  world.clock.after(ms, () => {
    if (!world.isCalm) act();
  });
}
