import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RequestFailed } from '../../src/api/errors.ts';
import { BudgetClosed } from '../../src/budget/permit.ts';
import { QuotaKept } from '../../src/budget/spare.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { type Borrowed, borrow, ExporterGone, SocketRefused } from '../../src/sharing/client.ts';
import type { Question, SharedLimits } from '../../src/sharing/protocol.ts';
import { listen } from '../../src/sharing/server.ts';
import { NotPassedOn, type Shared } from '../../src/sharing/shared.ts';
import { atTheEnd } from '../support/cleanup.ts';
import { temporaryFolder } from '../support/files.ts';
import { noSignal } from '../support/timing.ts';

const ASKED = { endpoint: 'machine_metrics', priority: 'machines', path: '/pages', body: { cursor: 'c"é' } } as const;

function limitsOf(month: number): SharedLimits {
  const one = { perSecond: 1.5, left: { month }, isKnown: true };
  return { machine_metrics: one, daily_returns: one, sync_committee: one };
}

class World {
  readonly path = join(temporaryFolder(), 'api.sock');
  readonly questions: Question[] = [];
  month = 10;
  /** What the exporter does with a question. */
  answer: (signal: AbortSignal) => Promise<string> = async () => '{"data":["é"]}';
  close: () => Promise<void> = async () => undefined;

  static async start(): Promise<World> {
    const world = new World();
    await world.listen();
    return world;
  }

  async listen(): Promise<void> {
    const shared: Shared = {
      fingerprint: 'f',
      limits: () => limitsOf(this.month),
      request: async (question, signal) => {
        this.questions.push(question);
        return Buffer.from(await this.answer(signal));
      },
    };
    const server = await listen(this.path, { shared: () => shared, onGreeting: () => undefined });
    this.close = () => server.close();
    atTheEnd(() => server.close());
  }

  async borrow(isAgreed = false, clock: Clock = systemClock): Promise<Borrowed> {
    const borrowed = await borrow({ path: this.path, isAgreed, clock, signal: noSignal() });
    if (!borrowed) throw new Error('nobody listens');
    return borrowed;
  }
}

const request = ({ api }: Borrowed, signal = noSignal()) =>
  api.request(ASKED, z.object({ data: z.array(z.string()) }), signal);

describe('sharing/socket', () => {
  it('passes a question on, and its answer back, with what is left after it', async () => {
    const world = await World.start();
    const borrowed = await world.borrow(true);
    expect(borrowed.greeting).toEqual({ protocol: 1, pid: process.pid, fingerprint: 'f' });
    expect(borrowed.limits()).toEqual(limitsOf(10));
    world.month = 9;
    expect(await request(borrowed)).toEqual({ data: ['é'] });
    expect(borrowed.limits()).toEqual(limitsOf(9));
    const { endpoint, path, body } = ASKED;
    expect(world.questions).toEqual([{ endpoint, path, body, isAgreed: true }]);
  });

  it.each([
    new RequestFailed('machine_metrics', 'not_found', 'status 404', 404),
    new RequestFailed('machine_metrics', 'timeout', 'no complete answer'),
    new BudgetClosed(1_790_769_660_000),
    new BudgetClosed(Number.POSITIVE_INFINITY),
    new QuotaKept(1_790_769_660_000),
    new NotPassedOn('/pages for machine_metrics'),
  ])('passes %o on', async (error) => {
    const world = await World.start();
    world.answer = () => Promise.reject(error);
    const failed = await request(await world.borrow()).catch((thrown: unknown) => thrown);
    expect(failed).toEqual(error);
    expect(Object(failed).constructor).toBe(error.constructor);
  });

  it('an answer that is not one of the service is told as by the client itself', async () => {
    const world = await World.start();
    world.answer = async () => '<html>';
    await expect(request(await world.borrow())).rejects.toMatchObject({ reason: 'invalid_body', detail: 'not JSON' });
  });

  it.each([
    ['a question of another kind', '{"endpoint":"epoch_slots"}'],
    ['no JSON', '{'],
    ['a long one', 'x'.repeat(300_000)],
  ])('does not pass %s on', async (_, text) => {
    const world = await World.start();
    const { request: send } = await import('node:http');
    const status = await new Promise((resolve, reject) => {
      send({ socketPath: world.path, method: 'POST', agent: false }, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end(text);
    });
    expect(status).toBe(403);
    expect(world.questions).toEqual([]);
  });

  it('a question whose backfill has ended is dropped at once', async () => {
    const world = await World.start();
    const { promise: begun, resolve: begin } = Promise.withResolvers<AbortSignal>();
    world.answer = (signal) => {
      begin(signal);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const stop = new AbortController();
    const asked = request(await world.borrow(), stop.signal);
    const signal = await begun;
    stop.abort(new Error('Ctrl-C'));
    await expect(asked).rejects.toThrow('Ctrl-C');
    await expect.poll(() => signal.aborted).toBe(true);
  });

  it('an exporter that ends in the middle is gone, and found again when it is back', async () => {
    const world = await World.start();
    const borrowed = await world.borrow();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    world.answer = () => {
      begin();
      return new Promise(() => undefined);
    };
    const asked = request(borrowed);
    const failure = asked.catch((error: unknown) => error);
    await begun;
    await world.close();
    expect(await failure).toBeInstanceOf(ExporterGone);
    await expect(request(borrowed)).rejects.toMatchObject({
      reason: 'network',
      detail: expect.stringMatching(/no process answers .*ENOENT/),
    });
    world.answer = async () => '{"data":[]}';
    await world.listen();
    expect(await request(borrowed)).toEqual({ data: [] });
  });

  it('takes the place of a socket that a killed process left', async () => {
    const world = new World();
    // A listener in a child would end with its process; a file in its place is met in the same way.
    writeFileSync(world.path, '');
    await world.listen();
    expect((await world.borrow()).greeting.pid).toBe(process.pid);
    await world.close();
    expect(existsSync(world.path)).toBe(false);
  });

  it('nobody listens where there is no socket, or only a file', async () => {
    const path = join(temporaryFolder(), 'api.sock');
    const options = { isAgreed: false, clock: systemClock, signal: noSignal() };
    expect(await borrow({ ...options, path })).toBeUndefined();
    writeFileSync(path, '');
    expect(await borrow({ ...options, path })).toBeUndefined();
  });

  it('another version is refused', async () => {
    const path = join(temporaryFolder(), 'api.sock');
    const server = createServer((_, response) => response.end('{"protocol":2}'));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    atTheEnd(() => server.close());
    const borrowed = borrow({ path, isAgreed: false, clock: systemClock, signal: noSignal() });
    await expect(borrowed).rejects.toThrow(
      new SocketRefused(`the exporter that listens on ${path} is another version`),
    );
  });

  it('a process that does not answer is refused, after a while', async () => {
    const path = join(temporaryFolder(), 'api.sock');
    const server = createSocketServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(path, resolve));
    atTheEnd(() => server.close());
    const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 100, signal) };
    const borrowed = borrow({ path, isAgreed: false, clock, signal: noSignal() });
    await expect(borrowed).rejects.toThrow(`the process that listens on ${path} does not answer`);
  });
});
