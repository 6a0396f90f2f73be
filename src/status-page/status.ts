import { VERSION } from '../facts/version.ts';
import { lastSuccessAt, type SourceView } from '../scheduler/schedules.ts';
import { CONDITIONS } from '../sources/conditions.ts';
import {
  type Cell,
  type Linked,
  lines,
  link,
  type Notice,
  quiet,
  type Summary,
  type Table,
  type Tone,
} from '../sources/content.ts';
import { html } from '../toolkit/lib/html.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { span } from '../toolkit/lib/words.ts';
import { countsOf, headlineOf, noticesOf, type StatusInput, type Summed } from './headline.ts';
import type { StatusPage } from './page.ts';
import { budgetTable } from './status-budget.ts';
import { sourcesTable } from './status-sources.ts';

/** The status page: is it working, and what does it cost? Pure. */
export function statusOf(input: StatusInput, now: UnixMs): StatusPage {
  const summaries = input.views.map((view) => ({
    view,
    summary: summaryOf(view, input.isSimulated ? (text) => text : link),
  }));
  const notices = [...noticesOf(input, now), ...summaries.flatMap(({ summary }) => summary.notices ?? [])].toSorted(
    (a, b) => ORDER.indexOf(a.tone) - ORDER.indexOf(b.tone) || urgency(a) - urgency(b),
  );
  const { views, startedAt, telemetryPath } = input;
  return {
    now,
    about: `version ${VERSION}, up for ${span(now - startedAt)}`,
    telemetryPath,
    verdict: headlineOf(input, notices, now),
    counts: [input.isSimulated ? 'Simulated data' : [], countsOf(summaries) || []].flat().join(': '),
    notices,
    tables: [
      ...groupTable(summaries),
      ...joined(summaries),
      sourcesTable(views, now),
      budgetTable(input, now),
    ].toSorted((a, b) => Number(a.shown === 0) - Number(b.shown === 0)),
  };
}

const ORDER: readonly Tone[] = ['bad', 'warning', 'neutral', 'good'];
const ALERTS = Object.keys(CONDITIONS);

/** The lower, the more urgent. What is no alert comes last. */
function urgency({ alert }: Notice): number {
  return alert === undefined ? ALERTS.length : ALERTS.indexOf(alert);
}

function summaryOf(view: SourceView, linked: Linked): Summary {
  const { source, entry, timing, inputs, first } = view;
  const polls = { lastSuccessAt: lastSuccessAt(view), intervalMs: first.pace.intervalMs };
  return source.page?.(entry.value, timing, { inputs, linked, polls }) ?? {};
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
  return [...groups].map((group): Table => {
    const briefs = group.flatMap(({ brief }) => brief || []);
    return {
      ...(group[0] as Table),
      rows: { [Symbol.iterator]: () => group.values().flatMap(({ rows }) => rows) },
      size: group.reduce((sum, { size }) => sum + size, 0),
      ...(briefs.length > 0 && { brief: briefs.join('; ') }),
    };
  });
}
