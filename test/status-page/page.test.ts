import { describe, expect, it } from 'vitest';
import { badge, bar, type Cell, lines, link, notice, quiet, type Row, time } from '../../src/sources/content.ts';
import type { StatusPage } from '../../src/status-page/page.ts';
import { html } from '../../src/toolkit/lib/html.ts';
import { MINUTE, NOW } from '../support/time/timing.ts';
import { pageText, pageWith } from './page-text.ts';

function withRows(rows: Iterable<Row>, size: number): StatusPage {
  return pageWith({ tables: [{ title: 'Things', columns: ['Name', 'Value'], rows, size, empty: 'Nothing.' }] });
}

const EVIL = `<script>alert(1)</script>"'`;
const TAMED = '&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#39;';

describe('web/page', () => {
  it('escapes every text in every place', () => {
    const texts = [EVIL, badge('bad', EVIL), quiet(EVIL), link(EVIL, '/'), bar(1, EVIL, true)];
    const text = pageText(
      pageWith({
        about: EVIL,
        counts: EVIL,
        verdict: notice('bad', EVIL),
        notices: [notice('bad', EVIL)],
        tables: [
          { title: EVIL, columns: [EVIL], rows: texts.map((one) => [one]), size: 5, empty: '' },
          { title: 'b', columns: ['a'], rows: [], size: 0, shown: 0, brief: EVIL, empty: EVIL },
        ],
      }),
    );
    expect(text.match(/<script/g)).toHaveLength(1);
    expect(text.split(TAMED)).toHaveLength(15);
  });

  it.each<[string, Cell, string]>([
    ['text', 'a & b', 'a &#38; b'],
    ['a time', time(NOW - MINUTE, NOW), '1 min ago <small class="at">12:00:00 UTC</small>'],
    ['an impossible time', time(1e300, NOW), 'unknown'],
    ['lines', lines('a', html`b ${quiet('c')}`), 'a<br>b <small>c</small>'],
    ['a bar', bar(0.123, 'a', false), '<svg class="bar" aria-hidden="true"><rect class="used" width="12.3%"/></svg>a'],
  ])('writes %s', (_, cell, markup) => {
    const text = pageText(withRows([['a', cell]], 1));
    expect(/<td role="cell" data-label="Value">(.*)<\/td>/.exec(text)?.[1] ?? '').toBe(markup);
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
