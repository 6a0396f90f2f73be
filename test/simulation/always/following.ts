import type { TrafficEvent } from '../traffic.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';

/** A check that reads everything that happens once, in order. `read` returns what is wrong. */
export function following(
  name: string,
  read: (event: TrafficEvent, world: World) => string | undefined,
): Check & { onMoment(world: World): string | undefined } {
  let next = 0;
  return {
    name,
    onMoment(world) {
      for (const event of world.traffic.from(next)) {
        next += 1;
        const wrong = read(event, world);
        if (wrong !== undefined) return wrong;
      }
      return undefined;
    },
  };
}

/** A time of a story, for messages. */
export function when(at: number, { story }: World): string {
  return `${((at - story.start) / 1_000).toFixed(3)} s`;
}
