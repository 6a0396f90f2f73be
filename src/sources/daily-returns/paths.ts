import type { FailureReason } from '../../api/errors.ts';

/** The path of the specification, and the one of the public documentation (api-facts 3.1). */
const AUTO_PATHS = ['/api/v2/ethereum/benchmark-store', '/api/v2/ethereum/eth-store'] as const;

/** The path that answered last; absent before the first answer. */
export interface KnownPath {
  readonly path?: string | undefined;
  /** Whether it answered within the last day. */
  readonly isRecent: boolean;
}

/** The path to ask, and the other one that may be tried after it; `auto` has two. The one that answered last comes first. */
export function pathsOf(configured: string, { path: known }: KnownPath): readonly [first: string, second?: string] {
  if (configured !== 'auto') return [configured];
  const [specified, published] = AUTO_PATHS;
  return known === published ? [published, specified] : [specified, published];
}

/** The service answers an unknown path in one of these ways: not found, any other refusal, or a page of a gateway. */
const UNKNOWN_PATH: readonly FailureReason[] = [
  'not_found',
  'bad_request',
  'forbidden',
  'method_not_allowed',
  'unexpected_status',
  'invalid_body',
];

/**
 * Whether the other path may be tried after this failure. A path that has answered is left at once only where it is not
 * found any more, and after any other refusal only when it has not answered for a day.
 */
export function mayTryOther(reason: FailureReason, { isRecent }: KnownPath): boolean {
  return reason === 'not_found' || (!isRecent && UNKNOWN_PATH.includes(reason));
}
