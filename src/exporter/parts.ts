import type { Clock } from '../lib/clock.ts';
import type { Milliseconds } from '../lib/time.ts';
import type { Part } from '../metrics/exposition.ts';
import { type Family, mergeFamilies } from '../metrics/family.ts';
import type { SourceView } from '../scheduler/views.ts';
import { SOURCE_NAMES } from '../sources/source.ts';
import { sourceFamilies } from './source-families.ts';

/** The part with the attempts of the sources: it changes with each of them. */
export const ATTEMPTS = 'attempts';
/** The exporter's own metrics. */
export const OWN = 'own';

/**
 * /metrics in its order: a part for each kind of source, then the attempts, then the exporter's own metrics. `refreshMs`:
 * how often those that change by themselves are rendered.
 */
export function expositionParts(
  views: () => SourceView[],
  own: () => Promise<Family[]>,
  clock: Clock,
  refreshMs: Milliseconds,
): Part[] {
  const soon = (): number => clock.now() + refreshMs;
  const viewsOf = (name: string): SourceView[] => views().filter(({ source }) => source.name === name);
  return [
    ...SOURCE_NAMES.map((name) => ({
      name,
      families: () => joined(viewsOf(name).map(({ source, entry, timing }) => source.families(entry.value, timing))),
      nextChange: () =>
        Math.min(...viewsOf(name).map(({ source, entry, timing }) => source.nextChange(entry.value, timing))),
    })),
    { name: ATTEMPTS, families: () => sourceFamilies(views()), nextChange: soon },
    { name: OWN, families: own, nextChange: soon },
  ];
}

/** Every part, for a change of the configuration. */
export const ALL_PARTS: readonly string[] = [...SOURCE_NAMES, ATTEMPTS, OWN];

/** Those of a single source are passed on unchanged, because they compute their samples on demand. */
function joined([first = [], ...others]: readonly Family[][]): Family[] {
  return others.length === 0 ? first : mergeFamilies([first, ...others].flat());
}
