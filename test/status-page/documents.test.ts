import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DOCUMENTS, PICTURES } from '../../src/status-page/documents.ts';

const names = DOCUMENTS.map(({ name }) => name);

function read(name: string): string {
  return readFileSync(join('docs', `${name}.md`), 'utf8');
}

describe('web/documents', () => {
  it('every document for users is served, and none for developers', () => {
    const documents = readdirSync('docs').filter((file) => file.endsWith('.md'));
    expect(names.toSorted()).toEqual(documents.map((file) => file.replace('.md', '')).toSorted());
    expect(readdirSync('docs/internals').filter((file) => names.includes(file.replace('.md', '')))).toEqual([]);
  });

  it.each(DOCUMENTS)('$name is listed with its title', ({ name, title }) => {
    expect(read(name).split('\n')[0]).toBe(`# ${title}`);
  });

  it('the pictures are those that are shown', () => {
    const shown = names.flatMap((name) => [...read(name).matchAll(/!\[[^\]]*\]\(images\/([^)]+)\)/g)]);
    expect(shown.map(([, file]) => file).toSorted()).toEqual(PICTURES.toSorted());
  });

  it('no document has HTML other than comments, which would be shown as text', () => {
    const withHtml = names.filter((name) =>
      /<(?!!--|https?:)\/?[a-z]/i.test(
        read(name)
          .replace(/^```[\s\S]*?^```$/gm, '')
          .replace(/`[^`]*`/g, ''),
      ),
    );
    expect(withHtml).toEqual([]);
  });
});
