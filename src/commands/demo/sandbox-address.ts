import { parseListenAddress } from '../../config/fields.ts';
import { UsageError } from '../flags.ts';

export const SANDBOX_FLAG = '--sandbox.listen-address';

/** Without a host on loopback: anybody who reaches the simulated service can give orders to it. @throws UsageError */
export function sandboxAddress(text = ':10033'): { readonly host: string; readonly port: number } {
  const address = parseListenAddress(text);
  if (address) return { host: address.host ?? '127.0.0.1', port: address.port };
  throw new UsageError(`${SANDBOX_FLAG}: expected host:port, :port or [::1]:port, got ${JSON.stringify(text)}`);
}
