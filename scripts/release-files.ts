/**
 * Writes what a release publishes into a folder: the tarball for npm, the list of its packages, the notes, and checksums.
 *
 *     node scripts/release-files.ts --tag=v1.2.3 --output=release
 *
 * package.json names no repository, because a copy of the project would then name another one as its own. The workflow
 * that builds the release says where it runs, and the packed package.json names that.
 */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { releaseNotes } from './release-notes.ts';

const ROOT = join(import.meta.dirname, '..');

interface Origin {
  readonly repository?: { readonly type: 'git'; readonly url: string };
  readonly homepage?: string;
  readonly bugs?: { readonly url: string };
}

/** The fields of package.json that depend on the repository. Empty outside of a workflow. */
export function originOf(env: NodeJS.ProcessEnv): Origin {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = env;
  if (!server || !repository) return {};
  const url = `${server}/${repository}`;
  return {
    // npm compares it with the repository in the provenance.
    repository: { type: 'git', url: `git+${url}.git` },
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
  };
}

/** The notes with links that work on the page of a release, where GitHub does not relate them to the repository. */
export function linkedNotes(
  notes: string,
  tag: string,
  { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository }: NodeJS.ProcessEnv,
): string {
  if (!server || !repository) return notes;
  return notes.replace(/\]\((?![a-z]+:|#)/g, `](${server}/${repository}/blob/${tag}/`);
}

/** As `sha256sum` writes and checks it. */
export function checksums(files: readonly (readonly [name: string, content: Uint8Array])[]): string {
  return files.map(([name, content]) => `${hash('sha256', content)}  ${name}\n`).join('');
}

/** Packs the project into a folder, with these fields in its package.json. Returns the path of the tarball. */
export function pack(output: string, fields: Origin): string {
  mkdirSync(output, { recursive: true });
  const work = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    const tarball = npmPack(['--pack-destination', work], ROOT);
    execFileSync('tar', ['-xzf', join(work, tarball), '-C', work]);
    const file = join(work, 'package/package.json');
    const manifest: Record<string, unknown> = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, `${JSON.stringify({ ...manifest, ...fields }, undefined, 2)}\n`);
    return join(output, npmPack(['--ignore-scripts', '--pack-destination', output], join(work, 'package')));
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** The last line is the name of the tarball; the build prints before it. */
function npmPack(options: readonly string[], cwd: string): string {
  const printed = execFileSync('npm', ['pack', '--silent', ...options], { cwd, encoding: 'utf8' });
  return printed.trim().split('\n').at(-1) ?? '';
}

/** @throws Error where the tag, package.json and the changelog do not agree */
export function writeRelease(tag: string, output: string, env: NodeJS.ProcessEnv): string[] {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const notes = releaseNotes(tag, version, readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'));
  const tarball = basename(pack(output, originOf(env)));
  const sbom = execFileSync(process.execPath, [join(ROOT, 'scripts/sbom.ts')]);
  writeFileSync(join(output, 'sbom.cdx.json'), sbom);
  writeFileSync(join(output, 'notes.md'), linkedNotes(notes, tag, env));
  const sums = [tarball, 'sbom.cdx.json'].map((name) => [name, readFileSync(join(output, name))] as const);
  writeFileSync(join(output, 'SHA256SUMS'), checksums(sums));
  return [tarball, 'sbom.cdx.json', 'notes.md', 'SHA256SUMS'];
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { tag: { type: 'string' }, output: { type: 'string' } } });
  if (!values.tag || !values.output) throw new Error('expected --tag=v<version> and --output=<folder>');
  for (const name of writeRelease(values.tag, resolve(values.output), process.env)) process.stdout.write(`${name}\n`);
}
