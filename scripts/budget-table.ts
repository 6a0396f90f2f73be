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
import { latenessAt } from '../src/sources/lateness.ts';
import { NO_INPUTS, type ReadContext } from '../src/sources/read.ts';
import { type Config, sourcesOf } from '../src/sources/registry.ts';
import { isSampled } from '../src/sources/slashings/pass.ts';
import type { Source } from '../src/sources/source.ts';
import { formatDuration, MS_PER_DAY } from '../src/toolkit/lib/duration.ts';
import { defaultConfig } from '../test/support/runs/default-config.ts';
import { withTable } from './document-table.ts';

/** Writes the tables of docs/budget.md and docs/validators.md: the intervals that the planner chooses for each plan. */

const PLANS = { free_trial: 'trial', hobbyist: 'Hobbyist', business: 'Business', scale: 'Scale' } as const;
const COMPARED = ['free_trial', 'hobbyist', 'scale'] as const;
const CHAINS = [['mainnet'], ['mainnet', 'hoodi']] as const;
const FLEETS = [3, 50, 1_000];
const WATCHED = [1, 100, 1_000, 10_000];
/** The first day of a month of 30 days, as long as the trial. */
const SEPTEMBER = Date.UTC(2026, 8, 1);
/** A legacy key has 1,000 requests in a month of 31 days, too. */
const OCTOBER = Date.UTC(2026, 9, 1);
const QUOTAS = [500, 1_000, 2_500, 7_000, 20_000];
const MINUTE_MS = 60_000;
const SWEEPS = 3;
const ROOT = join(import.meta.dirname, '..');
const SCRIPT = 'scripts/budget-table.ts';

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
      wasLeftOut: false,
      isRefused: () => false,
      slices: () => () => undefined,
      events: [],
    };
    ({ value } = await sweep.run(context, value));
    costs.push(requests);
  }
  return requestsPerRun(sweep, { costs });
}

type Plan = keyof typeof PLANS;
type Paces = ReadonlyMap<Source, ReadonlyMap<string, ReadPace>>;

interface Setting {
  readonly plan: Config['budget']['plan'];
  readonly chains?: (typeof CHAINS)[number];
  /** The requests of a sweep. */
  readonly sweep?: number;
  /** So many validators on mainnet. */
  readonly watched?: number;
  /** The begin of the month, for an account whose first one is over. Default: a first month of 30 days. */
  readonly month?: number;
}

function pacesFor({ plan, chains = ['mainnet'], sweep = 1, watched = 0, month }: Setting): Paces {
  const defaults = defaultConfig();
  const mainnet = watched > 0 ? [{ first: 1, last: watched }] : [];
  const config: Config = {
    ...defaults,
    budget: { plan, utilization: defaults.budget.utilization },
    validators: { ...defaults.validators, watch: { mainnet, hoodi: [] } },
    chains: chains.map((name) => ({ name, v1BaseUrl: '' })),
  };
  const bucket = { ...EMPTY_BUCKET, ...(month !== undefined && { firstUseAt: 0 }) };
  const perDay = allowedPerDay(bucket, budgetOptionsOf(config), month ?? SEPTEMBER);
  const reads = { sweep: { failuresInARow: 0, durationMs: 0, costs: [sweep, sweep] } };
  const asking = sourcesOf(config).map((source) => ({ source, current: { ...emptyEntry(source), reads } }));
  return pacesOf(asking, { bucketOf: () => '', allowedPerDay: () => perDay }, SEPTEMBER);
}

/** The interval of the first enabled read of a source, and what the budget leaves out of the slashings. */
function intervalOf(paces: Paces, name: string): string {
  const [source, ofReads] = [...paces].find(([one]) => one.name === name) ?? [];
  const first = source?.reads.find((read) => ofReads?.has(read.name));
  const pace = first && ofReads?.get(first.name);
  if (!pace) return '';
  const gaps = first.name === 'finalized' ? (isSampled(pace) ? ', with gaps' : ', finalized only') : '';
  return `${formatDuration(roundTo(pace.intervalMs))}${gaps}`;
}

/** Three digits: the weights are no more precise. */
function amountOf(perDay: number): string {
  return Number(perDay.toPrecision(3)).toLocaleString('en');
}

/** To about a percent. */
function roundTo(ms: number): number {
  const unit = ms < 10 * MINUTE_MS ? 1_000 : ms < 1_000 * MINUTE_MS ? MINUTE_MS : 60 * MINUTE_MS;
  return Math.round(ms / unit) * unit;
}

