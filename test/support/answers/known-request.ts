import { served } from '../../../src/sandbox/answer.ts';
import { Refusal } from '../../../src/sandbox/refusal.ts';

/** A request as it leaves the process. */
interface Sent {
  readonly path: string;
  /** v2 only. */
  readonly body?: string | undefined;
  readonly accept?: string | undefined;
}

/** Why the service refuses a request that no document and no recording shows; undefined: it knows the request. */
export function refusalOf({ path, body, accept }: Sent): Refusal | undefined {
  const isV1 = path.startsWith('/api/v1/');
  const method = isV1 ? 'GET' : 'POST';
  try {
    served({ method, path, headers: { 'content-type': 'application/json', accept }, body: body ?? '' }, 'mainnet');
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}
