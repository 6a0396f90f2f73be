import { describe, expect, it } from 'vitest';
import type { Chain } from '../../../src/lib/chain.ts';
import { html } from '../../../src/lib/html.ts';
import { syncCommitteeSource } from '../../../src/sources/sync-committee/index.ts';
import type { SyncCommittee } from '../../../src/sources/sync-committee/schema.ts';
import { endOf, KNOWN, membersOptions, NOW, sourceOf, stateAfter } from '../../support/committees.ts';
import { HOUR, MINUTE, polls, timing } from '../../support/timing.ts';

const LABEL = 'Watched in the sync committee';

function factsOf(state: SyncCommittee, now = NOW, source = sourceOf(membersOptions())): Map<string, string> {
  const { facts = [] } = source.summary(state, timing({ now }), polls());
  return new Map(facts.map(([label, cell]) => [label, html`${cell}`.text]));
}

/** Without markup. */
function told(state: SyncCommittee, now = NOW): string[] {
  return (factsOf(state, now).get(LABEL) ?? '').split('<br>').map((line) => line.replace(/<[^>]*>/g, ''));
}

describe('sources/sync-committee/summary', () => {
  it('says until when watched validators are members, and from when the next ones will be', async () => {
    expect(told(await stateAfter(KNOWN), endOf(1700) - 3 * HOUR)).toEqual([
      'now 7, 12, 99; ends in 3 h 20:38:47 UTC',
      'next 3; begins in 3 h 20:38:47 UTC',
    ]);
    expect(told(await stateAfter(KNOWN), endOf(1700))[0]).toBe('now 3; ends in 1 d 3 h 18 min 2026-03-21 23:57:11 UTC');
  });

  it('says when the period ends, and after that that the next one is not read yet', async () => {
    const fact = (now: number, state: SyncCommittee): string | undefined =>
      factsOf(state, now)
        .get('Sync committee')
        ?.split('<br>')[1]
        ?.replace(/<[^>]*>/g, '');
    const state = await stateAfter(KNOWN);
    // The service reports the last second of a period as its end.
    expect(fact(endOf(1700) - MINUTE - 1_000, state)).toBe('ends in 1 min 20:38:46 UTC');
    for (const ago of [55, 200]) {
      const late = fact(endOf(1700) + (ago - 1) * 1_000, state);
      expect(late).toMatch(/^ended .+ ago .+ UTC; the next period is not read yet$/);
    }
  });

  it('names a few with their pages in the explorer of the chain, and counts the others', async () => {
    const state = await stateAfter({ committees: { 1700: Array.from({ length: 90 }, (_, i) => i) } });
    expect(told(state)[0]).toMatch(/^now 0, 1, 2, 3, 4 and 85 more; ends /);
    expect(factsOf(state).get(LABEL)).toContain('<a href="https://beaconcha.in/validator/4">4</a> and 85 more');
    const ofChain = (chain: Chain) => syncCommitteeSource({ chain, intervalMs: HOUR, members: membersOptions() });
    expect(factsOf(state, NOW, ofChain('hoodi')).get(LABEL)).toContain('"https://hoodi.beaconcha.in/validator/4"');
  });

  it('says that none is a member, and what is not known', async () => {
    expect(told(await stateAfter({ committees: { 1700: [500_000] } }))).toEqual(['now none', 'next not known yet']);
    expect(told(await stateAfter(KNOWN), endOf(1701) + MINUTE)).toEqual(['now not known yet', 'next not known yet']);
  });

  it('says that the service refuses, beside what is known', async () => {
    const refusal =
      'The service refuses to list the members (not found). The exporter tries again every day, and after a reload or restart.';
    const membersRefusal = { reason: 'not_found', attempts: 1, firstAt: NOW, lastAt: NOW, operatorAt: 0 };
    const { period } = await stateAfter(KNOWN);
    expect(told({ period, membersRefusal })).toEqual([refusal]);
    expect(told({ ...(await stateAfter(KNOWN)), membersRefusal })).toEqual([
      expect.stringMatching(/^now 7, 12, 99; ends /),
      expect.stringMatching(/^next 3; begins /),
      refusal,
    ]);
  });

  it('says nothing of a refusal that does not count yet, or no more', async () => {
    const { period } = await stateAfter(KNOWN);
    const once = { attempts: 1, firstAt: NOW, lastAt: NOW };
    for (const membersRefusal of [
      { ...once, reason: 'bad_request', operatorAt: 0 },
      { ...once, reason: 'forbidden', operatorAt: -1 },
    ]) {
      expect(told({ period, membersRefusal })).toEqual(['now not known yet', 'next not known yet']);
    }
  });

  it('says nothing of members where nobody asks for them, nor before there is a period', async () => {
    expect([...factsOf(await stateAfter(KNOWN), NOW, sourceOf()).keys()]).toEqual(['Sync committee']);
    expect([...factsOf({})]).toEqual([['Sync committee', 'not known yet']]);
  });
});
