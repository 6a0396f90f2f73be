import { describe, expect, it } from 'vitest';
import { type FailureReason, RequestFailed } from '../../../src/api/errors.ts';
import { machinesSource } from '../../../src/sources/machines/index.ts';
import type { Machines } from '../../../src/sources/machines/schema.ts';
import type { Poll, SourceEvent } from '../../../src/sources/source.ts';
import { failed, fakeApi, pollOnce } from '../../support/answers/fake-api.ts';
import { machinesOptions, machinesPage, systemRecord } from '../../support/answers/machine-records.ts';
import type { FleetRequest } from '../../support/model/fleet.ts';
import { DAY, HOUR, MINUTE, NOW, timing } from '../../support/time/timing.ts';

const EMPTY: Machines = { machines: [], dropped: 0 };

/** A service, and a program whose state is written after each poll and read before the next one, as over restarts. */
class Account {
  /** What `machine-names` answers. */
  listed: unknown = [];
  /** Machines whose newest record is so old, ms. */
  readonly ages = new Map<string, number>();
  /** Why a request for this name, or for the list (''), fails. */
  readonly failures = new Map<string, FailureReason | Error>();
  /** When the list was requested. */
  readonly lists: number[] = [];
  /** The names that were requested one by one, in order. */
  readonly asked: string[] = [];
  readonly spans = new Set<number>();
  readonly events: SourceEvent[] = [];
  state = EMPTY;
  /** Requests of the last poll. */
  requests = 0;

  async poll(
    now: number,
    options: Parameters<typeof machinesOptions>[0] = {},
    intervalMs = MINUTE,
  ): Promise<Poll<Machines>> {
    const api = fakeApi((request) => {
      const { range, machines: [name] = [] } = request.body as FleetRequest;
      const isList = request.endpoint === 'machine_names';
      if (isList) this.lists.push(now);
      if (name !== undefined) this.asked.push(name);
      if (name !== undefined) this.spans.add(range.timestamp.end - range.timestamp.start);
      const failure = isList || name !== undefined ? this.failures.get(name ?? '') : undefined;
      if (failure) throw failure instanceof Error ? failure : failed(request, failure);
      if (isList) return { data: this.listed };
      const age = this.ages.get(name ?? '');
      return machinesPage(age === undefined ? {} : { system: [systemRecord({ machine: name, timestamp: now - age })] });
    });
    const source = machinesSource(machinesOptions(options));
    const poll = await pollOnce(source, api, this.state, timing({ now, intervalMs }));
    this.events.push(...(poll.events ?? []));
    this.state = poll.value;
    this.requests = api.requests.length;
    return poll;
  }

  /** Polls each minute. */
  async sweep(from: number, minutes: number, options: Parameters<typeof machinesOptions>[0] = {}): Promise<void> {
    for (let minute = 0; minute < minutes; minute += 1) await this.poll(from + minute * MINUTE, options);
  }

  get held(): string[] {
    return this.state.machines.map(({ name }) => name);
  }
}

describe('sources/machines expected names', () => {
  it('cost one request each over 31 days, once a day, until they are found', async () => {
    const account = new Account();
    const options = { expected: ['a', 'gone', 'gone'] };
    account.ages.set('a', 12 * DAY);
    await account.poll(NOW, options);
    expect(account.asked).toEqual(['a', 'gone']);
    expect([...account.spans]).toEqual([31 * 86_400]);
    expect(account.held).toEqual(['a']);
    await account.sweep(NOW + MINUTE, 10, options);
    await account.poll(NOW + DAY - 1, options);
    expect(account.asked).toEqual(['a', 'gone']);
    await account.poll(NOW + DAY, options);
    expect(account.asked).toEqual(['a', 'gone', 'gone']);
  });

  it('a 404 means that nothing was found, and fails no sweep; a 400 is a mistake in the request, and fails it', async () => {
    for (const [reason, failure] of [
      ['not_found', undefined],
      ['bad_request', { reason: 'bad_request' }],
    ] as const) {
      const account = new Account();
      account.failures.set('a', reason);
      const first = await account.poll(NOW, { expected: ['a', 'b'] });
      if (failure) expect(first.failure).toMatchObject(failure);
      else expect(first.failure).toBeUndefined();
      await account.poll(NOW + MINUTE, { expected: ['a', 'b'] });
      expect(account.asked).toEqual(['a', 'b']);
    }
  });
});

describe('sources/machines machine-names', () => {
  it('are listed at the first start and then every 6 hours, across restarts too', async () => {
    const account = new Account();
    await account.sweep(NOW, 1 + 6 * 60);
    expect(account.lists).toEqual([NOW, NOW + 6 * HOUR]);
    expect(account.requests).toBe(2);
  });

  it('that are not known are requested once each, those that have a record are shown', async () => {
    const account = new Account();
    account.listed = ['silent', 'unheard'];
    account.ages.set('silent', 4 * HOUR);
    await account.sweep(NOW, 8 * 60);
    expect(account.asked).toEqual(['silent', 'unheard']);
    expect(account.held).toEqual(['silent']);
  });

  it('of an old account with 300 machines are requested in 30 sweeps', async () => {
    const account = new Account();
    account.listed = Array.from({ length: 300 }, (_, i) => `old-${i}`);
    for (let minute = 0; minute < 60; minute += 1) {
      await account.poll(NOW + minute * MINUTE);
      expect(account.requests).toBe(1 + (minute === 0 ? 1 : 0) + (minute < 30 ? 10 : 0));
    }
    expect(account.asked).toEqual(account.listed);
  });

  it('that are no texts are counted and dropped, and their neighbours are read', async () => {
    const account = new Account();
    account.listed = [7, null, 'lone\ud83d', 'x'.repeat(1_001), 'a'];
    await account.poll(NOW);
    expect(account.asked).toEqual(['a']);
  });

  it.each(['forbidden', 'not_found', 'method_not_allowed'] as const)(
    'refused twice with %s are off for a day, or until a reload, which is told once and fails no sweep',
    async (reason) => {
      const account = new Account();
      account.failures.set('', reason);
      expect((await account.poll(NOW - 6 * HOUR)).failure).toBeUndefined();
      expect(account.events).toEqual([]);
      expect((await account.poll(NOW)).failure).toBeUndefined();
      account.lists.length = 0;
      await account.poll(NOW + DAY - 1);
      expect(account.lists).toEqual([]);
      await account.poll(NOW + DAY);
      expect(account.lists).toEqual([NOW + DAY]);
      expect(account.events).toMatchObject([{ type: 'part_refused', part: 'machine_names' }]);
      const reloadedAt = NOW + DAY + 7 * HOUR;
      account.state = machinesSource(machinesOptions()).anew?.(account.state, reloadedAt) ?? EMPTY;
      await account.poll(reloadedAt);
      expect(account.lists).toEqual([NOW + DAY, reloadedAt]);
    },
  );

  it('fail one sweep, not each, if they cannot be read, and are requested again within the hour', async () => {
    const account = new Account();
    account.listed = 'none';
    const { failure } = await account.poll(NOW);
    expect(failure).toBeInstanceOf(RequestFailed);
    expect((await account.poll(NOW + MINUTE)).failure).toBeUndefined();
    account.listed = ['silent'];
    account.ages.set('silent', 4 * HOUR);
    await account.sweep(NOW + 2 * MINUTE, 7 * 60);
    expect(account.lists).toEqual([NOW, NOW + HOUR / 2, NOW + 6.5 * HOUR]);
    expect(account.held).toEqual(['silent']);
  });
});
