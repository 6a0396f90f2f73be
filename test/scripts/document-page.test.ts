import { describe, expect, it } from 'vitest';
import { renderMarkdown, servedLink } from '../../scripts/document-page.ts';

function rendered(markdown: string, linkOf = (target: string): string | undefined => target): string {
  return renderMarkdown(markdown, linkOf).body.text.trim();
}

describe('web/document-page', () => {
  it('anchors are those of GitHub: a heading that comes again has a number', () => {
    const { body, sections } = renderMarkdown('# A\n\n## B\n\n## B\n\n### A [seam](#seam), C', () => undefined);
    expect([...body.text.matchAll(/id="([^"]+)"/g)].map(([, id]) => id)).toEqual(['a', 'b', 'b-1', 'a-seam-c']);
    expect(sections).toEqual([
      { id: 'b', title: 'B' },
      { id: 'b-1', title: 'B' },
    ]);
  });

  it('HTML is shown as text, except a plain fold, and comments are left out', () => {
    const text = rendered(
      'a <img src=x onerror=alert(1)> b\n\n<details open>\n\n<script>alert(1)</script>\n\n<!-- table: x -->\n\n`<b>`\n\n```\n<i>\n```',
    );
    expect(text).not.toMatch(/<(img|details|script|b|i)\b/);
    expect(text).toContain('&#60;script&#62;');
    expect(text).not.toContain('table: x');
    expect(rendered('<details><summary>A</summary>\n\n*a*\n\n</details>')).toMatch(/^<details>.*<em>a<.*<\/details>$/s);
  });

  it('a link without an address is its text; an address cannot end its attribute', () => {
    expect(rendered('[see *this*](design.md)', () => undefined)).toBe('<p>see <em>this</em></p>');
    expect(rendered('![shown](x.png)', () => undefined)).toBe('<p>shown</p>');
    expect(rendered('[a](b)', () => '"><script>')).toBe('<p><a href="&#34;&#62;&#60;script&#62;">a</a></p>');
  });

  it('a table scrolls by itself, is named after its heading, and keeps pipes in code and its alignment', () => {
    const text = rendered('## Cost\n\n| a | b |\n|---|--:|\n| `x\\|y` | 1 |');
    expect(text).toContain('<div class="wide" tabindex="0" role="group" aria-label="Table: Cost">');
    expect(text).toContain('<code class="word">x|y</code>');
    expect(text).toContain('<td align="right">1</td>');
  });
});

const REPOSITORY = 'https://git.example/exporter/blob/v1.2.3';

describe('web/document-page: links', () => {
  it.each([
    ['an internal document', 'internals/performance.md#start', `${REPOSITORY}/docs/internals/performance.md#start`],
    ['a picture that is not served', 'images/overview.png', `${REPOSITORY}/docs/images/overview.png`],
  ])('%s leads to the repository, if one is known', (_, target, address) => {
    expect(servedLink(target, undefined)).toBeUndefined();
    expect(servedLink(target, REPOSITORY)).toBe(address);
  });
});
