import { describe, expect, it } from 'vitest';
import { html } from '../../../src/lib/html.ts';
import type { Cell, Summary } from '../../../src/sources/content.ts';
import type { Slashings } from '../../../src/sources/slashings/schema.ts';
import type { Timing } from '../../../src/sources/source.ts';
import { Follower } from '../../support/follower.ts';
import { HOUR, MINUTE } from '../../support/timing.ts';

/** What a reader sees; the lines apart. */
function textOf(cell: Cell | undefined): string {
  return html`${cell ?? ''}`.text.replaceAll('<br>', ' | ').replace(/<[^>]+>/g, '');
}

function factOf(summary: Summary, label: string): string {
  return textOf(summary.facts?.find(([one]) => one === label)?.[1]);
}

async function followed(): Promise<Follower> {
  const follower = new Follower({ watch: [{ first: 7, last: 7 }] });
  follower.chain.grow(405_000, 404_998);
  follower.chain.slash(404_998 * 32, [5, 7]);
  await follower.poll();
  return follower;
}

function summaryOf(follower: Follower, change: Partial<Slashings> = {}, timing: Partial<Timing> = {}): Summary {
  return follower.source.summary({ ...follower.state, ...change }, follower.timing(timing), {
    lastSuccessAt: follower.now,
    intervalMs: MINUTE,
  });
}

describe('sources/slashings/summary', () => {
  it('lists the last slashings, newest first, the watched ones marked, with the page of the slot', async () => {
    const follower = await followed();
    const older = { slot: 320, kind: 'surround_vote' as const, validators: [1], count: 30 };
    const { tables: [, table] = [] } = summaryOf(follower, { recent: [older, ...follower.state.recent] });
    const rows = [...(table?.rows ?? [])];
    expect(table?.size).toBe(2);
    expect(rows.map((row) => row.map(textOf))).toEqual([
      ['12959936', 'mainnet', '329 d ago 2025-11-05 11:47:35 UTC', 'double vote', '5, 7 watched'],
      ['320', 'mainnet', '2128 d 23 h ago 2020-12-01 13:04:23 UTC', 'surround vote', '1 and 29 more'],
    ]);
    expect(rows[0]?.[0]).toEqual(html`<a href="https://beaconcha.in/slot/12959936">12959936</a>`);
  });

  it('links to the explorer of the chain', () => {
    const hoodi = new Follower({ chain: 'hoodi' });
    const recent = [{ slot: 9, kind: 'unknown' as const, validators: [1], count: 1 }];
    const { tables: [table] = [] } = summaryOf(hoodi, { recent });
    expect([...(table?.rows ?? [])][0]?.[0]).toEqual(html`<a href="https://hoodi.beaconcha.in/slot/9">9</a>`);
  });

  it('warns of watched validators', async () => {
    const { notices } = summaryOf(await followed());
    expect(notices).toEqual([
      { tone: 'bad', text: '1 watched validator of mainnet slashed: 7.', alert: 'BeaconchainWatchedValidatorSlashed' },
    ]);
    expect(summaryOf(new Follower()).notices).toEqual([]);
  });

  it('tells of head, finality and lag', async () => {
    const follower = await followed();
    const summary = summaryOf(follower);
    expect(factOf(summary, 'Head')).toMatch(/^slot \d+, epoch 405000 \| 329 d ago 2025-11-05 \d\d:\d\d:\d\d UTC$/);
    expect(factOf(summary, 'Finalized epoch')).toBe('404998');
    expect(factOf(summary, 'Finalized, not yet counted')).toBe('none');
    expect(factOf(summary, 'Slashings counted')).toBe('1 attester slashing, 2 validators | 0 proposer slashings');
    const totals = { ...follower.state.totals, skippedEpochs: 3 };
    expect(factOf(summaryOf(follower, { scannedEpoch: 404_996, totals }), 'Finalized, not yet counted')).toBe(
      '2 epochs | 3 epochs skipped so far',
    );
  });

  it('withdraws a head that is too old, and says what the budget does not allow', async () => {
    const follower = await followed();
    const now = follower.now + HOUR;
    expect(factOf(summaryOf(follower, {}, { now }), 'Head')).toBe('not read recently');
    expect(factOf(summaryOf(follower, {}, { now, coverage: 'finalized' }), 'Head')).toContain(
      'does not allow head passes',
    );
    expect(factOf(summaryOf(follower, {}, { coverage: 'sampled' }), 'Finalized, not yet counted')).toContain(
      'in the others are not counted',
    );
  });

  it('knows nothing at first, and says so', () => {
    const summary = summaryOf(new Follower());
    for (const label of ['Head', 'Finalized epoch', 'Finalized, not yet counted'])
      expect(factOf(summary, label)).toBe('not known yet');
  });
});
