import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { FILES_URL } from '../facts/version.ts';
import { send, setHeaders } from '../toolkit/web/send.ts';
import type { Document } from '../toolkit/web/server.ts';
import { DOCUMENT_POLICY, STATUS_POLICY } from './page-style.ts';

interface DocumentEntry {
  /** The file in docs/ without `.md`, and the last part of its address. */
  readonly name: string;
  /** Its first heading. */
  readonly title: string;
  /** What a reader finds in it. */
  readonly about: string;
}

/** The user documentation, in the order in which a person needs it. Documents for developers are in docs/internals and not served. */
export const DOCUMENTS: readonly DocumentEntry[] = [
  {
    name: 'first-hour',
    title: 'First hour',
    about: 'key, clients that push, Prometheus, Alertmanager, the first page',
  },
  { name: 'installation', title: 'Installation', about: 'Compose, a container, systemd; how to verify a release' },
  { name: 'configuration', title: 'Configuration', about: 'recipes, then every setting and flag' },
  { name: 'alerts', title: 'Alerts', about: 'the rules, and the runbook: what each alert means and what to do' },
  { name: 'dashboards', title: 'Dashboards and status page', about: 'what Grafana and the page of the exporter show' },
  { name: 'validators', title: 'Your validators', about: 'online, duties, rewards, groups, slashings, proposals' },
  { name: 'budget', title: 'Plans and budget', about: 'what a plan is enough for, and how its requests are divided' },
  { name: 'troubleshooting', title: 'Problems and questions', about: 'symptoms and what to do, common questions' },
  { name: 'backfill', title: 'Backfill', about: 'history for a Prometheus that starts today' },
  { name: 'operations', title: 'Operations', about: 'reload, TLS and passwords, proxies, state, upgrades, logs' },
  { name: 'high-availability', title: 'High availability', about: 'replicas that share one account' },
  { name: 'metrics', title: 'Metrics', about: 'every metric with its labels and meaning' },
  { name: 'queries', title: 'Queries', about: 'PromQL for your own graphs and alerts' },
  { name: 'glossary', title: 'Glossary', about: 'the terms used in these pages' },
];

/** The pictures in these documents, files of docs/images. */
export const PICTURES: readonly string[] = ['exporter.png', 'fleet.png', 'returns.png', 'validators.png'];

const HTML = 'text/html; charset=utf-8';
const IS_BUILT = extname(import.meta.filename) === '.js';
/** The build writes the pages and pictures to dist/docs. A checkout has the documents. */
const FOLDER = new URL(IS_BUILT ? '../docs/' : '../../docs/', import.meta.url);

/** Only these addresses exist, so no other file can be reached. */
const PAGES: readonly (readonly [path: string, document: Document])[] = [
  ['/docs/', page('index')],
  ...DOCUMENTS.map(({ name }) => [`/docs/${name}`, page(name)] as const),
  ...PICTURES.map((file) => [`/docs/images/${file}`, picture(file)] as const),
];

/** The status page and the documentation of this version, with their addresses. @param status The bytes of the status page */
export function documentsOf(status: () => Promise<Buffer>): ReadonlyMap<string, Document> {
  const policy = { 'Content-Security-Policy': STATUS_POLICY, 'Cache-Control': 'no-store' };
  return new Map([['/', document(HTML, status, policy)], ['/docs', toIndex], ...PAGES]);
}

/** Relative, because a reverse proxy may serve the pages below another path. */
function toIndex(response: ServerResponse): void {
  response.writeHead(308, { Location: 'docs/', 'Content-Length': 0 }).end();
}

function page(name: string): Document {
  return document(HTML, () => pageOf(name));
}

async function pageOf(name: string): Promise<Buffer> {
  if (IS_BUILT) return readFile(new URL(`${name}.html`, FOLDER));
  const { renderDocument } = await import('../../scripts/document-page.ts');
  return Buffer.from(await renderDocument(name, FILES_URL));
}

function picture(file: string): Document {
  return document('image/png', () => readFile(new URL(`images/${file}`, FOLDER)));
}

const HEADERS = {
  'Content-Security-Policy': DOCUMENT_POLICY,
  // Links send no referrer, so that the host name in a private network stays private.
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
} as const;

function document(type: string, read: () => Promise<Buffer>, headers = {}): Document {
  return async (response) => {
    const bytes = await read();
    setHeaders(response, { ...HEADERS, ...headers });
    send(response, 200, type, [bytes]);
  };
}
