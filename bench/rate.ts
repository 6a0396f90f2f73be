import { type RateSeen, runAtRate } from '../test/support/rate-run.ts';
import { table, verdict } from './report.ts';
import { digits } from './stats.ts';

/** Machines from half of what the interval of a minute holds to more than twice that, densest at the edge. */
const FLEETS = {
  hobbyist: [200, 300, 340, 360, 375, 385, 395, 400, 410, 420, 425, 430, 440, 450, 460, 480, 520, 600, 750, 1_000],
  business: [
    400, 600, 700, 740, 760, 780, 800, 820, 840, 855, 865, 880, 900, 920, 950, 1_000, 1_100, 1_300, 1_600, 2_000,
  ],
  scale: [
    1_000, 1_500, 1_750, 1_850, 1_950, 2_000, 2_050, 2_100, 2_130, 2_150, 2_170, 2_200, 2_250, 2_300, 2_400, 2_500,
    2_750, 3_250, 4_000, 5_000,
  ],
} as const;
const SPANS = [
  [20, 180],
  [20, 400],
] as const;

export async function benchRate(): Promise<void> {
  for (const latencyMs of SPANS) {
    const rows: string[][] = [];
    for (const [plan, fleets] of Object.entries(FLEETS)) {
      for (const machines of fleets) {
        rows.push(
          rowOf(
            plan,
            machines,
            await runAtRate({ machines, plan: plan as keyof typeof FLEETS, latencyMs, seed: machines }),
          ),
        );
      }
    }
    table(
      `Told and met, latency ${latencyMs[0]} to ${latencyMs[1]} ms`,
      ['plan', 'machines', 'requests', 'told', 'met', 'met/told', 'longest', 'head passes', 'share', '429', ''],
      rows,
    );
  }
}

function rowOf(
  plan: string,
  machines: number,
  { machines: sweeps, slashings, requestsPerSweep, share, refused }: RateSeen,
): string[] {
  const ratio = sweeps.met / sweeps.told;
  return [
    plan,
    `${machines}`,
    digits(requestsPerSweep),
    `${digits(sweeps.told)} s`,
    `${digits(sweeps.met)} s`,
    ratio.toFixed(3),
    `${digits(sweeps.longest)} s`,
    `${digits(slashings.told)} / ${digits(slashings.met)} s`,
    `${(100 * share).toFixed(1)} %`,
    `${refused}`,
    verdict(Math.abs(ratio - 1) <= 0.05 && refused === 0),
  ];
}
