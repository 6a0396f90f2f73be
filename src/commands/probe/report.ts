import { RequestFailed } from '../../api/errors.ts';
import { describePlan } from '../../budget/bucket.ts';
import { isKeyClosed, type Ledger } from '../../budget/ledger.ts';
import { plural } from '../../lib/words.ts';
import { columns, shownBucket } from '../columns.ts';
import { type Finding, mayBeAbsent, type Probe } from './probe.ts';

type Outcome = Pick<Probe, 'ledger' | 'findings'>;

/**
 * `refused`: the key is refused, or no request was answered. `partly`: something could not be read, or a field that is
 * read is absent.
 */
export type Verdict = 'understood' | 'partly' | 'refused';

/** Pure. */
export function verdictOf({ ledger, findings }: Outcome): Verdict {
  const isAnswered = findings.length === 0 || findings.some(({ failure }) => failure === undefined);
  if (isKeyRefused(ledger) || !isAnswered) return 'refused';
  const isUnderstood = ({ failure, unreadable, absent }: Finding): boolean =>
    failure === undefined && unreadable === 0 && absent.every(mayBeAbsent);
  return findings.every(isUnderstood) ? 'understood' : 'partly';
}

/** Pure. A row for each question, notes on the answers, the key and the plan. */
export function reportOf({ ledger, findings }: Outcome): string {
  const head = ['endpoint', 'chain', 'status', 'read', 'unreadable', 'bucket', 'remaining', 'path'];
  const notes = [...findings.filter(isAsked).flatMap(notesOf), ...whyNotAsked(findings)];
  return [
    '',
    ...columns([head, ...findings.map(rowOf)]),
    '',
    ...(notes.length > 0 ? [...notes, ''] : []),
    describeKey({ ledger, findings }),
  ].join('\n');
}

function rowOf(finding: Finding): string[] {
  const { endpoint, chain = '', answer, failure, read, unreadable } = finding;
  if (!answer) return [endpoint, chain, isAsked(finding) ? 'none' : 'not asked'];
  const { status, bucket = '', fall, path } = answer;
  const counts = failure ? ['', ''] : [String(read), String(unreadable)];
  return [endpoint, chain, String(status), ...counts, shownBucket(bucket), fall === undefined ? '' : `-${fall}`, path];
}

/** Without an answer, only a failed request shows that one was sent. */
function isAsked({ answer, failure }: Finding): boolean {
  return answer !== undefined || failure instanceof RequestFailed;
}

/** Each line begins with what it is about. */
function notesOf({ endpoint, chain, failure, read, unreadable, firstReason, absent }: Finding): string[] {
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

function whyNotAsked(findings: readonly Finding[]): string[] {
  const failure = findings.find((finding) => !isAsked(finding))?.failure;
  return failure ? [`Not requested because of the previous answers: ${failure.message}.`] : [];
}

/** Whether the service does not accept the key, or no longer accepts it. */
export function isKeyRefused(ledger: Ledger): boolean {
  return isKeyClosed(ledger) || ledger.key.validHeader === false;
}

function describeKey({ ledger, findings }: Outcome): string {
  if (isKeyRefused(ledger))
    return `Key: ${refusalOf(ledger)} No cost table is shown, because the limits are not known.`;
  const plan = describePlan(ledger.buckets[ledger.shared]) ?? 'not known, because the responses contain no limits';
  const isValid = ledger.key.validHeader || findings.some(({ failure }) => failure === undefined);
  return `Key: ${isValid ? 'valid' : 'not known, because no response could be read'}. Plan: ${plan}.`;
}

/** Why the service does not accept the key, and what to do. */
export function refusalOf({ key }: Ledger): string {
  if (key.standing === 'revoked')
    return 'access is revoked (trial over or subscription cancelled). Renew the subscription at beaconcha.in.';
  return 'refused. Copy it again from your account at beaconcha.in, and set it as BEACONCHAIN_API_KEY, api.key or api.key_file.';
}
