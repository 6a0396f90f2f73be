import { describe, expect, it } from 'vitest';
import { html } from '../../../src/lib/html.ts';
import { syncCommitteeSource } from '../../../src/sources/sync-committee/index.ts';
import type { SyncCommittee } from '../../../src/sources/sync-committee/schema.ts';
import { HOUR, MINUTE, NOW, polls, timing } from '../../support/timing.ts';

const SOURCE = syncCommitteeSource('mainnet', HOUR);
/** The service reports the last second of a period as its end. */
const END = NOW / 1000 + 3_600;
const KNOWN: SyncCommittee = {
  period: { number: 1700, epoch: { start: 435_200, end: 435_455 }, timestamp: { start: END - 98_303, end: END } },
};

/** Without markup. */
function told(state: SyncCommittee, now: number): string[] {
  const { facts = [] } = SOURCE.summary(state, timing({ now }), polls());
  return facts.flatMap(([, cell]) => html`${cell}`.text.split('<br>').map((line) => line.replace(/<[^>]*>/g, '')));
}

describe('sources/sync-committee/summary', () => {
  it('says when the period ends, and after that that the next one is not read yet', () => {
    const end = END * 1000;
    expect(told(KNOWN, end - MINUTE)).toEqual([
      'period 1700 epochs 435200 to 435455',
      expect.stringMatching(/^ends in 1 min .+ UTC$/),
    ]);
    expect(told(KNOWN, end + MINUTE)[1]).toMatch(/^ended .+ ago .+ UTC; the next period is not read yet$/);
  });

  it('says that nothing is known before there is a period', () => {
    expect(told({}, NOW)).toEqual(['not known yet']);
  });
});
