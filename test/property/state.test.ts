import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allowedPerDay } from '../../src/budget/bucket.ts';
import { bucketOf, emptyLedger, Ledger, opensAt } from '../../src/budget/ledger.ts';
import { RateLimiter } from '../../src/budget/rate-limiter.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { nextPollAt } from '../../src/scheduler/polls.ts';
import { dailyReturnsSource } from '../../src/sources/daily-returns/index.ts';
import { machinesSource } from '../../src/sources/machines/index.ts';
import { slashingsSource } from '../../src/sources/slashings/index.ts';
import type { Source } from '../../src/sources/source.ts';
import { syncCommitteeSource } from '../../src/sources/sync-committee/index.ts';
import { validatorsSource } from '../../src/sources/validators/index.ts';
import { NO_VALIDATORS } from '../../src/sources/validators/schema.ts';
import { type Entry, entrySchema } from '../../src/state/entry.ts';
import { STATE_VERSION, StateOfOtherVersion } from '../../src/state/envelope.ts';
import { FileStore } from '../../src/state/file.ts';
import { datapoint } from '../support/datapoint.ts';
import { cases, PATIENT } from '../support/fuzz.ts';
import { logLines } from '../support/log-lines.ts';
import { machinesOptions, nodeRecord, systemRecord, validatorRecord } from '../support/machine-records.ts';
import { slashingsOptions } from '../support/slashings-options.ts';
import { HOUR, MINUTE, NOW, timing } from '../support/timing.ts';
import { validatorsOptions } from '../support/validators.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { mutated, mutations, spoil } from './odd-json.ts';
import { expectShowable } from './poll.ts';

const SLASHINGS = slashingsSource(slashingsOptions({ catchUpMs: HOUR }));

/** Each source with something that it knows. */
const KNOWN: readonly (readonly [Source<never>, unknown])[] = [
  [
    machinesSource(machinesOptions(), () => undefined),
    {
      machines: [{ name: 'node-a', system: systemRecord(), validator: validatorRecord(), node: nodeRecord() }],
      dropped: 0,
      lookback: { probed: true, asked: [['b', NOW]] },
    },
  ],
  [dailyReturnsSource('mainnet', HOUR), { newest: datapoint() }],
  [
    syncCommitteeSource('mainnet', HOUR),
    { period: { number: 1_871, epoch: { start: 1, end: 2 }, timestamp: { start: 3, end: 4 } } },
  ],
  [
    validatorsSource(validatorsOptions({ syncCommittee: true })),
    {
      ...NO_VALIDATORS,
      validators: [
        {
          index: 7,
          status: 'active_ongoing',
          online: false,
          slashed: true,
          balance: '1',
          effectiveBalance: null,
          epoch: 4,
          readAt: NOW,
          offlineSince: 3,
          slashedSince: 2,
        },
      ],
      performance: {
        watch: '1-9',
        readAt: NOW,
        duties: {
          attestation: { assigned: 3, missed: 1, done: 2 },
          proposal: { assigned: 0, missed: 0, done: 0 },
          sync_committee: { assigned: 0, missed: 0, done: 0 },
        },
        scores: { total: 0.5 },
      },
      committees: [{ period: 5, seats: [7, 8] }],
      membersAskedAt: NOW,
    },
  ],
  [
    SLASHINGS,
    {
      ...SLASHINGS.empty,
      headPassAt: NOW,
      headReadAt: NOW,
      head: { slot: 64, epoch: 2, participation: 0.9, baseFeeWei: 7 },
      headEpoch: 4,
      finalizedEpoch: 2,
      scannedEpoch: 1,
      reads: [{ slot: 64, root: '0xa', tries: 1, complete: true }],
      seen: [['ab', 33]],
      slashed: [[5, 33]],
      lastAttesterSlashingSlot: 33,
    },
  ],
] as unknown as readonly (readonly [Source<never>, unknown])[];

