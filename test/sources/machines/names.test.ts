import { describe, expect, it } from 'vitest';
import { type FailureReason, RequestFailed } from '../../../src/api/errors.ts';
import { BudgetClosed } from '../../../src/budget/permit.ts';
import type { Entry } from '../../../src/scheduler/entry.ts';
import { machinesSource } from '../../../src/sources/machines/index.ts';
import type { Machines } from '../../../src/sources/machines/state.ts';
import type { SourceEvent } from '../../../src/sources/read.ts';
import { failed, fakeApi } from '../../support/answers/fake-api.ts';
import {
  type MetricsRequest,
  machinesOptions,
  machinesPage,
  systemRecord,
} from '../../support/answers/machine-records.ts';
import { entryWith, type RoundResult, round } from '../../support/runs/round.ts';
import { DAY, HOUR, MINUTE, NOW, SECOND } from '../../support/time/timing.ts';

/** At most a minute with jitter. */
const EVERY_MS = 54 * SECOND;

/** A service, and a program whose state is written after each poll and read before the next one, as over restarts. */
class Account {
  /** The answer of `machine-names`. */
  listed: unknown;
  /** The age of each machine's newest record, ms. */
  readonly ages = new Map<string, number>();
  /** Why a request for this name, or for the list (''), fails. */
  readonly failures = new Map<string, FailureReason | Error>();
  /** Whether every request fails. */
  outage = false;
  /** When the list was requested. */
  readonly lists: number[] = [];
  /** The names that were requested one by one, in order. */
  readonly asked: string[] = [];
  readonly spans = new Set<number>();
  readonly events: SourceEvent[] = [];
  state: Entry<Machines> | undefined;
  /** Requests of the last poll. */
  requests = 0;

  constructor(listed: unknown = []) {
    this.listed = listed;
  }

  async poll(now: number, options: Parameters<typeof machinesOptions>[0] = {}): Promise<RoundResult<Machines>> {
    const api = fakeApi((request) => {
      const { range, machines: [name] = [] } = request.body as MetricsRequest;
      const isList = request.endpoint === 'machine_names';
      if (this.outage) throw failed(request, 'server_error');
      if (isList) this.lists.push(now);
      if (name !== undefined) this.asked.push(name);
      if (name !== undefined) this.spans.add(range.timestamp.end - range.timestamp.start);
      const failure = isList || name !== undefined ? this.failures.get(name ?? '') : undefined;
      if (failure) throw failure instanceof Error ? failure : failed(request, failure);
      if (isList) return { data: this.listed };
      const age = this.ages.get(name ?? '');
      return machinesPage(age === undefined ? {} : { system: [systemRecord({ machine: name, timestamp: now - age })] });
    });
    const source = machinesSource(machinesOptions({ intervalMs: EVERY_MS, ...options }));
    const polled = await round(source, api, this.state, { now });
    this.events.push(...polled.events);
    this.state = polled.entry;
    this.requests = api.requests.length;
    return polled;
  }

  /** Polls each minute. */
  async sweep(from: number, minutes: number, options: Parameters<typeof machinesOptions>[0] = {}): Promise<void> {
    for (let minute = 0; minute < minutes; minute += 1) await this.poll(from + minute * MINUTE, options);
  }

  get held(): string[] {
    return this.state?.value.machines.map(({ name }) => name) ?? [];
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
    await account.poll(NOW + DAY - MINUTE, options);
    expect(account.asked).toEqual(['a', 'gone']);
    await account.poll(NOW + DAY, options);
    expect(account.asked).toEqual(['a', 'gone', 'gone']);
  });

  it('a 404 means that nothing was found, while a 400 or a 403 fails the sweep', async () => {
    for (const reason of ['not_found', 'bad_request', 'forbidden'] as const) {
      const account = new Account();
      account.failures.set('a', reason);
      const first = await account.poll(NOW, { expected: ['a', 'b'] });
      expect(first.failure).toEqual(reason === 'not_found' ? undefined : expect.objectContaining({ reason }));
      // 403 pauses for an hour.
      await account.poll(NOW + (reason === 'forbidden' ? HOUR + MINUTE : MINUTE), { expected: ['a', 'b'] });
      expect(account.asked).toEqual(['a', 'b']);
    }
  });
});

describe('sources/machines machine-names', () => {
  it('are listed at the first start and then every 6 hours, across restarts', async () => {
    const account = new Account();
    await account.sweep(NOW, 1 + 6 * 60);
    expect(account.lists).toEqual([NOW, NOW + 6 * HOUR]);
    expect(account.requests).toBe(2);
  });

  it('of an old account with 300 machines are requested in 30 sweeps', async () => {
    const account = new Account(Array.from({ length: 300 }, (_, i) => `old-${i}`));
    for (let minute = 0; minute < 60; minute += 1) {
      await account.poll(NOW + minute * MINUTE);
      expect(account.requests).toBe(1 + (minute === 0 ? 1 : 0) + (minute < 30 ? 10 : 0));
    }
    expect(account.asked).toEqual(account.listed);
  });

  it('that fail are requested again after the next list of names', async () => {
    const account = new Account(['a']);
    account.failures.set('a', 'server_error');
    expect((await account.poll(NOW)).failure).toMatchObject({ reason: 'server_error' });
    await account.sweep(NOW + MINUTE, 10);
    expect(account.asked).toEqual(['a']);
    await account.poll(NOW + 6 * HOUR);
    expect(account.asked).toEqual(['a', 'a']);
  });

  it('that the budget held back are requested as soon as it allows', async () => {
    const account = new Account(['a', 'b']);
    account.failures.set('a', new BudgetClosed(NOW));
    expect((await account.poll(NOW)).failure).toBeInstanceOf(BudgetClosed);
    account.failures.clear();
    await account.poll(NOW + MINUTE);
    expect(account.asked).toEqual(['a', 'a', 'b']);
  });

  it('replace no known machine, and count as dropped', async () => {
    const account = new Account();
    const machines = ['a', 'b'].map((name) => ({ name, system: { timestamp: NOW / 1_000 } }));
    account.state = entryWith(machinesSource(machinesOptions()), { machines, dropped: 0, asked: [['c', 0]] });
    account.ages.set('c', 12 * DAY);
    const { value } = await account.poll(NOW, { max: 1 });
    expect([account.held, account.asked, value.dropped]).toEqual([['a'], ['c'], 2]);
  });

  it('fail no sweep if the list cannot be read, which is requested again within the hour', async () => {
    const account = new Account('none');
    const { failure, entry } = await account.poll(NOW);
    expect(failure).toBeInstanceOf(RequestFailed);
    expect(entry.reads['sweep']).toMatchObject({ failuresInARow: 0 });
    await account.poll(NOW + MINUTE);
    account.listed = ['silent'];
    account.ages.set('silent', 4 * HOUR);
    await account.sweep(NOW + 2 * MINUTE, 7 * 60);
    expect(account.lists).toEqual([0, 1, 3, 363].map((minute) => NOW + minute * MINUTE));
    expect(account.held).toEqual(['silent']);
  });
});
