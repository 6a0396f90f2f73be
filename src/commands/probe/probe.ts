import { createInterface } from 'node:readline/promises';
import * as z from 'zod';
import type { Api } from '../../api/client.ts';
import { type ApiRequest, ENDPOINTS } from '../../api/endpoints.ts';
import { isFailure, RequestFailed } from '../../api/errors.ts';
import { type Odd, readAnswer, readRecords } from '../../api/reading.ts';
import { isUnknownPath } from '../../api/refusal.ts';
import { ServiceClock } from '../../api/service-clock.ts';
import type { Transport } from '../../api/transport.ts';
import { describePlan } from '../../budget/bucket.ts';
import { type Observation, readHeaders } from '../../budget/headers.ts';
import { emptyLedger, isKeyClosed, type Ledger } from '../../budget/ledger.ts';
import { BudgetClosed } from '../../budget/permit.ts';
import { openClient } from '../../exporter/client.ts';
import type { Chain } from '../../facts/chain.ts';
import type { Answered, Question } from '../../sources/probe.ts';
import { type Config, type LoadedConfig, sourcesOf } from '../../sources/registry.ts';
import type { Source } from '../../sources/source.ts';
import { columns } from '../../toolkit/flags/columns.ts';
import { UsageError } from '../../toolkit/flags/flags.ts';
import { systemClock } from '../../toolkit/lib/clock.ts';
import { isObject } from '../../toolkit/lib/is-object.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { plural } from '../../toolkit/lib/words.ts';
import { listAt } from '../../toolkit/yaml/value-at.ts';
import { type Exchange, recorded } from './public-report.ts';

export interface Reply extends Answered {
  readonly chain: Chain | undefined;
  /** The last answer. Undefined if none came. */
  readonly answer: ReportedAnswer | undefined;
  readonly read: number;
  /** Why the first unreadable record could not be read in full. */
  readonly firstReason: string | undefined;
  /** The fields that the exporter reads and the answer lacks. */
  readonly absent: readonly string[];
}

export interface ReportedAnswer {
  readonly path: string;
  readonly status: number;
  readonly bucket: string | undefined;
  /** By how much `remaining` is lower than in the previous answer of the same bucket. Undefined if that is not known. */
  readonly fall: number | undefined;
}

export interface Probe {
  /** The limits and the status of the key, from the answers. */
  readonly ledger: Ledger;
  readonly replies: readonly Reply[];
  /** In the order of the requests, repeated ones included. */
  readonly exchanges: readonly Exchange[];
}

/**
 * Failed requests are sent again, so without this limit a probe of a service in trouble would cost three times as much.
 * Each chain has eleven endpoints, and a second path for one of them. Two more are about the account.
 */
const MAX_PER_CHAIN = 15;
const MAX_OF_ACCOUNT = 2;
/** Otherwise the client would try the key again a minute later. */
const KEY_REFUSED = new Error('the key is refused');
const ALL_SENT = new Error(
  `the limit of ${MAX_PER_CHAIN} requests for each chain, and ${MAX_OF_ACCOUNT} for the account, is reached`,
);

function mostRequests({ chains }: Config): number {
  return MAX_OF_ACCOUNT + MAX_PER_CHAIN * chains.length;
}

export function hostsOf({ api, chains }: Config): string {
  return [...new Set([api.baseUrl, ...chains.map(({ v1BaseUrl }) => v1BaseUrl)])].join(' and ');
}

export function costOfProbe(config: Config): string {
  return `at most ${mostRequests(config)} requests to ${hostsOf(config)}, which count against your quota`;
}

/** Prints what it will send, and asks the user. @throws UsageError if there is no terminal on which it could ask */
export async function mayProbe(cost: string, isAgreed: boolean): Promise<boolean> {
  const { stdin, stderr } = process;
  if (!isAgreed && !(stdin.isTTY && stderr.isTTY)) {
    throw new UsageError('--probe asks before it sends requests, and there is no terminal. Add --yes to send them');
  }
  stderr.write(`Sends ${cost}.\n`);
  if (isAgreed) return true;
  using terminal = createInterface({ input: stdin, output: stderr });
  return /^y(es)?$/i.test((await terminal.question('Continue? [y/N] ')).trim());
}

