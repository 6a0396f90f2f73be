import type { NamedWatch } from '../../facts/groups.ts';
import { watches } from '../../facts/watch.ts';
import { type Notice, notice } from '../content.ts';
import type { KnownKey, Read } from '../read.ts';
import type { Source } from '../source.ts';
import { byKey } from '../watched-keys.ts';
import type { ValidatorsOptions } from './options.ts';
import type { Validators } from './state.ts';

const GROUPS_SHARE = 'groups_share';

/** A validator of two groups: of one by its index, of the other by its key. The first keeps it. */
interface Shared {
  readonly validator: number;
  readonly keeps: string;
  readonly other: string;
}

/** Pure. What the configuration cannot know: which validators two groups turn out to share. */
function sharedIn({ keys: watched }: ValidatorsOptions, { validators }: Validators): Shared[] {
  const known = byKey(validators);
  const groups = (watched?.groups ?? []).map((group) => ({ ...group, found: foundIn(group, known) }));
  const candidates = new Set(groups.flatMap(({ found }) => [...found]));
  return [...candidates].flatMap((validator) => {
    const [first, second] = groups.filter(({ watch, found }) => watches(watch, validator) || found.has(validator));
    return first && second ? [{ validator, keeps: first.name, other: second.name }] : [];
  });
}

function foundIn({ keys = [] }: NamedWatch, known: ReadonlyMap<string, KnownKey>): ReadonlySet<number> {
  return new Set(keys.flatMap((key) => known.get(key)?.index ?? []));
}

/** The source, which also reports on the page and in the log the validators that two groups share: once, and after a start. */
export function tellingShared(options: ValidatorsOptions, source: Source<Validators>): Source<Validators> {
  if ((options.keys?.groups.length ?? 0) < 2) return source;
  const telling = (read: Read<Validators>): Read<Validators> => ({
    ...read,
    async run(context, previous) {
      const outcome = await read.run(context, previous);
      const before = new Set(context.isFirst ? [] : sharedIn(options, previous).map(({ validator }) => validator));
      for (const one of sharedIn(options, outcome.value))
        if (!before.has(one.validator)) context.events.push({ type: GROUPS_SHARE, ...one });
      return outcome;
    },
  });
  const [first, ...others] = source.reads;
  return {
    ...source,
    reads: [telling(first), ...others],
    events: {
      ...source.events,
      [GROUPS_SHARE]: { level: 'warn', message: 'two groups share a validator: the first keeps it' },
    },
    page(value, timing, shown) {
      const summary = source.page?.(value, timing, shown) ?? {};
      return { ...summary, notices: [...(summary.notices ?? []), ...noticesOf(sharedIn(options, value))] };
    },
  };
}

function noticesOf(shared: readonly Shared[]): Notice[] {
  return shared.map(({ validator, keeps, other }) =>
    notice('warning', `Two groups share validator ${validator}`, `: ${keeps} keeps it. Remove it from ${other}.`),
  );
}
