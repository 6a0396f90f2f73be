import { chmod, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { RequestFailed } from '../api/errors.ts';
import { BudgetClosed } from '../budget/permit.ts';
import { QuotaKept } from '../budget/spare.ts';
import { type Greeting, LIMITS_HEADER, Question, type Refusal } from './protocol.ts';
import { NotPassedOn, type Shared } from './shared.ts';

export interface SharingOptions {
  /** Undefined: this process sends no requests now. */
  readonly shared: () => Shared | undefined;
  /** Called when a backfill starts. */
  readonly onGreeting: () => void;
}

const OWNER_ONLY = 0o600;
/** A question has one cursor and two times. */
const MAX_QUESTION_BYTES = 256 * 1024;

/**
 * Listens on a Unix socket for the requests of a backfill. Only the lock of the directory makes it safe to call: it replaces
 * a socket that a killed process left.
 * @throws an Error with a code where the file system has no sockets
 */
export async function listen(path: string, options: SharingOptions): Promise<{ close(): Promise<void> }> {
  const server = createServer((request, response) => {
    // The backfill notices a failure here, because its connection ends.
    answer(request, response, options).catch(() => response.destroy());
  });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
  // A connection that cannot be accepted because of a lack of file descriptors must not end the exporter.
  server.on('error', () => undefined);
  try {
    await chmod(path, OWNER_ONLY);
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

async function answer(request: IncomingMessage, response: ServerResponse, options: SharingOptions): Promise<void> {
  const shared = options.shared();
  if (!shared) throw new Error('nothing is shared now');
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Error('the backfill has ended')));
  if (request.method === 'GET') {
    options.onGreeting();
    const greeting: Greeting = { protocol: 1, pid: process.pid, fingerprint: shared.fingerprint };
    return send(response, 200, shared, Buffer.from(JSON.stringify(greeting)));
  }
  try {
    const body = await shared.request(await questionOf(request), gone.signal);
    send(response, 200, shared, body);
  } catch (error) {
    const refusal = refusalOf(error);
    if (!refusal) throw error;
    send(response, 'refused' in refusal ? 403 : 502, shared, Buffer.from(JSON.stringify(refusal)));
  }
}

function send(response: ServerResponse, status: number, shared: Shared, body: Uint8Array): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    [LIMITS_HEADER]: JSON.stringify(shared.limits()),
  });
  response.end(body);
}

/** @throws NotPassedOn */
async function questionOf(request: IncomingMessage): Promise<Question> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) {
    text += piece;
    if (text.length > MAX_QUESTION_BYTES) throw new NotPassedOn('a request that is too long');
  }
  try {
    return Question.parse(JSON.parse(text));
  } catch {
    throw new NotPassedOn('not a request of a backfill');
  }
}

/** Undefined: the exporter stops, or uses other settings from now on. */
function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof QuotaKept) return { keptUntil: error.until };
  if (error instanceof BudgetClosed) return { closedUntil: Number.isFinite(error.until) ? error.until : null };
  if (error instanceof NotPassedOn) return { refused: error.message };
  if (!(error instanceof RequestFailed)) return undefined;
  const { reason, detail, status } = error;
  return { reason, detail, ...(status === undefined ? {} : { status }) };
}
