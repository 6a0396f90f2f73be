import type { Chain } from '../../../src/facts/chain.ts';
import { served } from '../../../src/sandbox/answer.ts';
import { Refusal } from '../../../src/sandbox/refusal.ts';
import type { Sandbox } from '../../../src/sandbox/world.ts';

/** A request as it leaves the process. */
interface Sent {
  readonly path: string;
  /** v2 only. */
  readonly body?: string | undefined;
  readonly accept?: string | undefined;
  /** v1 only: that of the host. */
  readonly chain?: Chain | undefined;
}

function known({ path, body = '', accept, chain = 'mainnet' }: Sent) {
  const method = path.startsWith('/api/v1/') ? 'GET' : 'POST';
  return served({ method, path, headers: { 'content-type': 'application/json', accept }, body }, chain);
}

/** Why the service refuses a request that no document and no recording shows; undefined: it knows the request. */
export function refusalOf(sent: Sent): Refusal | undefined {
  try {
    known(sent);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** What a world says to a request at a time, Unix ms. It counts no request. @throws Refusal */
export function saidBy(sandbox: Sandbox, sent: Sent, now: number): unknown {
  return JSON.parse(known(sent)(sandbox, now));
}
