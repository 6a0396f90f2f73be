import dns, { type LookupAddress } from 'node:dns';

type Done = (error: NodeJS.ErrnoException | null, address?: string | LookupAddress[], family?: number) => void;

/** How names below `.test` are looked up. `ok`: to loopback; `hang`: for ever; else the code of the failure. */
export type LookUp = 'ok' | 'hang' | 'ENOTFOUND' | 'EAI_AGAIN';

let how: LookUp = 'ok';
const real = dns.lookup;

/** From now on; each connection asks anew. */
export function lookUps(next: LookUp): void {
  how = next;
  dns.lookup = lookUp as typeof dns.lookup;
}

function lookUp(host: string, options: dns.LookupAllOptions, done: Done): void {
  if (!host.endsWith('.test')) real(host, options, done);
  else if (how === 'ok') setImmediate(done, null, options.all ? [{ address: '127.0.0.1', family: 4 }] : '127.0.0.1', 4);
  else if (how !== 'hang') setImmediate(done, Object.assign(new Error(`getaddrinfo ${how} ${host}`), { code: how }));
}
