import { json } from 'node:stream/consumers';
import type { Api } from '../api/client.ts';
import { type Endpoint, RequestFailed } from '../api/errors.ts';
import { opened, readBody } from '../api/json.ts';
import { goodRecords } from '../api/records.ts';
import { BudgetClosed } from '../budget/permit.ts';
import { QuotaKept } from '../budget/spare.ts';
import { type Clock, within } from '../lib/clock.ts';
import { codeOf, hasCode } from '../lib/error-code.ts';
import { type Asked, ask } from './ask.ts';
import { Greeting, Refusal, type SharedLimits } from './protocol.ts';
import { NotPassedOn } from './shared.ts';

/** The exporter has stopped or is restarting. */
export class ExporterGone extends RequestFailed {
  constructor(endpoint: Endpoint, path: string, error: unknown) {
    super(endpoint, 'network', `no process answers on ${path} (${codeOf(error) ?? String(error)})`);
  }
}

/** A process listens on the socket, but this process cannot use it; the message gives the reason. */
export class SocketRefused extends Error {
  override readonly name = 'SocketRefused';
}

/** Access to the service through a running exporter. */
export interface Borrowed {
  /** The exporter's process number, and what identifies its key. */
  readonly greeting: Greeting;
  /** All requests come after those of the exporter, whatever their priority. */
  readonly api: Api;
  /** As of the last answer. */
  readonly limits: () => SharedLimits;
}

export interface BorrowOptions {
  readonly path: string;
  /** The requests may take what the exporter needs of the month. */
  readonly isAgreed: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Undefined: no process listens there. @throws SocketRefused; the signal's reason when it aborts */
export async function borrow(options: BorrowOptions): Promise<Borrowed | undefined> {
  const { path, isAgreed } = options;
  const greeted = await greet(options);
  if (!greeted) return undefined;
  let { limits } = greeted;
  const api: Api = {
    async request({ endpoint, path: asked, body = {} }, envelope, signal) {
      try {
        const answer = await ask(path, { endpoint, path: asked, body, isAgreed }, signal);
        limits = answer.limits ?? limits;
        if (answer.status !== 200) throw errorOf(endpoint, Refusal.parse(await json(answer.body)));
        return opened(endpoint, envelope, await readBody(endpoint, answer.body));
      } catch (error) {
        signal.throwIfAborted();
        const isAnswer = [RequestFailed, BudgetClosed, NotPassedOn].some((kind) => error instanceof kind);
        throw isAnswer ? error : new ExporterGone(endpoint, path, error);
      }
    },
    records: (_, record, items, isPlausible) => goodRecords(record, items, isPlausible),
  };
  return { greeting: greeted.greeting, api, limits: () => limits };
}

const GREETING_TIMEOUT_MS = 10_000;
/** No socket there, or one that a killed process left. */
const NOBODY = ['ENOENT', 'ENOTDIR', 'ECONNREFUSED', 'ECONNRESET'];

async function greet({ path, clock, signal }: BorrowOptions) {
  const late = (): never => {
    throw new SocketRefused(`the process that listens on ${path} does not answer`);
  };
  const done = new AbortController();
  let answer: Asked;
  try {
    const asked = ask(path, undefined, AbortSignal.any([signal, done.signal]));
    answer = await within(clock, GREETING_TIMEOUT_MS, asked, late, signal);
  } catch (error) {
    done.abort();
    signal.throwIfAborted();
    if (hasCode(error, ...NOBODY)) return undefined;
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    throw new SocketRefused(
      `the socket ${path} cannot be used (${codeOf(error)}): run this command as the user that runs the exporter`,
    );
  }
  const greeting = Greeting.safeParse(await json(answer.body).catch(() => undefined));
  if (greeting.success && answer.limits) return { greeting: greeting.data, limits: answer.limits };
  throw new SocketRefused(`the exporter that listens on ${path} is another version`);
}

function errorOf(endpoint: Endpoint, refusal: Refusal): Error {
  if ('refused' in refusal) return new NotPassedOn(refusal.refused);
  if ('keptUntil' in refusal) return new QuotaKept(refusal.keptUntil);
  if ('closedUntil' in refusal) return new BudgetClosed(refusal.closedUntil ?? Number.POSITIVE_INFINITY);
  return new RequestFailed(endpoint, refusal.reason, refusal.detail, refusal.status);
}
