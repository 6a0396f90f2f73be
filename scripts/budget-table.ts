import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api } from '../src/api/client.ts';
import { readRecords } from '../src/api/reading.ts';
import { allowedPerDay, EMPTY_BUCKET } from '../src/budget/bucket.ts';
import { budgetOptionsOf } from '../src/exporter/client.ts';
import { answer } from '../src/sandbox/answer.ts';
import { Sandbox } from '../src/sandbox/world.ts';
import { emptyEntry, requestsPerRun, timingOf } from '../src/scheduler/entry.ts';
import { pacesOf, type ReadPace } from '../src/scheduler/paces.ts';
import { NO_INPUTS, type ReadContext } from '../src/sources/read.ts';
import { type Config, sourcesOf } from '../src/sources/registry.ts';
import { isSampled } from '../src/sources/slashings/pass.ts';
import type { Source } from '../src/sources/source.ts';
import { formatDuration, MS_PER_DAY } from '../src/toolkit/lib/duration.ts';
import { defaultConfig } from '../test/support/runs/default-config.ts';
import { withTable } from './document-table.ts';

/** Writes the tables of docs/budget.md and docs/validators.md: the intervals that the planner chooses for each plan. */

const PLANS = { free_trial: 'trial', hobbyist: 'Hobbyist', business: 'Business', scale: 'Scale' } as const;
const CHAINS = [['mainnet'], ['mainnet', 'hoodi']] as const;
const FLEETS = [3, 50, 1_000];
const WATCHED = [1, 100, 1_000, 10_000];
/** The first day of a month of 30 days, as long as the trial. */
const SEPTEMBER = Date.UTC(2026, 8, 1);
const MINUTE_MS = 60_000;
const SWEEPS = 3;
const ROOT = join(import.meta.dirname, '..');
export const SCRIPT = 'scripts/budget-table.ts';

/** The requests of a sweep of so many machines, counted by the sandbox. */
async function sweepCost(machines: number): Promise<number> {
  const source = sourcesOf(defaultConfig()).find(({ name }) => name === 'machines');
  if (!source) throw new TypeError('no machines');
  const [sweep] = source.reads;
  const sandbox = new Sandbox({ machines, plan: { perSecond: Number.MAX_SAFE_INTEGER } });
  const costs: number[] = [];
  let value = source.empty;
  for (let now = SEPTEMBER; costs.length < SWEEPS; now += MINUTE_MS) {
    let requests = 0;
    const api: Api = {
      now: () => now,
      fastMs: () => 0,
      async request({ path, body, envelope }) {
        requests += 1;
        const headers = { authorization: `Bearer ${sandbox.account.key}`, 'content-type': 'application/json' };
        const request = { method: 'POST', path, headers, body: JSON.stringify(body) };
        return envelope.parse(JSON.parse(answer(sandbox, request, now).body));
      },
      records: (_endpoint, record, items) => readRecords(record, items).records,
      recordsInPart: (_endpoint, record, items) => readRecords(record, items),
    };
    const pace = { intervalMs: MINUTE_MS, isStretched: false };
    const context: ReadContext = {
      api,
      timing: timingOf(emptyEntry(source), pace, new Map(), { now, held: now }),
      signal: new AbortController().signal,
      inputs: NO_INPUTS,
      ownMs: MINUTE_MS,
      agingMs: MINUTE_MS,
      isFirst: costs.length === 0,
      stop: undefined,
      isRefused: () => false,
      events: [],
    };
    ({ value } = await sweep.run(context, value));
    costs.push(requests);
  }
  return requestsPerRun(sweep, { costs });
}

type Plan = keyof typeof PLANS;
type Paces = ReadonlyMap<Source, ReadonlyMap<string, ReadPace>>;

/** The paces of a configuration with sweeps of so many requests. `watched`: so many validators on mainnet. */
function pacesFor(plan: Plan, chains: (typeof CHAINS)[number], sweep: number, watched = 0): Paces {
  const defaults = defaultConfig();
  const mainnet = watched > 0 ? [{ first: 1, last: watched }] : [];
  const config: Config = {
    ...defaults,
    budget: { plan, utilization: defaults.budget.utilization },
    validators: { ...defaults.validators, watch: { mainnet, hoodi: [] } },
    chains: chains.map((name) => ({ name, v1BaseUrl: '' })),
  };
  const budgetOptions = budgetOptionsOf(config);
  const { perSecond } = budgetOptions;
  const bucket = { ...EMPTY_BUCKET, limits: perSecond === undefined ? {} : { second: perSecond } };
  const reads = { sweep: { failuresInARow: 0, durationMs: 0, costs: [sweep, sweep] } };
  const asking = sourcesOf(config).map((source) => ({ source, current: { ...emptyEntry(source), reads } }));
  const allowance = { bucketOf: () => '', allowedPerDay: () => allowedPerDay(bucket, budgetOptions, SEPTEMBER) };
  return pacesOf(asking, allowance, SEPTEMBER);
}