const entryOf = (value: unknown): unknown => ({
  value,
  failuresInARow: 1,
  lastAttemptAt: NOW - MINUTE,
  lastSuccessAt: NOW - HOUR,
  durationMs: 900,
  lastError: { at: NOW, reason: 'network', message: 'x' },
  pausedUntil: NOW,
  intervalMs: MINUTE,
  coverage: 'full',
  costs: [1, 2],
  durations: [900, 240],
  vainInARow: 0,
});

describe('fuzz state', PATIENT, () => {
  it.each(KNOWN)('of a source: what is not refused can be shown and planned with (%#)', (source, value) => {
    fc.assert(
      fc.property(mutations(), (changes) => {
        const parsed = entrySchema(source).safeParse(mutated(entryOf(value), changes));
        if (!parsed.success) return;
        const entry = parsed.data as Entry<never>;
        const at = timing({ intervalMs: Math.max(MINUTE, entry.intervalMs ?? 0) });
        expectShowable(source.families(entry.value, at));
        expect(source.nextChange(entry.value, at)).toBeGreaterThan(NOW);
        expect(nextPollAt(source as unknown as Source, entry, at, 0)).toBeLessThan(Number.POSITIVE_INFINITY);
      }),
      cases(60),
    );
  });

  it('of the ledger: what is not refused says when the next request may leave', () => {
    const window = { limit: 1_000, remaining: 500, own: 100, since: NOW - HOUR };
    const bucket = {
      limits: { second: 2, month: 1_000 },
      remaining: { second: 1, month: 500 },
      resetAt: NOW,
      closedUntil: NOW - 1,
      blindWaits: 1,
      firstUseAt: NOW - HOUR,
      lastUseAt: NOW - HOUR,
      hour: window,
      month: window,
    };
    const ledger = { ...emptyLedger(), buckets: { default: bucket }, lanes: { a: 'default' }, shared: 'default' };
    fc.assert(
      fc.property(mutations(), (changes) => {
        const parsed = Ledger.safeParse(mutated(ledger, changes));
        if (!parsed.success) return;
        const options = { utilization: 0.9 };
        const rateLimiter = new RateLimiter(options, { clock: new VirtualClock(NOW), ledger: parsed.data });
        const { ledger: known } = rateLimiter;
        const name = bucketOf(known, 'a');
        expect(opensAt(known, 'a', options, NOW)).toBeGreaterThanOrEqual(0);
        expect(rateLimiter.perSecond(name)).toBeGreaterThan(0);
        expect(allowedPerDay(known.buckets[name], options, NOW)).toBeGreaterThanOrEqual(0);
      }),
      cases(200),
    );
  });

  describe('a file', () => {
    let dir: string;
    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), 'fuzz-state-'));
    });
    afterAll(() => rm(dir, { recursive: true }));

    it('is read, or moved aside, whatever is in it; only one of another version is refused, and stays', async () => {
      const { log } = logLines();
      const documents = await FileStore.open(dir, systemClock, log);
      const good = { version: STATE_VERSION, value: entryOf(SLASHINGS.empty) };
      await fc.assert(
        fc.asyncProperty(spoil, async (spoilt) => {
          const text = spoilt(good);
          const file = join(dir, 'document.json');
          await writeFile(file, text);
          const read = await documents.load('document', entrySchema(SLASHINGS)).catch(async (error: unknown) => {
            expect(error).toBeInstanceOf(StateOfOtherVersion);
            expect(JSON.parse(text).version).not.toBe(STATE_VERSION);
            expect(JSON.parse(text).version).toBeGreaterThanOrEqual(1);
            expect(await readFile(file, 'utf8')).toBe(text);
            await rm(file);
            return undefined;
          });
          if (read === undefined) expect(await documents.load('document', entrySchema(SLASHINGS))).toBeUndefined();
        }),
        cases(100),
      );
      await documents.close();
    });
  });
});
