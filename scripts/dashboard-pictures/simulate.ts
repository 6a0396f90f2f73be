import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { HOUR } from '../../test/support/timing.ts';
import { END, HOURS, simulatedDay } from './day.ts';
import { importSamples, type Prometheus, startPrometheus } from './prometheus.ts';
import { addRules } from './rules.ts';
import { DAYS, type State } from './trouble.ts';

/** Starts a Prometheus that has a simulated day, with recorded series and alerts. It keeps the day in the folder. */
export async function simulate(
  state: State,
  { rules, folder }: { readonly rules: readonly string[]; readonly folder: string },
): Promise<Prometheus> {
  if (existsSync(join(folder, 'data'))) return startPrometheus(folder);
  mkdirSync(folder, { recursive: true });
  importSamples(await simulatedDay(DAYS[state]), folder);
  await addRules(rules, folder, { from: (END - HOURS * HOUR) / 1000, to: END / 1000 });
  return startPrometheus(folder);
}