/** Prints each request that is sent: with retries, a probe takes minutes. */
export function announced(send: Transport): Transport {
  let count = 0;
  return (request, signal) => {
    count += 1;
    process.stderr.write(`${count}. ${request.method} ${request.path}\n`);
    return send(request, signal);
  };
}

/** Sends one request to every enabled endpoint on each chain. After a refusal of the key, no further requests are sent. */
export async function probe(settings: LoadedConfig): Promise<Probe> {
  const clock = new ServiceClock(systemClock);
  const now = (): UnixMs => clock.now();
  const exchanges: Exchange[] = [];
  const fallOf = fallMeter();
  let head: ReportedAnswer | undefined;
  let left = mostRequests(settings.config);
  const client = openClient({
    settings: () => settings,
    proxies: settings.proxies,
    clock,
    ledger: emptyLedger(),
    transport: (send) => {
      const keep = recorded(announced(send), (exchange) => exchanges.push(exchange));
      return async (request, signal) => {
        if (left === 0) throw ALL_SENT;
        left -= 1;
        const answer = await keep(request, signal);
        const seen = readHeaders(answer.headers, now());
        head = { path: request.path, status: answer.status, bucket: seen.bucket, fall: fallOf(seen) };
        return answer;
      };
    },
  });
  await using opened = new AsyncDisposableStack();
  opened.defer(() => client.close());
  const replies: Reply[] = [];
  let refusal: Error | undefined;

  async function ask(question: Question, chain: Chain | undefined): Promise<void> {
    const { request, otherwise, next } = question;
    head = undefined;
    let result = refusal ?? (await answerTo(client.api, request));
    if (isFailure(result, 'unauthorized')) refusal = KEY_REFUSED;
    if (otherwise && isUnknownPath(result)) result = await answerTo(client.api, otherwise);
    replies.push(replyOf(question, chain, head, result));
    for (const one of next?.(result) ?? []) await ask(one, chain);
  }

  for (const { chain, more } of inProbingOrder(settings.config)) {
    for (const question of more?.probe?.questions(now) ?? []) await ask(question, chain);
  }
  return { ledger: client.limiter.settleLedger(), replies, exchanges };
}

/** The sources of the account come first, then those of each chain. */
function inProbingOrder(config: Config): Source[] {
  const order = [undefined, ...config.chains.map(({ name }) => name)];
  return sourcesOf(config).sort((a, b) => order.indexOf(a.chain) - order.indexOf(b.chain));
}

/** Pure. What the answers say about the configured machines and validators. */
export function foundIn(config: Config, replies: readonly Reply[]): string[] {
  return inProbingOrder(config).flatMap(({ chain, more }) => [
    ...(more?.probe?.found?.(replies.filter((reply) => reply.chain === chain)) ?? []),
  ]);
}

/** The JSON of the answer, or why there is none. */
async function answerTo(api: Api, request: ApiRequest): Promise<unknown> {
  try {
    return await api.request({ ...request, envelope: z.unknown() }, new AbortController().signal);
  } catch (error) {
    if (error instanceof RequestFailed || error instanceof BudgetClosed || error === ALL_SENT) return error;
    throw error;
  }
}

function fallMeter(): (seen: Observation) => number | undefined {
  const before = new Map<string, number>();
  return ({ bucket = '', limits, remaining }) => {
    // A window that repeats the limit of a second is no quota.
    const window = (['month', 'day', 'hour'] as const).find((name) => limits[name] !== limits.second);
    const left = window && remaining[window];
    if (left === undefined) return undefined;
    const last = before.get(bucket);
    before.set(bucket, left);
    return last !== undefined && last >= left ? last - left : undefined;
  };
}

