import { RATE_LIMIT_HEADERS, readHeaders } from '../../budget/headers.ts';
import { isObject } from '../../lib/is-object.ts';
import { visible } from '../../lib/text.ts';
import { plural } from '../../lib/words.ts';
import { columns } from '../columns.ts';
import { shownBucket } from '../shown-bucket.ts';
import type { Finding } from './finding.ts';
import type { Exchange } from './recorder.ts';

/** Pure. A row for each question, then what is remarkable about the answers. */
export function reportOf(findings: readonly Finding[]): string {
  const weights = weightsOf(findings.flatMap(({ exchanges }) => exchanges));
  const head = ['endpoint', 'chain', 'status', 'time', 'read', 'unreadable', 'bucket', 'weight', 'gzip', 'path'];
  return [
    ...columns([head, ...findings.map((finding) => rowOf(finding, weights))]),
    '',
    ...findings.flatMap(notesOf),
    ...headerNotes(findings),
    ...whyNotAsked(findings),
  ].join('\n');
}

function rowOf(finding: Finding, weights: ReadonlyMap<Exchange, number>): string[] {
  const { endpoint, chain = '', isAsked, exchanges, failure, read, unreadable } = finding;
  const last = exchanges.at(-1);
  if (!last) return [endpoint, chain, isAsked ? 'none' : 'not asked'];
  const weight = weights.get(last);
  return [
    endpoint,
    chain,
    String(last.status),
    `${Math.round(last.durationMs)} ms`,
    failure === undefined ? String(read) : '',
    failure === undefined ? String(unreadable) : '',
    shownBucket(readHeaders(last.headers, 0).bucket ?? ''),
    weight === undefined ? '' : String(weight),
    last.headers['content-encoding'] === undefined ? 'no' : 'yes',
    last.path,
  ];
}

/** How much `remaining` decreased with each response, compared with the previous one in the same bucket. */
function weightsOf(exchanges: readonly Exchange[]): ReadonlyMap<Exchange, number> {
  const weights = new Map<Exchange, number>();
  const before = new Map<string, number>();
  for (const exchange of exchanges) {
    const { bucket = '', limits, remaining } = readHeaders(exchange.headers, 0);
    // A window that repeats the limit of a second is no quota.
    const window = (['month', 'day', 'hour'] as const).find((name) => limits[name] !== limits.second);
    const left = window && remaining[window];
    if (left === undefined) continue;
    const last = before.get(bucket);
    if (last !== undefined && last >= left) weights.set(exchange, last - left);
    before.set(bucket, left);
  }
  return weights;
}

/** Each line begins with what it is about. */
function notesOf(finding: Finding): string[] {
  const { endpoint, isAsked, exchanges, failure, read, unreadable, firstReason, differences, units, pageSize } =
    finding;
  if (!isAsked) return [];
  const named = (label: string, fields: readonly string[]): string[] =>
    fields.length === 0 ? [] : [`${label}: ${fields.map(visible).join(', ')}`];
  const absent = differences.filter(({ kind }) => kind === 'absent');
  const isEmpty = endpoint === 'machine_metrics' && failure === undefined && read + unreadable === 0;
  return [
    ...(failure === undefined ? [] : [failure]),
    ...earlierNotes(exchanges),
    ...(unreadable === 0 ? [] : [`${plural(unreadable, 'record')} unreadable, the first because of ${firstReason}`]),
    ...(isEmpty ? ['no machine has reported in the last hour'] : []),
    ...named(
      'absent',
      absent.filter(({ mayBeAbsent }) => !mayBeAbsent).map(({ field }) => field),
    ),
    ...named('unknown', differences.filter(({ kind }) => kind === 'unknown').map(withDetail)),
    ...named('of another type', differences.filter(({ kind }) => kind === 'type').map(withDetail)),
    ...named(
      'absent, which is allowed',
      byList(absent.filter(({ mayBeAbsent }) => mayBeAbsent).map(({ field }) => field)),
    ),
    ...named('times are in', units),
    ...(pageSize === undefined ? [] : [`page_size limits ${pageSize}`]),
  ].map((note) => `${subjectOf(finding)}: ${note}.`);
}

function subjectOf({ endpoint, chain }: Finding): string {
  return chain ? `${endpoint} of ${chain}` : endpoint;
}

/** The responses before the last one: to another question, or to earlier attempts at the same one. */
function earlierNotes(exchanges: readonly Exchange[]): string[] {
  const last = questionIn(exchanges.at(-1));
  return exchanges.slice(0, -1).map((exchange) => {
    const question = questionIn(exchange);
    return `${question === last ? 'an earlier attempt' : question} returned status ${exchange.status}`;
  });
}

/** Groups fields by the list they belong to, so that its name appears once. */
function byList(fields: readonly string[]): string[] {
  const groups = Map.groupBy(fields, (field) => field.slice(0, field.lastIndexOf('.') + 1));
  return [...groups].map(([list, group]) => `${list}{${group.map((field) => field.slice(list.length)).join(', ')}}`);
}

function questionIn(exchange: Exchange | undefined): string {
  const { path = '', asked } = exchange ?? {};
  const period = isObject(asked) ? asked['sync_committee_period'] : undefined;
  return period === undefined ? path : `${path} for ${JSON.stringify(period)}`;
}

function withDetail({ field, detail }: Finding['differences'][number]): string {
  return detail ? `${field} (${detail})` : field;
}

function whyNotAsked(findings: readonly Finding[]): string[] {
  const failure = findings.find(({ isAsked }) => !isAsked)?.failure;
  return failure === undefined ? [] : [`Not requested because of the previous responses: ${failure}.`];
}

/** Which rate-limit headers are missing; endpoints that lack the same ones share a line. */
function headerNotes(findings: readonly Finding[]): string[] {
  const answered = findings.flatMap((finding) => {
    const last = finding.exchanges.at(-1);
    return last ? [{ subject: subjectOf(finding), missing: missingIn(last) }] : [];
  });
  const lacking = answered.filter(({ missing }) => missing !== '');
  if (answered.length > 0 && lacking.length === 0) return ['All responses have all rate-limit headers.'];
  return [...Map.groupBy(lacking, ({ missing }) => missing)].map(([missing, group]) => {
    const where = group.length === answered.length ? 'all responses' : group.map(({ subject }) => subject).join(', ');
    return `Rate-limit headers missing in ${where}: ${missing}.`;
  });
}

function missingIn({ headers }: Exchange): string {
  const missing = RATE_LIMIT_HEADERS.filter((name) => headers[name] === undefined);
  return missing.length === RATE_LIMIT_HEADERS.length ? 'all' : missing.join(', ');
}
