import { codeOf } from '../lib/error-code.ts';

/** A command failed. The message holds neither the URL nor the server's own text, because both may contain a password. */
export class RedisAway extends Error {
  override readonly name = 'RedisAway';
}

const SUPPORTED = 'only a single server, or a primary with standbys behind one address, is supported';
const RIGHTS = 'the user lacks a permission: docs/high-availability.md lists the permissions it needs';

/** What an error means, by its code in Node or by the first words of the server's text. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/^WRONGPASS/, 'the user or the password is wrong'],
  [/^NOAUTH/, 'a password is required: set state.redis.password'],
  [/^NOPERM/, RIGHTS],
  [/^(CROSSSLOT|MOVED|ASK|CLUSTERDOWN|TRYAGAIN)/, `the server is a cluster: ${SUPPORTED}`],
  [/^ERR unknown command/, `the server does not run scripts (it may be a Sentinel): ${SUPPORTED}`],
  [/^ERR DB index/, 'the database number in state.redis.url does not exist'],
  [/^READONLY/, 'the server is a standby: state.redis.url must point to the primary'],
  [/^WRONGTYPE/, 'another program uses these key names: choose another state.redis.prefix'],
  [/^LOADING/, 'the server is loading its data from disk'],
  [/^MASTERDOWN/, 'the server is a standby that has lost its primary'],
  [/^OOM/, 'the server is out of memory: check maxmemory'],
  [/^MISCONF/, 'the server cannot write to its disk'],
  [
    /^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/,
    'the certificate of the server is not trusted: set state.redis.tls.ca_file',
  ],
  [/^ERR_TLS_CERT_ALTNAME/, 'the certificate of the server is for another name: set state.redis.tls.server_name'],
  [/^CERT_HAS_EXPIRED/, 'the certificate of the server has expired'],
  [/^ERR_SSL_.*CERTIFICATE_REQUIRED/, 'a client certificate is required: set state.redis.tls.cert_file and key_file'],
];

/** The error code of Node, or the first word of the server's text, such as WRONGPASS. */
export function reasonOf(error: unknown): string {
  if (error instanceof RedisAway) return error.message;
  if (!(error instanceof Error)) return 'unknown error';
  const code = codeOf(error);
  if (code !== undefined) return code;
  // Redis 7 and Valkey report this when a script does what its user may not do.
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
