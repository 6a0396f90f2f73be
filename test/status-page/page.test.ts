import { describe, expect, it } from 'vitest';
import { badge, bar, type Cell, lines, link, notice, quiet, type Row, time } from '../../src/sources/content.ts';
import type { StatusPage } from '../../src/status-page/page.ts';
import { html } from '../../src/toolkit/lib/html.ts';
import { MINUTE, NOW } from '../support/time/timing.ts';
import { pageText, pageWith } from './page-text.ts';

function withRows(rows: Iterable<Row>, size: number, columns = ['Name', 'Value']): StatusPage {
  return pageWith({ tables: [{ title: 'Things', columns, rows, size, empty: 'Nothing.' }] });
}

function cellOf(cell: Cell): string {
  const text = pageText(withRows([['a', cell]], 1));
  return /<td role="cell" data-label="Value">(.*)<\/td>/.exec(text)?.[1] ?? '';
}

const EVIL = `<script>alert(1)</script>"'`;
const TAMED = '&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#39;';

describe('web/page', () => {
  it('shows every text as text, wherever it stands', () => {
    const drawn = bar(1, [{ fill: 'used', size: 1, text: EVIL }]);
    const texts = [EVIL, badge('bad', EVIL), quiet(EVIL), link(EVIL, '/'), drawn];
    const text = pageText(
      pageWith({
        about: EVIL,
        counts: EVIL,
        verdict: notice('bad', EVIL),
        notices: [notice('bad', EVIL)],
        tables: [
          { title: EVIL, columns: [EVIL], rows: texts.map((one) => [one]), size: 5, empty: '', notes: [EVIL] },
          { title: 'b', columns: ['a'], rows: [], size: 0, shown: 0, state: EVIL, empty: EVIL },
        ],
      }),
    );
    expect(text.match(/<script/g)).toHaveLength(1);
    expect(text.split(TAMED)).toHaveLength(16);
  });

  it.each<[string, Cell, string]>([
    ['text', 'a & b', 'a &#38; b'],
    ['a time', time(NOW - MINUTE, NOW), '1 min ago <small class="at">12:00:00 UTC</small>'],
    ['a time that no calendar has', time(1e300, NOW), 'unknown'],
    ['lines', lines('a', html`b ${quiet('c')}`), 'a<br>b <small>c</small>'],
    [
      'a bar of parts that are more than the whole',
      bar(10, [
        { fill: 'used', size: 15, text: 'a' },
        { fill: 'left', size: -5, text: 'b' },
      ]),
      '<svg class="bar wide" aria-hidden="true"><rect class="used" width="100%"/><rect class="left" x="100%" width="0%"/></svg><span class="key used">a</span> <span class="key left">b</span> ',
    ],
  ])('writes %s', (_, cell, markup) => {
    expect(cellOf(cell)).toBe(markup);
  });

  it('shows ten rows of a table, up to a thousand in a fold, and says how many it leaves out', () => {
    function* endless(): Generator<Row> {
      for (;;) yield ['a', 'b'];
    }
    const text = pageText(withRows(endless(), 5_000));
    const [open = '', folded = ''] = text.split('<details id="things-fold"><summary>4,990 more</summary>');
    expect([open, folded].map((part) => part.split('<tr role="row"><th role="rowheader"').length - 1)).toEqual([
      10, 990,
    ]);
    expect(text).toContain('4,000 more rows not shown');
  });
});
