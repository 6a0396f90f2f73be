import { RequestFailed } from '../../api/errors.ts';
import { describePlan } from '../../budget/bucket.ts';
import { isKeyClosed, type Ledger } from '../../budget/ledger.ts';
import { columns } from '../../toolkit/flags/columns.ts';
import { plural } from '../../toolkit/lib/words.ts';
import { shownBucket } from '../shown-bucket.ts';
import { mayBeAbsent, type Probe, type Reply } from './probe.ts';

type Outcome = Pick<Probe, 'ledger' | 'replies'>;

/**
 * `refused`: the key is refused, or no request was answered. `partly`: something could not be read, or a field that is
 * read is absent.
 */
export type Verdict = 'understood' | 'partly' | 'refused';

/** Pure. */
export function verdictOf({ ledger, replies }: Outcome): Verdict {
  const isAnswered = replies.length === 0 || replies.some(({ failure }) => failure === undefined);
  if (isKeyRefused(ledger) || !isAnswered) return 'refused';
  const isUnderstood = ({ failure, unreadable, absent }: Reply): boolean =>
    failure === undefined && unreadable === 0 && absent.every(mayBeAbsent);
  return replies.every(isUnderstood) ? 'understood' : 'partly';
}

/** Pure. A row for each question, notes on the answers, the key and the plan. */
export function reportOf({ ledger, replies }: Outcome): string {
  const head = ['endpoint', 'chain', 'status', 'read', 'unreadable', 'bucket', 'remaining', 'path'];
  const notes = [...replies.filter(isAsked).flatMap(notesOf), ...whyNotAsked(replies)];
  return [
    '',
    ...columns([head, ...replies.map(rowOf)]),
    '',
    ...(notes.length > 0 ? [...notes, ''] : []),
    describeKey({ ledger, replies }),
  ].join('\n');
}

function rowOf(reply: Reply): string[] {
  const { endpoint, chain = '', answer, failure, read, unreadable } = reply;
  if (!answer) return [endpoint, chain, isAsked(reply) ? 'none' : 'not asked'];
  const { status, bucket = '', fall, path } = answer;
  const counts = failure ? ['', ''] : [String(read), String(unreadable)];
  return [endpoint, chain, String(status), ...counts, shownBucket(bucket), fall === undefined ? '' : `-${fall}`, path];
}

/** Without an answer, only a failed request shows that one was sent. */
function isAsked({ answer, failure }: Reply): boolean {
  return answer !== undefined || failure instanceof RequestFailed;
}

/** Each line begins with what it is about. */
function notesOf({ endpoint, chain, failure, read, unreadable, firstReason, absent }: Reply): string[] {
  const isEmpty = endpoint === 'machine_metrics' && !failure && read + unreadable === 0;
  const [missing, left] = [absent.filter((field) => !mayBeAbsent(field)), absent.filter(mayBeAbsent)];
  return [
    ...(failure ? [failure.message.replace(`${endpoint}: `, '')] : []),
    ...(unreadable > 0 ? [`${plural(unreadable, 'record')} unreadable, the first because of ${firstReason}`] : []),
    ...(isEmpty ? ['no machine has reported in the last hour'] : []),
    ...(missing.length > 0 ? [`absent: ${missing.join(', ')}`] : []),
    ...(left.length > 0 ? [`absent, which may mean 0, false or empty: ${left.join(', ')}`] : []),
  ].map((note) => `${chain ? `${endpoint} of ${chain}` : endpoint}: ${note}.`);
}

function whyNotAsked(replies: readonly Reply[]): string[] {
  const failure = replies.find((reply) => !isAsked(reply))?.failure;
  return failure ? [`Not requested because of the previous answers: ${failure.message}.`] : [];
}

/** Whether the service does not accept the key, or no longer accepts it. */
export function isKeyRefused(ledger: Ledger): boolean {
  return isKeyClosed(ledger) || ledger.key.validHeader === false;
}

function describeKey({ ledger, replies }: Outcome): string {
  if (isKeyRefused(ledger))
    return `Key: ${refusalOf(ledger)} No cost table is shown, because the limits are not known.`;
  const plan = describePlan(ledger.buckets[ledger.otherRoutes]) ?? 'not known, because the responses contain no limits';
  const isValid = ledger.key.validHeader || replies.some(({ failure }) => failure === undefined);
  return `Key: ${isValid ? 'valid' : 'not known, because no response could be read'}. Plan: ${plan}.`;
}

/** Why the service does not accept the key, and what to do. */
export function refusalOf({ key }: Ledger): string {
  if (key.standing === 'revoked')
    return 'access is revoked (trial over or subscription cancelled). Renew the subscription at beaconcha.in.';
  return 'refused. Copy it again from your account at beaconcha.in, and set it as BEACONCHAIN_API_KEY, api.key or api.key_file.';
}
