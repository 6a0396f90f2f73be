import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/files.ts';
import { start, waitFor } from '../../support/program.ts';

/** What each part must show: the numbers are of the simulated service, whose chain has slashings of its own. */
const SHOWN = [
  /The configuration is valid\./,
  /beaconchain_machine_peers\{.*\} \d+/,
  /beaconchain_daily_return_apr_ratio\{/,
  /beaconchain_watched_validators_slashed\{[^}]*\} 1\n/,
  /kill -9[^=]*beaconchain_attester_slashings_total\{[^}]*\} [1-9]/,
  /beaconchain_source_up\{source="machines"\} 0\n +beaconchain_machine_peers/,
  /beaconchain_ratelimit_limit\{[^}]*window="month"\} 1000/,
  /beaconchain_budget_stretch_ratio\{[^}]*\} [\d.]+/,
];

it('npm run tour shows in two minutes what the exporter does', async () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(scripts.tour).toBe('node scripts/tour.ts');
  const tour = start(process.execPath, [resolve('scripts/tour.ts')]);
  expect(await tour.ended, tour.output).toMatchObject({ code: 0 });
  for (const line of SHOWN) expect(tour.stdout).toMatch(line);
  const counted = [...tour.stdout.matchAll(/attester_slashings_total\{[^}]*\} (\d+)/g)].map(([, count]) =>
    Number(count),
  );
  const [before = 0, afterKill = 0] = counted;
  expect(counted).toHaveLength(2);
  expect(before).toBeGreaterThan(0);
  expect(afterKill).toBeGreaterThanOrEqual(before);
  const [, seconds] = /== (\d+) seconds/.exec(tour.stdout) ?? [];
  expect(Number(seconds)).toBeLessThan(120);
});

it('Ctrl-C in the tour leaves nothing behind', async () => {
  const folder = temporaryFolder();
  const tour = start(process.execPath, [resolve('scripts/tour.ts')], {
    env: { PATH: process.env['PATH'], TMPDIR: folder },
  });
  await waitFor(() => expect(tour.stdout).toContain('== One file'));
  expect(await tour.stop('SIGINT')).toMatchObject({ code: 130 });
  expect(readdirSync(folder).filter((name) => name.startsWith('tour-'))).toEqual([]);
});
