import type { createClient } from '@redis/client';
import { type Clock, within } from '../lib/clock.ts';
import { codeOf } from '../lib/error-code.ts';
import type { Milliseconds } from '../lib/time.ts';

export interface RedisSettings {
  /** redis:// or rediss://. It may hold a password, so it is never shown. */
  readonly url: string;
  /** Used instead of the password in the URL. */
  readonly password?: string | undefined;
  readonly prefix: string;
  /** For messages: the name of these settings in the config file, and the document that lists the permissions. */
  readonly section: string;
  readonly manual: string;
}

/** A command failed. The message holds neither the URL nor the server's own text, because both may contain a password. */
export class RedisAway extends Error {
  override readonly name = 'RedisAway';
}

/** The content of Redis after a request for the lease. */
export interface LeaseReply {
  /** The id of the replica that holds the lease; '' if none does. */
  readonly holder: string;
  /** The newest term that any replica has had; '' before the first. */
  readonly term: string;
  /** The revision of each document, by its name. */
  readonly revisions: ReadonlyMap<string, string>;
}

/**
 * Takes the lease if nobody holds it, renews it if it is ours, or gives it back. A taken lease begins a new term. A term is
 * the time of the server in ms, so it is higher than any before even after Redis has lost all data. Terms and revisions
 * have a constant width, so they are compared as texts. A revision without its document does not count, because a server
 * that evicts keys can lose the documents alone.
 *
 * KEYS: lease, term, revisions, documents. ARGV: our id, time to live (0: give back, and do not take).
 */
const LEASE = `
local time = redis.call('TIME')
local term = redis.call('GET', KEYS[2])
local holder = term and redis.call('GET', KEYS[1])
if holder == ARGV[1] then
  if ARGV[2] == '0' then
    redis.call('DEL', KEYS[1])
    holder = false
  else
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  end
elseif not holder and ARGV[2] ~= '0' then
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  term = string.format('%.0f', math.max((tonumber(term) or 0) + 1, now))
  holder = ARGV[1]
  redis.call('SET', KEYS[2], term)
  redis.call('SET', KEYS[1], holder, 'PX', ARGV[2])
end
local reply, revisions = {holder or '', term or ''}, redis.call('HGETALL', KEYS[3])
for i = 1, #revisions, 2 do
  if redis.call('HEXISTS', KEYS[4], revisions[i]) == 1 then
    table.insert(reply, revisions[i])
    table.insert(reply, revisions[i + 1])
  end
end
return reply
`;

/**
 * Writes a document. Refused under a term that is not the newest, and if Redis has the document in this or a newer
 * revision: a write that its sender has given up may arrive after a later one.
 *
 * KEYS: term, documents, revisions. ARGV: term of the writer, name, revision, text.
 */
const WRITE = `
local term = redis.call('GET', KEYS[1])
local revision = redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 and redis.call('HGET', KEYS[3], ARGV[2])
if term and ARGV[1] < term or revision and ARGV[3] <= revision then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[4])
redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])
return 1
`;

/**
 * The state in Redis: each method is one request, and throws RedisAway. There is one connection. While the server is
 * unreachable, commands are not queued: each one fails, and the next one connects again.
 */
export class RedisState {
  readonly #settings: RedisSettings;
  readonly #clock: Clock;
  readonly #timeoutMs: Milliseconds;
  #connection: ReturnType<typeof connect> | undefined;

  /** @param timeoutMs How long a command may take, with the connection if there is none. */
  constructor(settings: RedisSettings, clock: Clock, timeoutMs: Milliseconds) {
    this.#settings = settings;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Fails on a server that cannot be written to. A standby accepts reads, but no replica could ever lead. */
  async expectWritable(): Promise<void> {
    await this.#send(['HDEL', this.#key('documents'), '']);
  }

  /** Takes or renews the lease for this time; 0: gives it back if it is ours. */
  async lease(id: string, ttlMs: Milliseconds): Promise<LeaseReply> {
    const reply = await this.#run(LEASE, ['lease', 'term', 'revisions', 'documents'], [id, String(ttlMs)]);
    const [holder = '', term = '', ...pairs] = Array.isArray(reply) ? reply.map(String) : [];
    const revisions = new Map<string, string>();
    for (let i = 0; i + 1 < pairs.length; i += 2) revisions.set(pairs[i] ?? '', pairs[i + 1] ?? '');
    return { holder, term, revisions };
  }

  /** The texts of these documents; undefined: there is none. */
  async read(names: readonly string[]): Promise<(string | undefined)[]> {
    const reply = await this.#send(['HMGET', this.#key('documents'), ...names]);
    return Array.isArray(reply) ? reply.map((text: unknown) => (typeof text === 'string' ? text : undefined)) : [];
  }

  /** Whether the document was written. */
  async write(term: string, name: string, revision: string, text: string): Promise<boolean> {
    return (await this.#run(WRITE, ['term', 'documents', 'revisions'], [term, name, revision, text])) === 1;
  }

  /** Keeps a text that cannot be read where no replica looks for documents. */
  async setAside(name: string, text: string): Promise<void> {
    await this.#send(['HSET', this.#key('unreadable'), name, text]);
  }

  /** For messages: the document, and how the operator starts without it. */
  inWords(name: string): { document: string; remedy: string } {
    return { document: `the document ${name} in Redis`, remedy: `set another ${this.#settings.section}.prefix` };
  }

  #key(name: string): string {
    return `${this.#settings.prefix}:${name}`;
  }

  #run(script: string, names: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.#send(['EVAL', script, String(names.length), ...names.map((name) => this.#key(name)), ...args]);
  }

