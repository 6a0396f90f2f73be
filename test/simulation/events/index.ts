import type { Random } from '../random.ts';
import type { Setting, StoryEvent } from '../story.ts';
import type { World } from '../world.ts';
import { ACCOUNT_KINDS } from './account.ts';
import { CHAIN_KINDS } from './chain.ts';
import type { Kind } from './kind.ts';
import { MACHINE_KINDS } from './machines.ts';
import { OPERATOR_KINDS } from './operator.ts';
import { PROCESS_KINDS } from './process.ts';

const KINDS: readonly Kind[] = [
  ...PROCESS_KINDS,
  ...CHAIN_KINDS,
  ...MACHINE_KINDS,
  ...ACCOUNT_KINDS,
  ...OPERATOR_KINDS,
];
const TOTAL = KINDS.reduce((sum, { weight }) => sum + weight, 0);
const BY_NAME = new Map(KINDS.map((kind) => [kind.name, kind]));

/** Up to `count` events within `lengthMs`, in order. */
export function drawEvents(random: Random, setting: Setting, count: number, lengthMs: number): StoryEvent[] {
  const events: StoryEvent[] = [];
  for (let i = 0; i < count; i += 1) {
    const one = random.fork(`event ${i}`);
    // Half of them come close to the one before, because faults that meet find more than single ones.
    const last = events.at(-1)?.at ?? 0;
    const at = one.happens(0.5) ? last + one.scale(1, 60_000) : Math.round(one.unit() * lengthMs);
    const kind = anyKind(one);
    const what = kind.draw(one, setting);
    if (what && at < lengthMs) events.push({ at, kind: kind.name, what });
  }
  return events.sort((a, b) => a.at - b.at);
}

function anyKind(random: Random): Kind {
  let left = random.unit() * TOTAL;
  const found = KINDS.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  return found ?? (KINDS[0] as Kind);
}

export function applyEvent({ kind, what }: StoryEvent, world: World): void {
  BY_NAME.get(kind)?.apply(what, world);
}
