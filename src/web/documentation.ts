import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { FILES_URL } from '../lib/version.ts';
import { DOCUMENTS, PICTURES } from './documents.ts';
import { DOCUMENT_POLICY } from './page-style.ts';
import { send, setHeaders } from './send.ts';

const IS_BUILT = extname(import.meta.filename) === '.js';
/** The build writes the pages and pictures to dist/docs. A checkout has the documents. */
const FOLDER = new URL(IS_BUILT ? '../docs/' : '../../docs/', import.meta.url);

interface Document {
  readonly type: string;
  read(): Promise<Buffer>;
}

/** Only these addresses exist, so no other file can be reached. */
const DOCUMENTATION: ReadonlyMap<string, Document> = new Map([
  ['/docs/', page('index')],
  ...DOCUMENTS.map(({ name }) => [`/docs/${name}`, page(name)] as const),
  ...PICTURES.map((file) => [`/docs/images/${file}`, picture(file)] as const),
]);

/** Every address of the documentation of this version, `/docs` included, which leads to the index. */
export const DOCUMENT_PATHS: readonly string[] = ['/docs', ...DOCUMENTATION.keys()];

function page(name: string): Document {
  return { type: 'text/html; charset=utf-8', read: () => pageOf(name) };
}

async function pageOf(name: string): Promise<Buffer> {
  if (IS_BUILT) return readFile(new URL(`${name}.html`, FOLDER));
  const { renderDocument } = await import('./document-page.ts');
  return Buffer.from(await renderDocument(name, FILES_URL));
}

function picture(file: string): Document {
  return { type: 'image/png', read: () => readFile(new URL(`images/${file}`, FOLDER)) };
}

const HEADERS = {
  'Content-Security-Policy': DOCUMENT_POLICY,
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
} as const;

/**
 * Sends the document at an address of the documentation. Redirects are relative, because a reverse proxy may serve the
 * pages below another path.
 */
export async function sendDocument(response: ServerResponse, path: string): Promise<void> {
  const document = DOCUMENTATION.get(path);
  if (!document) {
    response.writeHead(308, { Location: 'docs/', 'Content-Length': 0 }).end();
    return;
  }
  const bytes = await document.read();
  setHeaders(response, HEADERS);
  send(response, 200, document.type, [bytes]);
}
