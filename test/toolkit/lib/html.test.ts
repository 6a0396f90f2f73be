import { expect, it } from 'vitest';
import { html } from '../../../src/toolkit/lib/html.ts';

it('lib/html keeps markup, and joins lists of it', () => {
  const cells = ['a', '<b>'].map((cell) => html`<td>${cell}</td>`);
  expect(html`<tr>${cells}</tr>${html`<hr>`}${7}${''}`.text).toBe('<tr><td>a</td><td>&#60;b&#62;</td></tr><hr>7');
});
