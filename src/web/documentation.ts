import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { FILES_URL } from '../lib/version.ts';
import { DOCUMENTS, PICTURES } from './documents.ts';
import { DOCUMENT_POLICY } from './page-style.ts';
import { send, setHeaders } from './send.ts';

const compress = promisify(gzip);
const IS_BUILT = extname(import.meta.filename) === '.js';
/** The build writes the pages and pictures to dist/docs. A checkout has the documents. */
const FOLDER = new URL(IS_BUILT ? '../docs/' : '../../docs/', import.meta.url);

interface Document {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped?: Buffer;
}

/**
 * The documentation of this version. A page is read when it is first requested; all pages together are less than a
 * megabyte. Only the addresses below exist, so no other file can be reached.
 */
export class Documentation {
  readonly #makers = new Map<string, () => Promise<Document>>([
    ['/docs/', () => page('index')],
    ...DOCUMENTS.map(({ name }) => [`/docs/${name}`, () => page(name)] as const),
    ...PICTURES.map((file) => [`/docs/images/${file}`, () => picture(file)] as const),
  ]);
  readonly #made = new Map<string, Promise<Document>>();

  /** Every address, `/docs` included, which leads to the index. */
  readonly paths: readonly string[] = ['/docs', ...this.#makers.keys()];

  /** @throws what reading or rendering throws; the next request tries again */
  document(path: string): Promise<Document> | undefined {
    const known = this.#made.get(path);
    if (known) return known;
    const made = this.#makers.get(path)?.();
    if (!made) return undefined;
    this.#made.set(path, made);
    made.catch(() => this.#made.delete(path));
    return made;
  }
}

async function page(name: string): Promise<Document> {
  const plain = Buffer.from(await textOf(name));
  return { type: 'text/html; charset=utf-8', plain, gzipped: await compress(plain) };
}

async function textOf(name: string): Promise<string> {
  if (IS_BUILT) return readFile(new URL(`${name}.html`, FOLDER), 'utf8');
  const { renderDocument } = await import('./document-page.ts');
  return renderDocument(name, FILES_URL);
}

async function picture(file: string): Promise<Document> {
  const plain = await readFile(new URL(`images/${file}`, FOLDER));
  return { type: 'image/png', plain };
}

const HEADERS = {
  'Content-Security-Policy': DOCUMENT_POLICY,
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
  Vary: 'Accept-Encoding',
} as const;

/** Redirects are relative, because a reverse proxy may serve the pages below another path. */
export async function sendDocument(
  response: ServerResponse,
  documentation: Documentation,
  path: string,
  gzipped: boolean,
): Promise<void> {
  const document = await documentation.document(path);
  if (!document) {
    response.writeHead(308, { Location: 'docs/', 'Content-Length': 0 }).end();
    return;
  }
  setHeaders(response, HEADERS);
  const compressed = gzipped ? document.gzipped : undefined;
  if (compressed) response.setHeader('Content-Encoding', 'gzip');
  send(response, 200, document.type, [compressed ?? document.plain]);
}
