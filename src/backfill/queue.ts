import { canBeHalved, halve, lengthSeconds, type Plan, type Slice } from './plan.ts';
import type { Spacing } from './spacing.ts';

/**
 * The result of reading a slice at full resolution. A `sparse` slice is too short to be thinned, so its clients push
 * rarely.
 */
export type SliceResult =
  | { readonly kind: 'full' | 'thinned' | 'unknown' }
  | { readonly kind: 'sparse'; readonly slow: Plan['slow'] };

/**
 * The oldest slice that has not been started, and the plan. The slice is halved as long as the service is known to thin
 * slices of its length.
 */
export function nextSlice(plan: Plan, begun: ReadonlySet<number>): { plan: Plan; slice: Slice | undefined } {
  const slice = plan.slices.find(({ id }) => !begun.has(id));
  return slice && isTooLong(plan, slice) ? nextSlice(halve(plan, slice), begun) : { plan, slice };
}

function isTooLong({ thinnedSeconds = Number.POSITIVE_INFINITY }: Plan, slice: Slice): boolean {
  return (lengthSeconds(slice) ?? 0) >= thinnedSeconds && canBeHalved(slice);
}

/** Whether slices of this length are known to come in full. */
export function isShortEnough({ fullSeconds = 0 }: Plan, slice: Slice): boolean {
  return (lengthSeconds(slice) ?? 0) <= fullSeconds;
}

/** The verdict on a slice that was read completely. */
export function resultOf(spacing: Spacing): SliceResult {
  const verdict = spacing.verdict();
  return verdict === 'thinned' ? { kind: 'sparse', slow: spacing.sparse() } : { kind: verdict ?? 'unknown' };
}

/** The plan, updated with what the slice shows about the length of other slices. */
export function afterSlice(plan: Plan, slice: Slice, result: SliceResult): Plan {
  const seconds = lengthSeconds(slice) ?? 0;
  switch (result.kind) {
    case 'thinned':
      return { ...halve(plan, slice), thinnedSeconds: seconds };
    case 'full':
      return { ...plan, fullSeconds: Math.max(plan.fullSeconds ?? 0, seconds) };
    case 'sparse': {
      // Slices that seemed thinned because of these series need not be halved.
      const { thinnedSeconds: _, ...rest } = plan;
      return { ...rest, slow: [...plan.slow, ...result.slow] };
    }
    case 'unknown':
      return plan;
  }
}