/** Fields of the older form of the queues, which the newer one does not have (api-facts 11.3). */
const OF_OLDER_FORM = /^data\.(deposit_queue\.balance|exit_queue\.validator_count)$/;

/** Pure. @param result The JSON of the answer, or the error in its place. */
export function replyOf(
  { request, isPlausible = () => true }: Question,
  chain: Chain | undefined,
  answer: ReportedAnswer | undefined,
  result: unknown,
): Reply {
  const { endpoint, envelope } = request;
  const { records, is404None } = ENDPOINTS[endpoint];
  const none = { endpoint, chain, answer, read: 0, unreadable: 0, firstReason: undefined, result };
  if (is404None && isFailure(result, 'not_found')) return { ...none, failure: undefined, absent: [] };
  if (result instanceof Error) return { ...none, failure: result, absent: [] };
  const lists = Object.entries(records).map(([path, schema]) => ({ path, schema, items: listAt(result, path) }));
  const absent = [
    ...absentFields(envelope, [result]).filter((field) => !OF_OLDER_FORM.test(field)),
    ...lists.flatMap(({ path, schema, items }) => absentFields(schema, items, `${path}[]`)),
  ];
  const opened = readAnswer(envelope, result);
  if (opened.value === undefined) {
    return { ...none, failure: new Error(`unexpected shape: ${describeOdd(opened.odd)}`), absent };
  }
  const read = lists.map(({ schema, items }) => readRecords(schema, items, isPlausible as () => boolean));
  const whole = lists.length === 0 ? [{ count: 1, invalid: opened.odd ? 1 : 0, odd: opened.odd }] : read;
  const [count, unreadable] = [sumOf(whole, 'count'), sumOf(whole, 'invalid')];
  const first = whole.find(({ invalid }) => invalid > 0);
  const firstReason = first && (first.odd ? describeOdd(first.odd) : 'its time, which is in the future');
  return { ...none, failure: undefined, absent, read: count - unreadable, unreadable, firstReason };
}

function sumOf<K extends string>(all: readonly Readonly<Record<K, number>>[], key: K): number {
  return all.reduce((sum, one) => sum + one[key], 0);
}

function describeOdd({ place, message }: Odd = { place: '', message: 'not as expected' }): string {
  return `${place ? `${place}: ` : ''}${message}`;
}

/**
 * Pure. The fields that a schema reads and that none of the values has, such as `range.epoch` or `data[].slot`. A null is
 * a value. Nothing is known of the items of an empty list.
 */
function absentFields(schema: z.core.$ZodType, values: readonly unknown[], field = ''): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return absentFields(schema.unwrap(), values, field);
  }
  if (schema instanceof z.ZodPipe) return absentFields(schema.in, values, field);
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => absentFields(option, values, field));
  if (schema instanceof z.ZodArray)
    return absentFields(schema.element, values.filter(Array.isArray).flat(), `${field}[]`);
  if (!(schema instanceof z.ZodObject)) return [];
  const objects = values.filter(isObject);
  if (objects.length === 0) return [];
  return Object.entries(schema.shape).flatMap(([name, member]) => {
    const path = field === '' ? name : `${field}.${name}`;
    const present = objects.flatMap((object) => (Object.hasOwn(object, name) ? [object[name]] : []));
    return present.length === 0 ? [path] : absentFields(member, present, path);
  });
}

/**
 * Whether an answer may leave this field out: the lists and the cursor of a page, and zeros, false and empty strings in
 * records of machines (api-facts 1.1).
 */
export function mayBeAbsent(field: string): boolean {
  return /^(paging|data\.(system|validator|node)_metrics)\b/.test(field);
}

/**
 * `refused`: the key is refused, or no request was answered. `partly`: something could not be read, or a field that is
 * read is absent.
 */
export type Verdict = 'understood' | 'partly' | 'refused';

