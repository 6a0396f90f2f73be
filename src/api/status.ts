import { isRevoked } from '../budget/headers.ts';
import { type Endpoint, type FailureReason, RequestFailed } from './errors.ts';
import type { Answer } from './transport.ts';

/** Turns everything but a 200 into a typed failure. Status and headers decide, never the text of the body (api-facts 7.3). */
export function expectOk(endpoint: Endpoint, answer: Answer): void {
  if (answer.status === 200) return;
  const reason = isRevoked(answer.status, answer.headers) ? 'revoked' : failureOf(answer.status);
  throw new RequestFailed(endpoint, reason, `status ${answer.status}`, answer.status);
}

const REASONS: Readonly<Record<number, FailureReason>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  429: 'rate_limited',
};

function failureOf(status: number): FailureReason {
  return status >= 500 ? 'server_error' : (REASONS[status] ?? 'unexpected_status');
}
