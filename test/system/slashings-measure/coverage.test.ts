import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyLedger } from '../../../src/budget/ledger.ts';
import { ownFamilies } from '../../../src/exporter/metrics.ts';
import type { Family } from '../../../src/metrics/family.ts';
import type { AccountPlan } from '../../../src/sandbox/plan.ts';
import { slashingsSource } from '../../../src/sources/slashings/index.ts';
import { sampleValue } from '../../support/samples.ts';
import { Simulation } from '../../support/simulation.ts';
import { slashingsOptions } from '../../support/slashings-options.ts';
import { DAY, HOUR, MINUTE } from '../../support/timing.ts';

const ID = 'slashings-mainnet';
const EPOCHS_PER_DAY = 225;
/** A quota is spread over what is left of its month. */
const MONTH_START = Date.UTC(2026, 9, 1);

/** A plan whose month leaves so many requests a day, `utilization` of 0.9 applied. */
function monthly(requestsPerDay: number): AccountPlan {
  return { perSecond: 5, perMonth: Math.ceil((requestsPerDay * 31) / 0.9) };
}

function sourceOf(catchUpMs: number, intervalMs = MINUTE) {
  return slashingsSource(slashingsOptions({ intervalMs, catchUpMs }));
}

/** What /metrics says of the source now. */
function shown(simulation: Simulation): Family[] {
  const { source, entry, timing } = simulation.view(ID);
  const views = simulation.scheduler.views();
  const figures = {
    ledger: emptyLedger(),
    budgetOptions: { utilization: 0.9 },
    lastReload: { isSuccessful: true, successAt: 0 },
    isLeader: true,
  };
  return [...source.families(entry.value, timing), ...ownFamilies(views, figures, timing.now)];
}

/** What is scraped, the last one last; NaN: no series. */
type Scrapes = readonly Readonly<Record<'skipped' | 'interval' | 'planned' | 'stretch' | 'head' | 'lag', number>>[];

/** Lets time pass and scrapes every ten minutes. */
async function scraped(simulation: Simulation, ms: number): Promise<Scrapes> {
  const scrapes: Scrapes[number][] = [];
  for (let passed = 0; passed < ms; passed += 10 * MINUTE) {
    await simulation.clock.advance(10 * MINUTE);
    const families = shown(simulation);
    const value = (name: string): number => sampleValue(families, `beaconchain_${name}`) ?? Number.NaN;
    scrapes.push({
      skipped: value('skipped_epochs_total'),
      interval: value('source_interval_seconds'),
      planned: value('budget_planned_requests_per_day'),
      stretch: value('budget_stretch_ratio'),
      head: value('head_slot'),
      lag: value('finalized_epoch') - value('scanned_epoch'),
    });
  }
  return scrapes;
}

/** The alert of docs/slashings.md, at the last of these scrapes. */
function isGap(scrapes: Scrapes): boolean {
  const since = (scrapes.at(-1)?.skipped ?? 0) - (scrapes[0]?.skipped ?? 0);
  return since > 0 && !scrapes.some(({ interval }) => interval > 384);
}

describe('system/slashings-measure/coverage', () => {
  it('is full where everything fits', async () => {
    const simulation = new Simulation({
      start: MONTH_START,
      sources: [sourceOf(7 * DAY)],
      sandbox: { plan: 'hobbyist' },
    });
    const scrapes = await scraped(simulation, 2 * HOUR);
    await simulation.stop();
    expect(scrapes.at(-1)).toMatchObject({ skipped: 0, interval: 60, planned: 1_890, stretch: 1, lag: 0 });
    expect(scrapes.at(-1)?.head).toBeGreaterThan(0);
  });

  it('is every finalized epoch without the head where no head pass per epoch fits, and that is seen', async () => {
    const simulation = new Simulation({
      start: MONTH_START,
      sources: [sourceOf(7 * DAY)],
      sandbox: { plan: monthly(400) },
    });
    const scrapes = await scraped(simulation, 6 * HOUR);
    await simulation.stop();
    // What is left beyond one finalized pass per epoch makes them more frequent.
    const { interval = 0, planned, stretch, ...last } = scrapes.at(-1) ?? {};
    expect(last).toMatchObject({ skipped: 0, head: Number.NaN });
    expect(Math.abs(interval - 86_400 / 400)).toBeLessThan(2);
    expect([planned, stretch]).toEqual([86_400 / interval, interval / 60]);
    expect(Math.max(...scrapes.map(({ lag }) => lag))).toBe(0);
    expect(isGap(scrapes)).toBe(false);
  });

  it('is a sample of the finalized epochs on a trial, and that is seen and no gap', async () => {
    const simulation = new Simulation({
      start: MONTH_START,
      sources: [sourceOf(7 * DAY)],
      sandbox: { plan: 'free_trial' },
    });
    const scrapes = await scraped(simulation, 4 * DAY);
    const { pace } = simulation.view(ID);
    await simulation.stop();
    const last = scrapes.at(-1);
    expect(pace.coverage).toBe('sampled');
    expect(last?.interval).toBeGreaterThan(384);
    expect(last?.stretch).toBeGreaterThan(6.4);
    expect(last?.planned).toBeLessThan(EPOCHS_PER_DAY);
    expect(last).toMatchObject({ head: Number.NaN, lag: 0 });
    // About thirty a day of its 225 epochs are read, and each of the others is told.
    const skipped = last?.skipped ?? 0;
    expect(skipped).toBeGreaterThan(4 * EPOCHS_PER_DAY - 4 * 40);
    expect(skipped).toBeLessThan(4 * EPOCHS_PER_DAY);
    for (let i = 0; i + 6 < scrapes.length; i += 1) expect(isGap(scrapes.slice(i, i + 7))).toBe(false);
  });

  it('is a sample exactly where less than one request per epoch is planned, whatever is configured', () => {
    const intervalMs = fc.integer({ min: 1, max: 7_200 }).map((seconds) => seconds * 1_000);
    fc.assert(
      fc.property(intervalMs, fc.double({ min: 0.1, max: 3_000, noNaN: true }), (configured, allowed) => {
        const pace = sourceOf(7 * DAY, configured).pace(allowed, 1);
        expect(pace.requestsPerDay).toBeLessThanOrEqual(allowed * 1.000_001);
        expect(pace.requestsPerDay < EPOCHS_PER_DAY).toBe(pace.coverage === 'sampled');
        if (configured <= 384_000) expect(pace.intervalMs > 384_000).toBe(pace.coverage === 'sampled');
      }),
    );
  });

  it('tells a gap after a stop from that', async () => {
    const shared = { sources: [sourceOf(6 * HOUR)], sandbox: { plan: 'scale' as AccountPlan } };
    const before = new Simulation({ ...shared, start: MONTH_START });
    const [first] = await scraped(before, HOUR);
    await before.stop();
    const { entries, rateLimiter } = before;
    const after = new Simulation({
      ...shared,
      start: MONTH_START + DAY,
      entries: new Map(entries),
      ledger: rateLimiter.ledger,
    });
    const scrapes = [...(first ? [first] : []), ...(await scraped(after, HOUR))];
    await after.stop();
    expect(isGap(scrapes)).toBe(true);
    // A day and an hour less six hours, 56 epochs of 384 s.
    expect(scrapes.at(-1)?.skipped).toBeGreaterThan(EPOCHS_PER_DAY - 56 - 12);
    expect(scrapes.at(-1)?.lag).toBe(0);
  });
});
