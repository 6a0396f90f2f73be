import type { Random } from '../random.ts';
import type { Setting, StoryEvent } from '../story.ts';
import type { World } from '../world.ts';
import { ACCOUNT_KINDS } from './account.ts';
import { CHAIN_KINDS } from './chain.ts';
import { DISK_KINDS } from './disk.ts';
import type { Kind } from './kind.ts';
import { LEADER_KINDS } from './leader.ts';
import { MACHINE_KINDS } from './machines.ts';
import { NETWORK_KINDS } from './network.ts';
import { OPERATOR_KINDS } from './operator.ts';
import { PERIOD_KINDS } from './periods.ts';
import { PROCESS_KINDS } from './process.ts';
import { REDIS_KINDS } from './redis.ts';
import { STATE_KINDS } from './state.ts';
import { SWEEP_KINDS } from './sweep.ts';

const KINDS: readonly Kind[] = [
  ...PROCESS_KINDS,
  ...CHAIN_KINDS,
  ...MACHINE_KINDS,
  ...PERIOD_KINDS,
  ...ACCOUNT_KINDS,
  ...NETWORK_KINDS,
  ...OPERATOR_KINDS,
  ...DISK_KINDS,
  ...STATE_KINDS,
  ...REDIS_KINDS,
  ...LEADER_KINDS,
  ...SWEEP_KINDS,
];
/** What only replicas meet. Their stories are short, so more of their events are of these. */
const REPLICA_KINDS: readonly Kind[] = [...REDIS_KINDS, ...LEADER_KINDS];
const REPLICA_SHARE = 0.4;

const BY_NAME = new Map(KINDS.map((kind) => [kind.name, kind]));

export function kindOf({ kind }: Pick<StoryEvent, 'kind'>): Kind {
  const found = BY_NAME.get(kind);
  if (!found) throw new RangeError(`no event is called ${kind}`);
  return found;
}

/** Up to `count` events within `lengthMs`, in order. */
export function drawEvents(random: Random, setting: Setting, count: number, lengthMs: number): StoryEvent[] {
  const events: StoryEvent[] = [];
  for (let i = 0; i < count; i += 1) {
    const one = random.fork(`event ${i}`);
    // Half of them come close to the one before, because faults that meet find more than single ones.
    const last = events.at(-1)?.at ?? 0;
    const at = one.happens(0.5) ? last + one.scale(1, 60_000) : Math.round(one.unit() * lengthMs);
    const drawn = drawOne(one, setting);
    if (drawn && at < lengthMs) events.push({ at, ...drawn });
  }
  return events.sort((a, b) => a.at - b.at);
}

/** Nearly half of the kinds make no sense in a given world. */
const TRIES = 8;

function drawOne(random: Random, setting: Setting): Pick<StoryEvent, 'kind' | 'what'> | undefined {
  const isOfReplicas = setting.exporter.replicas > 0 && random.happens(REPLICA_SHARE);
  const kinds = isOfReplicas ? REPLICA_KINDS : KINDS;
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0);
  for (let tries = 0; tries < TRIES; tries += 1) {
    let left = random.unit() * total;
    const kind = kinds.find(({ weight }) => {
      left -= weight;
      return left < 0;
    });
    const what = kind?.draw(random, setting);
    if (kind && what) return { kind: kind.name, what: { ...what } };
  }
  return undefined;
}

export function applyEvent(event: StoryEvent, world: World): void | Promise<void> {
  return kindOf(event).apply(event.what, world);
}

export function tellEvent(event: StoryEvent): string {
  return kindOf(event).tell(event.what);
}

export function simplerEvents(event: StoryEvent): readonly StoryEvent[] {
  return (kindOf(event).simpler?.(event.what) ?? []).map((what) => ({ ...event, what: { ...what } }));
}
