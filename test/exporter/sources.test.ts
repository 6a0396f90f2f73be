import { describe, expect, it } from 'vitest';
import { EMPTY_BUCKET } from '../../src/budget/bucket.ts';
import { emptyLedger, type Ledger } from '../../src/budget/ledger.ts';
import type { Config } from '../../src/config/config.ts';
import { budgetViewOf, planOf, type SourcePlan, type viewsOf } from '../../src/exporter/sources.ts';
import { emptyEntry, sourceId } from '../../src/scheduler/entry.ts';
import { sourceViews } from '../../src/scheduler/schedules.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
import { HOUR, MINUTE, NOW } from '../support/time/timing.ts';

const CONFIG: Config = {
  ...defaultConfig(),
  chains: [
    { name: 'mainnet', v1BaseUrl: 'https://one.test' },
    { name: 'hoodi', v1BaseUrl: 'https://other.test' },
  ],
};
const ENTRY = { failuresInARow: 0, durationMs: 1_000, lastAttemptAt: NOW - MINUTE / 2 };

function options(config = CONFIG): SourcePlan {
  return planOf(config);
}

function sourceIn({ sources }: SourcePlan, id: string) {
  const source = sources.find((one) => sourceId(one) === id);
  if (!source) throw new TypeError(`no source ${id}`);
  return source;
}

function viewIn(views: ReturnType<typeof viewsOf>, id: string) {
  const view = views.find(({ source }) => sourceId(source) === id);
  if (!view) throw new TypeError(`no view ${id}`);
  return view;
}

describe('exporter/sources', () => {
  it('shows stored values, and plans from newer ones', () => {
    const given = options();
    const source = sourceIn(given, 'machines');
    const saved = { ...emptyEntry(source), ...ENTRY, lastAttemptAt: NOW - HOUR };
    const current = { ...saved, ...ENTRY };
    const views = sourceViews(
      [{ source, saved, current, running: true }],
      budgetViewOf(given, emptyLedger(), NOW),
      NOW,
    );
    const view = viewIn(views, 'machines');
    expect(view).toMatchObject({ entry: saved, running: true });
    expect(view.nextAttemptAt).toBeGreaterThanOrEqual(NOW + MINUTE / 2);
  });

  it('each source draws from the bucket of its route: the endpoint on the host that the chain has', () => {
    const given = options();
    const ledger: Ledger = {
      ...emptyLedger(),
      buckets: { shared: EMPTY_BUCKET, slow: { ...EMPTY_BUCKET, closedUntil: NOW + HOUR } },
      shared: 'shared',
      lanes: { 'epoch_slots https://other.test': 'slow' },
    };
    const { bucketOf, allowedPerDay, quotaOf } = budgetViewOf(given, ledger, NOW);
    expect(bucketOf(sourceIn(given, 'slashings-mainnet'))).toBe('shared');
    expect(bucketOf(sourceIn(given, 'slashings-hoodi'))).toBe('slow');
    expect(quotaOf('shared').closedUntil).toBe(0);
    expect(quotaOf('slow').closedUntil).toBe(NOW + HOUR);
    expect(allowedPerDay('shared')).toBe(0.9 * 86_400);
  });
});
