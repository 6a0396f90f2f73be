import { readHeaders, WINDOWS } from '../../budget/headers.ts';
import { isObject } from '../../lib/is-object.ts';
import { visible } from '../../lib/text.ts';
import { cropped, plural } from '../../lib/words.ts';
import { columns } from '../columns.ts';
import type { Finding } from './finding.ts';
import type { Exchange } from './recorder.ts';

const MAX_BUCKET_LENGTH = 20;

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
    bucketIn(last),
    weight === undefined ? '' : String(weight),
    last.headers['content-encoding'] === undefined ? 'no' : 'yes',
    last.path,
  ];
}

/** The beginning of a name that may be very long. */
function bucketIn({ headers }: Exchange): string {
  return visible(cropped(readHeaders(headers, 0).bucket ?? '', MAX_BUCKET_LENGTH));
}

/** What `remaining` fell by with each answer, against the one before it in the same bucket. */
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
  const { endpoint, chain, isAsked, exchanges, failure, read, unreadable, firstReason, differences, units, pageSize } =
    finding;
  if (!isAsked) return [];
  const subject = chain ? `${endpoint} of ${chain}` : endpoint;
  const named = (label: string, fields: readonly string[]): string[] =>
    fields.length === 0 ? [] : [`${label}: ${fields.map(visible).join(', ')}`];
  const absent = differences.filter(({ kind }) => kind === 'absent');
  const before = exchanges.find((one) => questionIn(one) !== questionIn(exchanges.at(-1)));
  const isEmpty = endpoint === 'machine_metrics' && failure === undefined && read + unreadable === 0;
  return [
    ...(failure === undefined ? [] : [failure]),
    ...(before ? [`${questionIn(before)} was answered with status ${before.status}`] : []),
    ...(unreadable === 0
      ? []
      : [`${plural(unreadable, 'record')} unreadable, the first one because of ${firstReason}`]),
    ...(isEmpty ? ['no machine has reported in the last hour'] : []),
    ...named(
      'absent',
      absent.filter(({ mayBeAbsent }) => !mayBeAbsent).map(({ field }) => field),
    ),
    ...named('unknown', differences.filter(({ kind }) => kind === 'unknown').map(withDetail)),
    ...named('of another type', differences.filter(({ kind }) => kind === 'type').map(withDetail)),
    ...named(
      'left out, which is allowed',
      absent.filter(({ mayBeAbsent }) => mayBeAbsent).map(({ field }) => field),
    ),
    ...named('times are in', units),
    ...(pageSize === undefined ? [] : [`page_size limits ${pageSize}`]),
  ].map((note) => `${subject}: ${note}.`);
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
  return failure === undefined ? [] : [`Not asked because of the answers before: ${failure}.`];
}

const RATE_HEADERS = [
  ...['limit', 'remaining', 'reset', 'window', 'bucket', 'validapikey'].map((name) => `ratelimit-${name}`),
  ...['limit', 'remaining'].flatMap((name) => WINDOWS.map((window) => `x-ratelimit-${name}-${window}`)),
];

function headerNotes(findings: readonly Finding[]): string[] {
  const answered = findings.flatMap(({ endpoint, exchanges }) => {
    const last = exchanges.at(-1);
    return last ? [{ endpoint, missing: RATE_HEADERS.filter((name) => last.headers[name] === undefined) }] : [];
  });
  const byMissing = Map.groupBy(answered, ({ missing }) => missing.join(', '));
  return [...byMissing].map(([missing, group]) => {
    const where =
      group.length === answered.length
        ? 'every answer'
        : [...new Set(group.map(({ endpoint }) => endpoint))].join(', ');
    const all = group[0]?.missing.length === RATE_HEADERS.length;
    return `Rate-limit headers missing in ${where}: ${all ? 'all' : missing || 'none'}.`;
  });
}
