import { type RateSeen, runAtRate } from '../test/support/rate-run.ts';
import { table, verdict } from './report.ts';
import { digits } from './stats.ts';

const PLANS = { hobbyist: 1, business: 2, scale: 5 } as const;
/** Machines per request a second: ten sizes that are read every minute, ten that are not, densest where that changes. */
const FLEETS = [180, 270, 315, 340, 360, 380, 400, 410, 420, 430, 440, 450, 460, 480, 500, 540, 600, 750, 1_000, 1_200];
/** Milliseconds, on average 100 and 210. */
const LATENCIES = [
  [20, 180],
  [20, 400],
] as const;
const TOLERANCE = 0.05;

/** The interval of a fleet as told and as met, and how much of the allowed rate is used, around the edge of each plan. */
export async function benchRate(): Promise<void> {
  const rows: string[][] = [];
  for (const [plan, perSecond] of Object.entries(PLANS)) {
    for (const size of FLEETS) {
      const machines = size * perSecond;
      const options = { plan: plan as keyof typeof PLANS, machines, seed: machines };
      const seen: RateSeen[] = [];
      for (const latencyMs of LATENCIES) seen.push(await runAtRate({ ...options, latencyMs }));
      rows.push([
        plan,
        machines.toLocaleString('en-US'),
        ...seen.flatMap(cellsOf),
        refusedIn(seen),
        verdict(seen.every(isMet)),
      ]);
    }
  }
  table(
    'At the limit of a plan: sweeps told and met, used of 0.9 x limit, at a latency of 20 to 180 and of 20 to 400 ms',
    ['plan', 'machines', ...LATENCIES.flatMap(() => ['requests', 'told', 'met', 'longest', 'used']), '429', ''],
    rows,
  );
}

function cellsOf({ machines, requestsPerSweep, share }: RateSeen): string[] {
  const { told, met, longest } = machines;
  const seconds = [told, met, longest].map((value) => `${value.toFixed(1)} s`);
  return [digits(requestsPerSweep), ...seconds, `${(100 * share).toFixed(1)} %`];
}

function refusedIn(seen: readonly RateSeen[]): string {
  return `${seen.reduce((sum, { refused }) => sum + refused, 0)}`;
}

function isMet({ machines, slashings, logged, refused }: RateSeen): boolean {
  const isClose = (told: number, met: number): boolean => Math.abs(met / told - 1) <= TOLERANCE;
  return (
    refused === 0 && isClose(logged, machines.met) && [machines, slashings].every(({ told, met }) => isClose(told, met))
  );
}
