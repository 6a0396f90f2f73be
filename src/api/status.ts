import { isRevoked } from '../budget/headers.ts';
import { type Endpoint, type FailureReason, RequestFailed } from './errors.ts';
import type { Answer } from './transport.ts';

/** Turns everything but a 200 into a typed failure. Status and headers decide, never the text of the body (api-facts 7.3). */
export function expectOk(endpoint: Endpoint, answer: Answer): void {
  if (answer.status === 200) return;
  const reason = isRevoked(answer.status, answer.headers) ? 'revoked' : failureOf(answer.status);
  throw new RequestFailed(endpoint, reason, `status ${answer.status}`, answer.status);
}

function failureOf(status: number): FailureReason {
  if (status >= 500) return 'server_error';
  switch (status) {
    case 400:
      return 'bad_request';
    case 401:
      return 'unauthorized';
    case 403:
      return 'forbidden';
    case 404:
      return 'not_found';
    case 405:
      return 'method_not_allowed';
    case 429:
      return 'rate_limited';
    default:
      return 'unexpected_status';
  }
}