/** The interval of the first read of a source that is on, and what the budget leaves out of the slashings. */
function intervalOf(paces: Paces, name: string): string {
  const [source, ofReads] = [...paces].find(([one]) => one.name === name) ?? [];
  const first = source?.reads.find((read) => ofReads?.has(read.name));
  const pace = first && ofReads?.get(first.name);
  if (!pace) return '';
  const gaps = first.name === 'finalized' ? (isSampled(pace) ? ', with gaps' : ', finalized only') : '';
  return `${formatDuration(roundTo(pace.intervalMs))}${gaps}`;
}

/** Three figures are enough of a number that is divided by weights. */
function amountOf(perDay: number): string {
  return Number(perDay.toPrecision(3)).toLocaleString('en');
}

/** To about a percent. */
function roundTo(ms: number): number {
  const unit = ms < 10 * MINUTE_MS ? 1_000 : ms < 1_000 * MINUTE_MS ? MINUTE_MS : 60 * MINUTE_MS;
  return Math.round(ms / unit) * unit;
}

/** The table of docs/budget.md: intervals, and what all sources take together with the smallest fleet. */
export async function budgetTable(): Promise<string> {
  const rows = [
    `| plan | chains | ${FLEETS.map((machines) => `${machines.toLocaleString('en')} machines every`).join(' | ')} | slashings every | requests a day, ${FLEETS[0]} machines |`,
    `|---|--:|${'---|'.repeat(FLEETS.length)}---|--:|`,
  ];
  const sweeps = await Promise.all(FLEETS.map(sweepCost));
  for (const plan of Object.keys(PLANS) as Plan[]) {
    for (const chains of CHAINS) {
      const paces = sweeps.map((sweep) => pacesFor(plan, chains, sweep));
      const [smallest = new Map() as Paces] = paces;
      const intervals = [...paces.map((one) => intervalOf(one, 'machines')), intervalOf(smallest, 'slashings')];
      const all = [...smallest.values()].flatMap((reads) => [...reads.values()]);
      const total = all.reduce((sum, pace) => sum + pace.requestsPerDay, 0);
      rows.push(`| ${[PLANS[plan], chains.length, ...intervals, amountOf(total)].join(' | ')} |`);
    }
  }
  return `${rows.join('\n')}\n`;
}

/**
 * The table of docs/validators.md: the cost of the status as configured, and its interval together with all other
 * sources.
 */
export function validatorsTable(): string {
  const { utilization } = defaultConfig().budget;
  const rows = [
    `| validators | requests/day | a sweep at 1 request a second | ${Object.values(PLANS)
      .map((plan) => `${plan} every`)
      .join(' | ')} |`,
    `|--:|--:|--:|${'---|'.repeat(Object.keys(PLANS).length)}`,
  ];
  for (const watched of WATCHED) {
    const paces = (Object.keys(PLANS) as Plan[]).map((plan) => pacesFor(plan, ['mainnet'], 1, watched));
    const { reads = [] } = [...(paces[0]?.keys() ?? [])].find(({ name }) => name === 'validators') ?? {};
    const costs = reads.map(({ cost = 1, everyMs, period }) => (period ? 0 : (cost * MS_PER_DAY) / everyMs));
    const perDay = amountOf(costs.reduce((sum, cost) => sum + cost, 0));
    const sweep = formatDuration(Math.ceil((reads[0]?.cost ?? 1) / utilization) * 1_000);
    const intervals = paces.map((one) => intervalOf(one, 'validators'));
    rows.push(`| ${[watched.toLocaleString('en'), perDay, sweep, ...intervals].join(' | ')} |`);
  }
  return `${rows.join('\n')}\n`;
}

const TABLES = {
  'docs/validators.md': validatorsTable,
  'docs/budget.md': budgetTable,
} as const;

if (import.meta.main) {
  for (const [name, table] of Object.entries(TABLES)) {
    const file = join(ROOT, name);
    writeFileSync(file, withTable(readFileSync(file, 'utf8'), SCRIPT, await table()));
  }
}