  async #send(command: readonly string[]): Promise<unknown> {
    // Loaded only if Redis is used, and outside of the time limit of a command.
    const { default: redis } = await import('@redis/client');
    this.#connection ??= connect(redis.createClient, this.#settings, this.#timeoutMs);
    const connection = this.#connection;
    try {
      const answered = connection.opened.then(() => connection.client.sendCommand(command));
      return await within(this.#clock, this.#timeoutMs, answered, () => {
        throw new RedisAway('no answer in time');
      });
    } catch (error) {
      if (this.#connection === connection) this.close();
      throw error instanceof RedisAway ? error : new RedisAway(whyAway(error, this.#settings));
    }
  }

  close(): void {
    this.#connection?.client.destroy();
    this.#connection = undefined;
  }
}

function connect(create: typeof createClient, settings: RedisSettings, connectTimeout: Milliseconds) {
  const url = new URL(settings.url);
  // The client takes user and password either from the URL or from its options, never one from each.
  if (settings.password !== undefined) url.password = encodeURIComponent(settings.password);
  const client = create({
    url: url.href,
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    socket: { connectTimeout, reconnectStrategy: false },
  });
  // Without a listener an error would end the process. The command in progress reports it.
  client.on('error', () => undefined);
  return { client, opened: client.connect() };
}

const SUPPORTED = 'only a single server, or a primary with standbys behind one address, is supported';

const meanings = ({ section, manual }: RedisSettings): readonly (readonly [RegExp, string])[] => [
  [/^WRONGPASS/, 'the user or the password is wrong'],
  [/^NOAUTH/, `a password is required: set ${section}.password`],
  [/^NOPERM/, `the user lacks a permission: ${manual} lists the permissions it needs`],
  [/^(CROSSSLOT|MOVED|ASK|CLUSTERDOWN|TRYAGAIN)/, `the server is a cluster: ${SUPPORTED}`],
  [/^ERR unknown command/, `the server does not run scripts (it may be a Sentinel): ${SUPPORTED}`],
  [/^ERR DB index/, `the database number in ${section}.url does not exist`],
  [/^READONLY/, `the server is a standby: ${section}.url must point to the primary`],
  [/^WRONGTYPE/, `another program uses these key names: choose another ${section}.prefix`],
  [/^LOADING/, 'the server is loading its data from disk'],
  [/^MASTERDOWN/, 'the server is a standby that has lost its primary'],
  [/^DENIED/, `the server is in protected mode: give it a password, and set ${section}.password`],
  [/^ERR max number of clients/, 'the server has as many clients as it accepts: check maxclients'],
  [/^NOREPLICAS/, 'too few standbys of the server are connected: check min-replicas-to-write'],
  [/^OOM/, 'the server is out of memory: check maxmemory'],
  [/^MISCONF/, 'the server cannot write to its disk'],
  [/^(DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/, 'the certificate of the server is not trusted: set NODE_EXTRA_CA_CERTS'],
  [/^ERR_TLS_CERT_ALTNAME/, `the certificate of the server is for another name than that in ${section}.url`],
  [/^CERT_HAS_EXPIRED/, 'the certificate of the server has expired'],
  [
    /^ERR_SSL_.*CERTIFICATE_REQUIRED/,
    'a client certificate is required, which is not supported: set tls-auth-clients no',
  ],
];

/** The error code of Node or the first word of the server's text, and its meaning. */
function whyAway(error: unknown, settings: RedisSettings): string {
  const text = error instanceof Error ? error.message : '';
  // Redis 7 and Valkey report this when a script does what its user may not do.
  const denied = /ACL failure|can't run this command/.test(text) ? 'NOPERM' : undefined;
  const reason = codeOf(error) ?? denied ?? /^[A-Z]{3,}\b/.exec(text)?.[0] ?? 'connection lost';
  const meaning = meanings(settings).find(([pattern]) => pattern.test(reason === 'ERR' ? text : reason))?.[1];
  return meaning === undefined ? reason : `${reason}, ${meaning}`;
}