export function verdictOf({ ledger, replies }: Probe): Verdict {
  const isAnswered = replies.length === 0 || replies.some(({ failure }) => failure === undefined);
  if (refusalOf(ledger) || !isAnswered) return 'refused';
  const isUnderstood = ({ failure, unreadable, absent }: Reply): boolean =>
    failure === undefined && unreadable === 0 && absent.every(mayBeAbsent);
  return replies.every(isUnderstood) ? 'understood' : 'partly';
}

/** Pure. A row for each question, notes on the answers, what was found, the key and the plan. */
export function reportOf(probe: Probe, found: readonly string[]): string {
  const { replies } = probe;
  const head = ['endpoint', 'chain', 'status', 'read', 'unreadable', 'bucket', 'remaining', 'path'];
  const notes = [...replies.filter(isAsked).flatMap(notesOf), ...whyNotAsked(replies)];
  return [
    '',
    ...columns([head, ...replies.map(reportRow)]),
    '',
    ...(notes.length > 0 ? [...notes, ''] : []),
    ...(found.length > 0 ? [...found, ''] : []),
    describeKey(probe),
  ].join('\n');
}

function reportRow(reply: Reply): string[] {
  const { endpoint, chain = '', answer, failure, read, unreadable } = reply;
  if (!answer) return [endpoint, chain, isAsked(reply) ? 'none' : 'not asked'];
  const { status, bucket = '', fall, path } = answer;
  const counts = failure ? ['', ''] : [String(read), String(unreadable)];
  return [endpoint, chain, String(status), ...counts, bucket, fall === undefined ? '' : `-${fall}`, path];
}

/** Without an answer, only a failed request shows that one was sent. */
function isAsked({ answer, failure }: Reply): boolean {
  return answer !== undefined || failure instanceof RequestFailed;
}

function notesOf({ endpoint, chain, failure, read, unreadable, firstReason, absent }: Reply): string[] {
  const isEmpty = endpoint === 'machine_metrics' && !failure && read + unreadable === 0;
  const [missing, leftOut] = [absent.filter((field) => !mayBeAbsent(field)), absent.filter(mayBeAbsent)];
  return [
    ...(failure ? [failure.message.replace(`${endpoint}: `, '')] : []),
    ...(unreadable > 0
      ? [`${plural(unreadable, 'record')} unreadable in whole or in part, the first because of ${firstReason}`]
      : []),
    ...(isEmpty ? ['no machine has reported in the last hour'] : []),
    ...(missing.length > 0 ? [`absent: ${missing.join(', ')}`] : []),
    ...(leftOut.length > 0 ? [`absent, which may mean 0, false or empty: ${leftOut.join(', ')}`] : []),
  ].map((note) => `${chain ? `${endpoint} of ${chain}` : endpoint}: ${note}.`);
}

function whyNotAsked(replies: readonly Reply[]): string[] {
  const failure = replies.find((reply) => !isAsked(reply))?.failure;
  return failure ? [`Not requested because of the previous responses: ${failure.message}.`] : [];
}

function describeKey({ ledger, replies }: Probe): string {
  const refusal = refusalOf(ledger);
  if (refusal) return `Key: ${refusal} No cost table is shown, because the limits are not known.`;
  const plan = describePlan(ledger.buckets[ledger.otherRoutes]) ?? 'not known, because no response contains limits';
  const isValid = ledger.key.validHeader || replies.some(({ failure }) => failure === undefined);
  return `Key: ${isValid ? 'valid' : 'not known, because no response could be read'}. Plan: ${plan}.`;
}

/** Why the service does not accept the key, and what to do. Undefined if the service may accept it. */
export function refusalOf(ledger: Ledger): string | undefined {
  const { key } = ledger;
  if (!isKeyClosed(ledger) && key.validHeader !== false) return undefined;
  if (key.standing === 'revoked')
    return 'access is revoked (trial over or subscription cancelled). Renew the subscription at beaconcha.in.';
  return 'refused. Copy it again from your account at beaconcha.in, and set it as BEACONCHAIN_API_KEY, api.key or api.key_file.';
}
