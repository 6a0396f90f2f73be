import { expect, it } from 'vitest';
import { epochAt } from '../../../src/facts/chain.ts';
import { membersAnswer } from '../../../src/sandbox/sync-committee.ts';
import { row } from '../../support/answers/slot-rows.ts';
import { committeeOf, EPOCH, startOfEpoch } from '../../support/answers/validators.ts';
import { seriesOf, seriesValue } from '../../support/exposition/exposition-text.ts';
import type { Respond } from '../../support/faults/fault-server.ts';
import { scrape } from '../../support/network/ask.ts';
import { ahead, portOf, serveArgs, startExporter, waitFor } from '../../support/programs/program.ts';
import { startReloading } from '../../support/programs/reloading.ts';

/** Bit i is byte i >> 3, bit i & 7 (api-facts 4.1): here the seats 0, 9 and 511. */
const BITS = `0x0102${'00'.repeat(61)}80`;
/** Of the seats 0, 2 and 3 the bit of the first is set. */
const SEATS = committeeOf([7, 500_000, 12, 7]);
/** An interval of 12 s, and no limit makes it longer. */
const CONFIG = `machines: {enabled: false}
daily_returns: {enabled: false}
sync_committee: {enabled: false}
network: {enabled: false}
budget: {plan: {per_second: 1000}}
slashings: {interval: 12s}
validators: {watch: ["1-12"], status: false}
`;

/** A service written by hand, whose clock may be ahead: every slot has a block, and every period the same committee. */
class Service {
  aheadMs = 0;

  readonly respond: Respond = ({ path }) => {
    const [, selector] = /sync_committee\/(\w+)$/.exec(path) ?? [];
    const [, view = ''] = /epoch\/(\w+)\/slots$/.exec(path) ?? [];
    const data = view === '' ? [] : this.#slots(view);
    const answer = Number(selector) > 0 ? membersAnswer(Number(selector), SEATS) : { status: 'OK', data };
    const headers = { date: new Date(Date.now() + this.aheadMs).toUTCString() };
    return { status: 200, headers, body: JSON.stringify(answer) };
  };

  #slots(view: string): object[] {
    const now = Date.now() + this.aheadMs;
    const current = epochAt('mainnet', now);
    const epoch = view === 'latest' ? current : view === 'finalized' ? current - 2 : Number(view);
    return Array.from({ length: 32 }, (_, i) => {
      const slot = epoch * 32 + i;
      const isPast = startOfEpoch(0) + slot * 12_000 <= now;
      return row({ slot, status: isPast ? '1' : '0', ...(isPast && { syncaggregate_bits: BITS }) });
    });
  }
}

/** Proposed slots, and the seats that participated and missed. */
async function countsAt(port: number): Promise<number[]> {
  const text = await scrape(port);
  const slots = seriesOf(text).find(({ name }) => name === 'beaconchain_slots_total')?.value;
  const duties = ['participated', 'missed'].map((status) =>
    seriesValue(text, 'beaconchain_watched_sync_committee_duties_total', { status }),
  );
  return [slots, ...duties].map((count) => count ?? Number.NaN);
}

it('system/programs/validators: counts the slots and seats of finalized blocks once each, also over kills', async () => {
  const service = new Service();
  const { api, file, port, program, isUp } = await startReloading({
    key: 'the-key',
    more: CONFIG,
    service: { request: service.respond },
  });
  const again = () => startExporter(serveArgs(file), ahead(service.aheadMs));
  await isUp('slashings');
  // The epoch may change at any moment.
  const [slots = 0, ...seats] = await countsAt(port);
  expect(slots % 32).toBe(0);
  expect(slots).toBeGreaterThan(0);
  expect(seats).toEqual([slots, 2 * slots]);
  await program.stop('SIGKILL');

  service.aheadMs = 3 * EPOCH;
  const next = again();
  const known = await portOf(next);
  await waitFor(async () => {
    const [later = 0, ...both] = await countsAt(known);
    expect(later).toBeGreaterThanOrEqual(slots + 3 * 32);
    expect(both).toEqual([later, 2 * later]);
  });
  await next.stop('SIGKILL');
  const [last = 0, ...both] = await countsAt(await portOf(again()));
  expect(last).toBeGreaterThanOrEqual(slots + 3 * 32);
  expect(both).toEqual([last, 2 * last]);
  expect(program.lines('seats are not counted, because the members are not known')).toEqual([]);
  // Each of the two sources asks at most once for a period.
  expect(api.requests.filter(({ path }) => /sync_committee\/\d+$/.test(path)).length).toBeLessThanOrEqual(4);
});
