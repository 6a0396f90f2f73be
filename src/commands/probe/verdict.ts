import type { Ledger } from '../../budget/ledger.ts';
import { planOf } from '../../budget/plan-name.ts';
import type { Finding } from './finding.ts';
import type { Probe } from './probe.ts';

/**
 * `refused`: the key is refused, no request got a response, or the responses cannot be written. `partly`: something
 * could not be read, or is not as specified.
 */
export type Verdict = 'understood' | 'partly' | 'refused';

/** Pure. */
export function verdictOf({ ledger, findings }: Probe): Verdict {
  const isAnswered = findings.length === 0 || findings.some(({ failure }) => failure === undefined);
  if (isKeyRefused(ledger) || !isAnswered) return 'refused';
  return findings.every(isUnderstood) ? 'understood' : 'partly';
}

/** Unknown fields are harmless, and a field that may be absent counts as present. */
function isUnderstood({ failure, unreadable, differences }: Finding): boolean {
  const harmful = differences.filter(({ kind, mayBeAbsent }) => kind !== 'unknown' && !mayBeAbsent);
  return failure === undefined && unreadable === 0 && harmful.length === 0;
}

/** Whether the service does not accept the key, or no longer accepts it. */
export function isKeyRefused({ key: { standing, validHeader } }: Ledger): boolean {
  return standing === 'refused' || standing === 'revoked' || validHeader === false;
}

/** Text: what the service reported about the key and the plan. */
export function describeKey({ ledger, findings }: Probe): string {
  if (isKeyRefused(ledger)) {
    const reason = ledger.key.standing === 'revoked' ? REVOKED : REFUSED;
    return `Key: ${reason} No cost table is shown, because the limits are not known.`;
  }
  const plan = planOf(ledger.buckets[ledger.shared]) ?? 'not known, because the responses contain no limits';
  const isValid = ledger.key.validHeader || findings.some(({ failure }) => failure === undefined);
  return `Key: ${isValid ? 'valid' : 'not known, because no response could be read'}. Plan: ${plan}.`;
}

/** The same for a key that the daemon tried. */
export function describeRefusal({ key: { standing, since } }: Ledger): string {
  const reason = standing === 'revoked' ? REVOKED : REFUSED;
  return `key (as of ${new Date(since).toISOString()}): ${reason} No cost table is shown. Run check --probe to try the key again.`;
}

const REFUSED =
  'refused. Copy it again from your account at beaconcha.in, and set it as BEACONCHAIN_API_KEY, api.key or api.key_file.';
const REVOKED = 'access is revoked (trial over or subscription cancelled). Renew the subscription at beaconcha.in.';
