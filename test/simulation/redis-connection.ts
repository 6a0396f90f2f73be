import type { Connect, RedisClient } from '../../src/replica/redis-link.ts';
import type { Gate } from './gate.ts';
import type { SimulatedRedis } from './redis.ts';
import type { Reply } from './redis-data.ts';
import type { RedisNetwork, WorldTime } from './redis-network.ts';

/** The client library gives up a connection after this time. */
const CONNECT_TIMEOUT_MS = 1_500;

interface Ends {
  readonly redis: SimulatedRedis;
  readonly network: RedisNetwork;
  readonly world: WorldTime;
  /** The process: once it is dead it sends nothing and is told nothing. What it had sent is still executed. */
  readonly gate: Gate;
}

/** How one process connects, in place of the client library. */
export function connectTo(redis: SimulatedRedis, network: RedisNetwork, world: WorldTime, gate: Gate): Connect {
  const ends: Ends = { redis, network, world, gate };
  return async () => {
    await gate.call('redis: connect', () => undefined);
    const opening = shakeHands(ends);
    const opened = await Promise.race([opening, world.sleep(CONNECT_TIMEOUT_MS)]);
    if (opened) return gate.call('redis: connected', () => (typeof opened === 'string' ? fail(opened) : opened));
    // It may be opened in vain.
    void opening.then((late) => typeof late === 'string' || late.destroy());
    return gate.call('redis: no connection', () => fail('ETIMEDOUT'));
  };
}

/** A connection, or the code of an error. It may take for ever. */
async function shakeHands(ends: Ends): Promise<Connection | string> {
  const { redis, network } = ends;
  const request = await network.pass(network.arrival());
  if (request === 'lost') return new Promise(() => undefined);
  if (request === 'reset') return 'ECONNRESET';
  if (redis.isDown) return 'ECONNREFUSED';
  const connection = new Connection(ends);
  const answer = await network.pass(network.arrival());
  return answer === 'lost' ? new Promise(() => undefined) : connection;
}

/** What is under way on a connection in one direction; it arrives in order. */
class Direction {
  readonly #network: RedisNetwork;
  #last = 0;

  constructor(network: RedisNetwork) {
    this.#network = network;
  }

  pass(): Promise<'arrived' | 'lost' | 'reset'> {
    this.#last = Math.max(this.#last, this.#network.arrival());
    return this.#network.pass(this.#last);
  }
}

/** A command that waits for its answer. */
type Waiting = PromiseWithResolvers<unknown>;

class Connection implements RedisClient {
  readonly #ends: Ends;
  readonly #requests: Direction;
  readonly #answers: Direction;
  readonly #waiting = new Set<Waiting>();
  readonly #leave: readonly (() => void)[];
  readonly #server: number;
  readonly #send = inOrder();
  readonly #receive = inOrder();
  /** Nothing arrives any more, and nobody is told. */
  #isLost = false;
  /** The client has closed it; what was sent still arrives. */
  #isClosed = false;
  #isReset = false;

  constructor(ends: Ends) {
    this.#ends = ends;
    this.#server = ends.redis.starts;
    this.#requests = new Direction(ends.network);
    this.#answers = new Direction(ends.network);
    const reset = (): void => this.#reset();
    this.#leave = [ends.redis.accept(reset), ends.network.carry(reset)];
  }

  sendCommand(args: readonly string[]): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new Error('The client is closed'));
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.add(waiting);
    void this.#converse(args, waiting);
    return waiting.promise;
  }

  destroy(): void {
    this.#isClosed = true;
    for (const leave of this.#leave) leave();
    this.#rejectAll(new Error('Disconnects client'));
  }

  async #converse(args: readonly string[], waiting: Waiting): Promise<void> {
    const { redis, gate } = this.#ends;
    await this.#send(() => gate.call('redis: send', () => undefined));
    const way = redis.watch?.onCommand(args);
    // A client that was closed before this sends nothing.
    if (this.#isClosed || !(await this.#pass(this.#requests))) return;
    if (redis.starts !== this.#server) return;
    if (this.#isClosed) redis.record.late += 1;
    way?.arrived();
    const settle = answerOf(redis, args, way?.executed);
    if (!(await this.#pass(this.#answers))) {
      redis.record.unanswered += 1;
      way?.unanswered();
      return;
    }
    await this.#receive(() => gate.call('redis: answer', () => this.#waiting.delete(waiting)));
    settle(waiting);
  }

  /** Whether it arrives. */
  async #pass(direction: Direction): Promise<boolean> {
    const outcome = this.#isLost || this.#isReset ? 'lost' : await direction.pass();
    if (outcome === 'lost') this.#isLost = true;
    if (outcome === 'reset') this.#reset();
    return !this.#isLost && !this.#isReset;
  }

  /** What is under way is gone; the client is told. */
  #reset(): void {
    if (this.#isReset) return;
    this.#isReset = true;
    for (const leave of this.#leave) leave();
    const tell = (): void => {
      this.#isClosed = true;
      this.#rejectAll(errorOf('ECONNRESET'));
    };
    void this.#receive(() => this.#ends.gate.call('redis: connection reset', tell));
  }

  #rejectAll(error: Error): void {
    for (const waiting of this.#waiting) waiting.reject(error);
    this.#waiting.clear();
  }
}

/** Executes the command now; its answer is told later. */
function answerOf(
  redis: SimulatedRedis,
  args: readonly string[],
  onReply?: (reply: unknown) => void,
): (waiting: Waiting) => void {
  try {
    const reply = readable(redis.execute(args));
    onReply?.(reply);
    return (waiting) => waiting.resolve(reply);
  } catch (error) {
    if (error instanceof Error) onReply?.(error.message.split(' ')[0]);
    return (waiting) => waiting.reject(error);
  }
}

/** As the client library returns it. */
function readable(reply: Reply): unknown {
  if (reply === null || typeof reply !== 'object') return reply;
  return 'status' in reply ? reply.status : reply.map(readable);
}

/** Each work begins when the one before is done. */
function inOrder(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}

function errorOf(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function fail(code: string): never {
  throw errorOf(code);
}
