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
  apply(what: W, world: World): void | Promise<void>;
  /** A readable sentence. */
  tell(what: W): string;
  /** The same event with simpler details, the simplest first. */
  simpler?(what: W): readonly W[];
}

/** Forgets the type of the details, which only the kind itself knows. */
export function kind<W extends object>(one: Kind<W>): Kind {
  return one as unknown as Kind;
}
