import { describe, expect, it } from 'vitest';
import { html } from '../../../src/toolkit/lib/html.ts';

describe('lib/html', () => {
  it('escapes every value that is not markup', () => {
    const value = `<script>alert("1")</script>&'`;
    expect(html`<p title="${value}">${value}</p>`.text).toBe(
      '<p title="&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;&#38;&#39;">' +
        '&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;&#38;&#39;</p>',
    );
  });

  it('keeps markup, and joins lists of it', () => {
    const cells = ['a', '<b>'].map((cell) => html`<td>${cell}</td>`);
    expect(html`<tr>${cells}</tr>${html`<hr>`}${7}${''}`.text).toBe('<tr><td>a</td><td>&#60;b&#62;</td></tr><hr>7');
  });
});
