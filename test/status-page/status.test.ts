import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/facts/version.ts';
import type { Cell, Table } from '../../src/sources/content.ts';
import type { StatusInput } from '../../src/status-page/headline.ts';
import type { StatusPage } from '../../src/status-page/page.ts';
import { statusOf } from '../../src/status-page/status.ts';
import { html } from '../../src/toolkit/lib/html.ts';
import { fakeSource } from '../support/runs/fake-source.ts';
import { schedule } from '../support/runs/scheduler-harness.ts';
import { NOW } from '../support/time/timing.ts';
import { knownIn, pageIn } from '../support/web/status-states.ts';
import { pageText, withoutMarkup } from './page-text.ts';

function tableOf(page: StatusPage, title: string): Table {
  const table = page.tables.find((one) => one.title === title);
  if (!table) throw new Error(`no table ${title}`);
  return table;
}

/** What a reader sees, without markup. */
function wordsOf(page: StatusPage): string {
  return withoutMarkup(pageText(page).replace(/<style>.*<\/style>/s, ''));
}

function textOf(cell: Cell = ''): string {
  return html`${cell}`.text.replace(/<br>/g, '; ').replace(/<[^>]+>/g, '');
}

describe('web/status', () => {
  it('has a row for each group, with unknown values left empty', async () => {
    const { columns, rows } = tableOf(await pageIn('grouped'), 'Groups');
    expect(columns).toEqual(['Group', 'Machines', 'Validators', 'Stake', 'Earned in 24 h', 'Missed in 24 h']);
    expect([...rows].map((row) => row.map(textOf))).toEqual([
      [
        'home',
        '1 of 2 healthy; 1 silent',
        '1 of 2 online mainnet',
        '64 ETH mainnet',
        '0.0034 ETH mainnet',
        '0.00048 ETH mainnet',
      ],
      [
        'office',
        '1 of 1 healthy',
        '1 of 1 online mainnet; 1 of 1 online hoodi',
        '32 ETH mainnet; 32 ETH hoodi',
        '',
        '0.00004 ETH mainnet',
      ],
      ['pool', '', '1 of 1 online hoodi', '32 ETH hoodi', '', ''],
      [
        'in no group',
        '1 of 1 healthy',
        '1 of 1 online mainnet',
        '32 ETH mainnet',
        '0.00209 ETH mainnet',
        '0.00002 ETH mainnet',
      ],
    ]);
  });

  it('compares your attestations with those of the network', async () => {
    const { rows, brief } = tableOf(await pageIn('grouped'), 'You and the network');
    const said = [...rows].map((row) => row.map(textOf));
    expect(said).toEqual([
      ['mainnet', 'your validators attested 94.67 % (52 min ago)'],
      ['hoodi', 'your validators attested 100.00 % (55 min ago)'],
      ['mainnet', 'the network attested 99.86 % (7 min 1 s ago)'],
      ['hoodi', 'the network attested 99.86 % (10 min ago)'],
    ]);
    expect(brief).toBe(said.map((row) => row.join(': ')).join('; '));
  });

  it('joins tables of one title and their summaries', async () => {
    const table = (row: string): Table => ({ title: 'T', columns: [], rows: [[row]], size: 1, brief: row, empty: '' });
    const sources = (['mainnet', 'hoodi'] as const).map((chain) =>
      fakeSource({ name: 'slashings', chain, page: () => ({ tables: [table(chain)] }) }),
    );
    const known: StatusInput = { ...(await knownIn('empty')), views: schedule(sources).views() };
    const { rows, size, brief } = tableOf(statusOf(known, NOW), 'T');
    expect([...rows, size, brief]).toEqual([['mainnet'], ['hoodi'], 2, 'mainnet; hoodi']);
  });

  it('names what is wrong and since when', async () => {
    const silent = wordsOf(await pageIn('silent'));
    for (const words of [
      '2 critical: 1 validator slashed on mainnet',
      '1 validator slashed on mainnet: 12345.',
      '1 machine never seen: never-1.',
      '1 machine silent: node-d.',
      `version ${VERSION}, up for 1 d 10 h`,
      'Updated 2026-09-30 12:01:00 UTC ;',
      '1 of 1 validator online, 4 of 6 machines healthy',
      'node, 41 min ago 11:20:23 UTC',
      '12345 watched , 90001, 90002',
      '90019 and 20 more',
    ]) {
      expect(silent).toContain(words);
    }
  });

  it('calls simulated data simulated, and links to nothing real', async () => {
    const known = await knownIn('silent');
    const page = statusOf({ ...known, isSimulated: true }, NOW);
    const text = pageText(page);
    expect(text).toContain('Simulated data: 1 of 1 validator online');
    expect(pageText(statusOf(known, NOW))).toContain('https://beaconcha.in/slot/');
    expect(text).not.toMatch(/href="[^"]*beaconcha\.in/);
    expect(wordsOf(page)).toContain('slot 15328800, epoch 479025');
  });
});
