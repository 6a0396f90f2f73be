import type { Chain } from '../facts/chain.ts';
import { VERSION } from '../facts/version.ts';
import type { SourceView } from '../scheduler/schedules.ts';
import { type Cell, lines, quiet, type Summary, type Table, type Tone } from '../sources/content.ts';
import { html } from '../toolkit/lib/html.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { span } from '../toolkit/lib/words.ts';
import { countsOf, headlineOf, noticesOf, type Summed } from './headline.ts';
import { DOCUMENTATION, type StatusPage } from './page.ts';
import { budgetTable } from './status-budget.ts';
import type { StatusInput } from './status-input.ts';
import { sourcesTable } from './status-sources.ts';

/** The status page: is it working, and what does it cost? Pure. */
export function statusOf(input: StatusInput, now: UnixMs): StatusPage {
  const summaries = input.views.map((view) => ({ view, summary: summaryOf(view) }));
  const notices = [...noticesOf(input, now), ...summaries.flatMap(({ summary }) => summary.notices ?? [])].toSorted(
    (a, b) => ORDER.indexOf(a.tone) - ORDER.indexOf(b.tone),
  );
  const { views, startedAt, telemetryPath } = input;
  return {
    now,
    about: `version ${VERSION}, up for ${span(now - startedAt)}`,
    // Relative, because a reverse proxy may serve the page below another path.
    links: [
      { text: 'Metrics', href: `.${telemetryPath}` },
      { text: 'Health', href: './-/healthy' },
      { text: 'Readiness', href: './-/ready' },
      { text: 'Documentation', href: DOCUMENTATION.home },
    ],
    verdict: headlineOf(input, notices, now),
    counts: countsOf(summaries),
    notices,
    tables: [
      ...groupTable(summaries),
      ...joined(summaries),
      ...factTables(summaries),
      sourcesTable(views, now),
      budgetTable(input, now),
    ].toSorted((a, b) => Number(a.shown === 0) - Number(b.shown === 0)),
    isSimulated: input.isSimulated ?? false,
  };
}

const ORDER: readonly Tone[] = ['bad', 'warning', 'neutral', 'good'];

function summaryOf({ source, entry, timing, pace }: SourceView): Summary {
  return source.summary(entry.value, timing, { lastSuccessAt: entry.lastSuccessAt, intervalMs: pace.intervalMs });
}

/**
 * The facts of all sources in their sections, a column for each chain. Sources are listed cheapest first; here what
 * changes most comes first.
 */
function factTables(summaries: readonly Summed[]): Table[] {
  const chains = [...new Set(summaries.flatMap(({ view }) => view.source.chain ?? []))];
  const rest = chains.length === 1 ? 'Chain' : 'Chains';
  const sections = Map.groupBy(summaries.toReversed(), ({ summary }) => summary.section ?? rest);
  return [...sections].flatMap(([title, own]) => factTable(title, own, chains));
}

function factTable(title: string, summaries: readonly Summed[], chains: readonly Chain[]): Table[] {
  const facts = summaries.flatMap(({ view: { source }, summary: { facts = [] } }) =>
    facts.map(([label, value]) => ({ chain: source.chain, label, value })),
  );
  if (facts.length === 0) return [];
  const rows = [...Map.groupBy(facts, ({ label }) => label)].map(([label, own]) => [
    label,
    ...chains.map((chain) => lines(...own.filter((fact) => fact.chain === chain).map(({ value }) => value))),
  ]);
  const states = summaries.toReversed().flatMap(({ view: { source }, summary: { state } }) => {
    if (state === undefined) return [];
    return chains.length > 1 ? `${source.chain}: ${state}` : state;
  });
  return [
    {
      title,
      columns: ['What', ...chains],
      rows,
      size: rows.length,
      ...(title !== 'Validators' && { shown: 0, state: states.join('; ') }),
      empty: '',
      notes: [...new Set(summaries.flatMap(({ summary }) => summary.notes ?? []))],
    },
  ];
}

/** A row for each group. If groups have validators on several chains, the cells name the chain. */
function groupTable(summaries: readonly Summed[]): Table[] {
  const all = summaries.flatMap(({ view: { source }, summary }) =>
    (summary.groups ?? []).flatMap(({ group, facts }) =>
      facts.map(([label, value]) => ({ group, label, value, chain: source.chain })),
    ),
  );
  if (all.every(({ group }) => group === undefined)) return [];
  const chains = new Set(all.flatMap(({ chain }) => chain ?? []));
  const labels = [...new Set(all.map(({ label }) => label))];
  const cell = ({ value, chain }: (typeof all)[number]): Cell =>
    chain && chains.size > 1 ? html`${value} ${quiet(chain)}` : value;
  const rows = [...Map.groupBy(all, ({ group }) => group)]
    .toSorted(([a], [b]) => Number(a === undefined) - Number(b === undefined))
    .map(([group, own]) => [
      group ?? 'in no group',
      ...labels.map((label) => lines(...own.filter((fact) => fact.label === label).map(cell))),
    ]);
  return [{ title: 'Groups', columns: ['Group', ...labels], rows, size: rows.length, empty: '' }];
}

/** The tables of all sources. Tables with the same title, from several chains, are merged. */
function joined(summaries: readonly Summed[]): Table[] {
  const tables = summaries.flatMap(({ summary }) => summary.tables ?? []);
  const groups = Map.groupBy(tables, ({ title }) => title).values();
  return [...groups].map(
    (group): Table => ({
      ...(group[0] as Table),
      rows: { [Symbol.iterator]: () => group.values().flatMap(({ rows }) => rows) },
      size: group.reduce((sum, { size }) => sum + size, 0),
    }),
  );
}
