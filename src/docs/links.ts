import { posix } from 'node:path';
import { DOCUMENTS, PICTURES } from './catalogue.ts';

/** Files in docs/, by path in the repository, and their addresses below /docs/. */
const SERVED = new Map<string, string>([
  ...DOCUMENTS.map(({ name }) => [`docs/${name}.md`, name] as const),
  ...PICTURES.map((file) => [`docs/images/${file}`, `images/${file}`] as const),
]);

/**
 * Where a link of a document in docs/ leads on the served page, relative to it; undefined: nowhere.
 * @param repository Where files that are not served can be read; undefined if that is not known
 */
export function servedLink(target: string, repository: string | undefined): string | undefined {
  if (target.startsWith('#') || /^https?:\/\//.test(target)) return target;
  if (/^[a-z][a-z\d+.-]*:/i.test(target)) return undefined;
  const [file = '', anchor] = target.split('#', 2);
  const path = posix.join('docs', file);
  const address = SERVED.get(path) ?? (repository && `${repository}/${path}`);
  if (address === undefined || path.startsWith('..')) return undefined;
  return anchor === undefined ? address : `${address}#${anchor}`;
}
