import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { send, setHeaders } from '../toolkit/web/send.ts';
import type { Page } from '../toolkit/web/server.ts';
import { policyOf, STATUS_POLICY } from './page-style.ts';

/** The user documentation, in the order in which a person needs it. Documents for developers are in docs/internals and not served. */
export const DOCUMENTS = [
  'first-hour',
  'installation',
  'other-stacks',
  'configuration',
  'alerts',
  'dashboards',
  'validators',
  'budget',
  'troubleshooting',
  'backfill',
  'operations',
  'high-availability',
  'metrics',
  'queries',
  'glossary',
  'alternatives',
] as const;

/** The pictures in these documents, files of docs/images. */
export const PICTURES: readonly string[] = ['exporter.png', 'fleet.png', 'returns.png', 'validators.png'];

const HTML = 'text/html; charset=utf-8';
const STYLE = '<style>';
const IS_BUILT = extname(import.meta.filename) === '.js';
/** The build writes the pages and pictures to dist/docs. A checkout has the documents, and runs the script of the build. */
const FOLDER = new URL(IS_BUILT ? '../docs/' : '../../docs/', import.meta.url);

/** Only these addresses exist, so no other file can be reached. */
const PAGES: readonly (readonly [path: string, page: Page])[] = [
  ['/docs/', page('index')],
  ...DOCUMENTS.map((name) => [`/docs/${name}`, page(name)] as const),
  ...PICTURES.map((file) => [`/docs/images/${file}`, document('image/png', () => fileOf(`images/${file}`))] as const),
];

/** The status page and the documentation of this version, with their addresses. @param status The bytes of the status page */
export function pagesOf(status: () => Promise<Buffer>): ReadonlyMap<string, Page> {
  const policy = { 'Content-Security-Policy': STATUS_POLICY, 'Cache-Control': 'no-store' };
  return new Map([['/', document(HTML, status, () => policy)], ['/docs', toIndex], ...PAGES]);
}

/** Relative, because a reverse proxy may serve the pages below another path. */
function toIndex(response: ServerResponse): void {
  response.writeHead(308, { Location: 'docs/', 'Content-Length': 0 }).end();
}

function page(name: string): Page {
  return document(
    HTML,
    () => pageOf(name),
    (html) => {
      const style = html.subarray(html.indexOf(STYLE) + STYLE.length, html.indexOf('</style>'));
      return { 'Content-Security-Policy': policyOf(style, "'self' data:") };
    },
  );
}

async function pageOf(name: string): Promise<Buffer> {
  if (IS_BUILT) return fileOf(`${name}.html`);
  const { execFile } = await import('node:child_process');
  const script = join(import.meta.dirname, '../../scripts/document-page.ts');
  return (await promisify(execFile)(process.execPath, [script, name], { encoding: 'buffer' })).stdout;
}

function fileOf(path: string): Promise<Buffer> {
  return readFile(new URL(path, FOLDER));
}

function document(
  type: string,
  read: () => Promise<Buffer>,
  headersOf: (bytes: Buffer) => Record<string, string> = () => ({}),
): Page {
  return async (response) => {
    const bytes = await read();
    // Links send no referrer, so that the host name in a private network stays private.
    const common = { 'Referrer-Policy': 'no-referrer', 'Cache-Control': 'no-cache' };
    setHeaders(response, { ...common, ...headersOf(bytes) });
    send(response, 200, type, [bytes]);
  };
}
