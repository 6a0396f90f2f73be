import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { TITLES } from '../../scripts/document-page.ts';
import { VERSION } from '../../src/facts/version.ts';
import { DOCUMENTS, PICTURES } from '../../src/status-page/documentation.ts';
import { type Asked, ask } from '../support/network/ask.ts';
import { serveStatus } from '../support/web/status-server.ts';

const PAGES = ['/docs/', ...DOCUMENTS.map((name) => `/docs/${name}`)];

let port: number;

/** Each page once: a checkout renders a page whenever it is asked for. */
const answers = new Map<string, Promise<Asked>>();

function asked(path: string): Promise<Asked> {
  const answer = answers.get(path) ?? ask(port, path);
  answers.set(path, answer);
  return answer;
}

async function textOf(path: string): Promise<string> {
  const { status, body } = await asked(path);
  expect([path, status]).toEqual([path, 200]);
  return body.toString();
}

describe('status-page/documentation', () => {
  beforeAll(async () => {
    ({ port } = await serveStatus());
  });

  it('the index lists every page, and the status page leads to it', async () => {
    const index = await textOf('/docs/');
    for (const [name, { title }] of Object.entries(TITLES)) expect(index).toContain(`<a href="${name}">${title}</a>`);
    expect(index).toContain(VERSION);
    expect(await textOf('/')).toContain('href="./docs/"');
  });

  it.each(PAGES)('%s has no broken link or anchor, no script, and loads nothing from elsewhere', async (path) => {
    const { headers, body } = await asked(path);
    const text = body.toString();
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(text).not.toMatch(/<script|<iframe|\son\w+=|\sstyle=|src="http|(?<!<)<!--/i);
    const links = [...text.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) {
      const { origin, pathname, hash } = new URL(link, `http://exporter${path}`);
      if (origin !== 'http://exporter') continue;
      const target = await asked(pathname);
      expect([link, target.status]).toEqual([link, 200]);
      if (!hash) continue;
      const ids = [...target.body.toString().matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      expect(ids, link).toContain(decodeURIComponent(hash.slice(1)));
    }
  });

  it.each(PICTURES)('serves the picture %s', async (file) => {
    const { headers, body } = await ask(port, `/docs/images/${file}`);
    expect(headers['content-type']).toBe('image/png');
    expect(body.equals(readFileSync(`docs/images/${file}`))).toBe(true);
  });

  it('/docs redirects to the index, also below the path of a proxy', async () => {
    const { status, headers } = await ask(port, '/docs');
    expect([status, headers.location]).toEqual([308, 'docs/']);
  });

  it.each([
    '/docs/no-such-page',
    '/docs/internals/architecture',
    '/docs/alerts.md',
    '/docs/..%2fpackage.json',
    '/docs/images/..%2f..%2f..%2f..%2fetc%2fpasswd',
    '/docs/alerts%00.md',
    '/docs/__proto__',
  ])('%s is not found', async (path) => {
    const { status, body }: Asked = await ask(port, path);
    expect([status, body.toString()]).toEqual([404, 'not found\n']);
  });
});

const names: readonly string[] = DOCUMENTS;

function read(name: string): string {
  return readFileSync(join('docs', `${name}.md`), 'utf8');
}

describe('status-page/documentation: the list', () => {
  it('serves every document for users, and none for developers', () => {
    const documents = readdirSync('docs').filter((file) => file.endsWith('.md'));
    expect(names.toSorted()).toEqual(documents.map((file) => file.replace('.md', '')).toSorted());
    expect(readdirSync('docs/internals').filter((file) => names.includes(file.replace('.md', '')))).toEqual([]);
  });

  it.each(Object.entries(TITLES))('%s is listed with its title', (name, { title }) => {
    expect(read(name).split('\n')[0]).toBe(`# ${title}`);
  });

  it('serves exactly the pictures that documents show', () => {
    const shown = names.flatMap((name) => [...read(name).matchAll(/!\[[^\]]*\]\(images\/([^)]+)\)/g)]);
    expect(shown.map(([, file]) => file).toSorted()).toEqual(PICTURES.toSorted());
  });

  it('no document has HTML other than comments and folds, because it would be shown as text', () => {
    const withHtml = names.filter((name) =>
      /<(?!!--|https?:)\/?[a-z]/i.test(
        read(name)
          .replace(/^```[\s\S]*?^```$/gm, '')
          .replace(/`[^`]*`|^(<details><summary>[\w ']+<\/summary>|<\/details>)$/gm, ''),
      ),
    );
    expect(withHtml).toEqual([]);
  });
});
