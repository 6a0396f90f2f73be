/** A command was not answered. Its message never holds the URL or what the server wrote: both may repeat a password. */
export class RedisAway extends Error {
  override readonly name = 'RedisAway';
}

const SUPPORTED = 'supported are one server, or a primary with standbys behind one address';
const RIGHTS = 'the user lacks a right: docs/high-availability.md lists what it needs';

/** By the code of Node or the error word of the server, or else by its text. */
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

/** A code of Node, or the first word of what the server says, such as WRONGPASS. */
export function reasonOf(error: unknown): string {
  if (error instanceof RedisAway) return error.message;
  if (!(error instanceof Error)) return 'unknown error';
  if ('code' in error && error.code) return String(error.code);
  // Redis 7 and Valkey tell so of what a script does.
  if (/ACL failure|can't run this command/.test(error.message)) return 'NOPERM';
  return /^[A-Z]{3,}\b/.exec(error.message)?.[0] ?? 'connection lost';
}

/** The reason, with what it means where that can be said. */
export function explained(error: unknown): string {
  const reason = reasonOf(error);
  const text = error instanceof Error && reason === 'ERR' ? error.message : reason;
  const meaning = MEANINGS.find(([pattern]) => pattern.test(text))?.[1];
  return meaning === undefined ? reason : `${reason}, ${meaning}`;
}
