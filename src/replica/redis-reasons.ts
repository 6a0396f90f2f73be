import { codeOf } from '../lib/error-code.ts';

/** A command failed. The message holds neither the URL nor the server's own text, because both may contain a password. */
export class RedisAway extends Error {
  override readonly name = 'RedisAway';
}

const SUPPORTED = 'supported are one server, or a primary with standbys behind one address';
const RIGHTS = 'the user lacks a right: docs/high-availability.md lists what it needs';

/** What an error means, by its code in Node or by the first words of the server's text. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/^WRONGPASS/, 'the user or the password is wrong'],
  [/^NOAUTH/, 'it expects a password: state.redis.password'],
  [/^NOPERM/, RIGHTS],
  [/^(CROSSSLOT|MOVED|ASK|CLUSTERDOWN|TRYAGAIN)/, `it is a cluster: ${SUPPORTED}`],
  [/^ERR unknown command/, `it runs no scripts, as a Sentinel does not: ${SUPPORTED}`],
  [/^ERR DB index/, 'it has no database of this number: state.redis.url'],
  [/^READONLY/, 'it is a standby: the address must lead to the primary'],
  [/^WRONGTYPE/, 'another program uses these key names: choose another state.redis.prefix'],
  [/^LOADING/, 'it is reading its data from disk'],
  [/^MASTERDOWN/, 'it is a standby that has lost its primary'],
  [/^OOM/, 'its memory is full: maxmemory'],
  [/^MISCONF/, 'it cannot write to its disk'],
  [/^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/, 'its certificate is not trusted: state.redis.tls.ca_file'],
  [/^ERR_TLS_CERT_ALTNAME/, 'its certificate is for another name: state.redis.tls.server_name'],
  [/^CERT_HAS_EXPIRED/, 'its certificate has expired'],
  [/^ERR_SSL_.*CERTIFICATE_REQUIRED/, 'it expects a client certificate: state.redis.tls.cert_file and key_file'],
];

/** The error code of Node, or the first word of the server's text, such as WRONGPASS. */
export function reasonOf(error: unknown): string {
  if (error instanceof RedisAway) return error.message;
  if (!(error instanceof Error)) return 'unknown error';
  const code = codeOf(error);
  if (code !== undefined) return code;
  // Redis 7 and Valkey say this when a script does what its user may not.
  if (/ACL failure|can't run this command/.test(error.message)) return 'NOPERM';
  return /^[A-Z]{3,}\b/.exec(error.message)?.[0] ?? 'connection lost';
}

/** The reason, and its meaning where that is known. */
export function explain(error: unknown): string {
  const reason = reasonOf(error);
  const text = error instanceof Error && reason === 'ERR' ? error.message : reason;
  const meaning = MEANINGS.find(([pattern]) => pattern.test(text))?.[1];
  return meaning === undefined ? reason : `${reason}, ${meaning}`;
}