/** The table of docs/budget.md: intervals, and what all sources take together with the smallest fleet. */
async function budgetTable(): Promise<string> {
  const rows = [
    `| plan | chains | ${FLEETS.map((machines) => `${machines.toLocaleString('en')} machines every`).join(' | ')} | slashings every | requests a day, ${FLEETS[0]} machines |`,
    `|---|--:|${'---|'.repeat(FLEETS.length)}---|--:|`,
  ];
  const sweeps = await Promise.all(FLEETS.map(sweepCost));
  for (const plan of Object.keys(PLANS) as Plan[]) {
    // The largest plans are enough for two.
    for (const chains of CHAINS.slice(plan === 'business' || plan === 'scale' ? 1 : 0)) {
      const paces = sweeps.map((sweep) => pacesFor({ plan, chains, sweep }));
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
function validatorsTable(): string {
  const { utilization } = defaultConfig().budget;
  const rows = [
    `| validators | requests/day | a sweep at 1 request a second | ${COMPARED.map((plan) => `${PLANS[plan]} every`).join(' | ')} |`,
    `|--:|--:|--:|${'---|'.repeat(COMPARED.length)}`,
  ];
  for (const watched of WATCHED) {
    const paces = COMPARED.map((plan) => pacesFor({ plan, watched }));
    const { reads = [] } = [...(paces[0]?.keys() ?? [])].find(({ name }) => name === 'validators') ?? {};
    const costs = reads.map(({ cost = 1, everyMs, period }) => (period ? 0 : (cost * MS_PER_DAY) / everyMs));
    const perDay = amountOf(costs.reduce((sum, cost) => sum + cost, 0));
    const sweep = formatDuration(Math.ceil((reads[0]?.cost ?? 1) / utilization) * 1_000);
    const intervals = paces.map((one) => intervalOf(one, 'validators'));
    rows.push(`| ${[watched.toLocaleString('en'), perDay, sweep, ...intervals].join(' | ')} |`);
  }
  return `${rows.join('\n')}\n`;
}

/** The table of docs/budget.md: intervals by the quota of a month. */
function monthsTable(): string {
  const rows = [
    '| quota a month | 3 machines every | with one validator: machines | status | slashings |',
    '|--:|---|---|---|---|',
  ];
  for (const perMonth of QUOTAS) {
    const plan = { perSecond: 1, perMonth };
    const watching = pacesFor({ plan, watched: 1 });
    const intervals = [
      intervalOf(pacesFor({ plan }), 'machines'),
      ...['machines', 'validators', 'slashings'].map((name) => intervalOf(watching, name).replace(/,.*/, '')),
    ];
    rows.push(`| ${[perMonth.toLocaleString('en'), ...intervals].join(' | ')} |`);
  }
  return `${rows.join('\n')}\n`;
}

/** The table of docs/budget.md: how late alerts are with few machines and a validator, as `check` says it. */
function latenessTable(): string {
  const columns = [
    pacesFor({ plan: 'free_trial', watched: 1 }),
    pacesFor({ plan: 'free_trial', watched: 1, month: OCTOBER }),
    pacesFor({ plan: 'hobbyist', watched: 1 }),
  ].map((paces) =>
    latenessAt(
      [...paces].map(([source, reads]) => {
        const [first = { intervalMs: 0, isStretched: false }] = source.reads.flatMap(
          ({ name }) => reads.get(name) ?? [],
        );
        return { source, timing: timingOf(emptyEntry(source), first, reads, { now: SEPTEMBER, held: SEPTEMBER }) };
      }),
    ),
  );
  const rows = columns[0]?.map(
    ([event], i) => `| ${[event, ...columns.map((rows) => rows[i]?.[2].replace(/:.*/, ''))].join(' | ')} |`,
  );
  return `${['| if | trial | legacy key | Hobbyist |', '|---|---|---|---|', ...(rows ?? [])].join('\n')}\n`;
}

/** The tables of each document, by their mark. */
export const TABLES: readonly [file: string, mark: string, table: () => string | Promise<string>][] = [
  ['docs/validators.md', SCRIPT, validatorsTable],
  ['docs/budget.md', SCRIPT, budgetTable],
  ['docs/budget.md', `${SCRIPT} months`, monthsTable],
  ['docs/budget.md', `${SCRIPT} alerts`, latenessTable],
];

if (import.meta.main) {
  for (const [name, mark, table] of TABLES) {
    const file = join(ROOT, name);
    writeFileSync(file, withTable(readFileSync(file, 'utf8'), mark, await table()));
  }
}
