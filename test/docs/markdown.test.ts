import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DOCUMENTS } from '../../src/docs/catalogue.ts';
import { renderMarkdown } from '../../src/docs/markdown.ts';

function rendered(markdown: string, linkOf = (target: string): string | undefined => target): string {
  return renderMarkdown(markdown, linkOf).body.text.trim();
}

describe('docs/markdown', () => {
  it.each([
    ['What Redis may answer, at the start', 'what-redis-may-answer-at-the-start'],
    ['`state.redis` & *others*', 'stateredis--others'],
    ['The [seam](#seam)', 'the-seam'],
    ['4.1 Members', '41-members'],
    ['a < b', 'a--b'],
    ['Größe', 'größe'],
  ])('the anchor of "%s" is that of GitHub', (heading, id) => {
    expect(rendered(`## ${heading}`)).toContain(`<h2 id="${id}">`);
  });

  it('a heading that comes again has a number, as on GitHub', () => {
    const { body, sections } = renderMarkdown('# A\n\n## B\n\n## B\n\n### C', () => undefined);
    expect([...body.text.matchAll(/id="([^"]+)"/g)].map(([, id]) => id)).toEqual(['a', 'b', 'b-1', 'c']);
    expect(sections).toEqual([
      { id: 'b', title: 'B' },
      { id: 'b-1', title: 'B' },
    ]);
  });

  it('HTML is shown as text, and comments are left out', () => {
    const text = rendered(
      'a <img src=x onerror=alert(1)> b\n\n<script>alert(1)</script>\n\n<!-- table: x -->\n\n`<b>`\n\n```\n<i>\n```',
    );
    expect(text).not.toMatch(/<(img|script|b|i)\b/);
    expect(text).toContain('&#60;script&#62;');
    expect(text).not.toContain('table: x');
  });

  it('a link without an address is its text; an address cannot end its attribute', () => {
    expect(rendered('[see *this*](design.md)', () => undefined)).toBe('<p>see <em>this</em></p>');
    expect(rendered('![shown](x.png)', () => undefined)).toBe('<p>shown</p>');
    expect(rendered('[a](b)', () => '"><script>')).toBe('<p><a href="&#34;&#62;&#60;script&#62;">a</a></p>');
  });

  it('a table scrolls by itself, is named after its heading, and keeps pipes in code and its alignment', () => {
    const text = rendered('## Cost\n\n| a | b |\n|---|--:|\n| `x\\|y` | 1 |');
    expect(text).toContain('<div class="wide" tabindex="0" role="group" aria-label="Table: Cost">');
    expect(text).toContain('<code>x|y</code>');
    expect(text).toContain('<td align="right">1</td>');
  });

  it.each(DOCUMENTS)('no anchor of $name is there twice', ({ name }) => {
    const ids = [...rendered(readFileSync(`docs/${name}.md`, 'utf8')).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
