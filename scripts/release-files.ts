/**
 * Writes what a release publishes into a folder: the tarball for npm, the list of its packages, the notes, and checksums, also
 * of the packages of `npm run package` that are there.
 *
 *     node scripts/release-files.ts --tag=v1.2.3 --output=release
 *     node scripts/release-files.ts --tag=v1.2.3                    # only prints the notes
 */
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { pack } from './pack.ts';

const ROOT = join(import.meta.dirname, '..');
const NAME = 'beaconchain-exporter';

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/**
 * The section of the changelog about a version. @throws Error where the tag, package.json and the changelog do not
 * agree
 */
export function releaseNotes(tag: string, packageVersion: string, changelog: string): string {
  // npm publishes no other version under its default tag, and finds that out when the image is already public.
  if (!/^\d+\.\d+\.\d+$/.test(packageVersion))
    throw new Error(
      `package.json says ${packageVersion}, expected three numbers such as 1.2.3: there are no pre-releases`,
    );
  if (tag !== `v${packageVersion}`) throw new Error(`the tag is ${tag}, package.json says ${packageVersion}`);
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.split(/\s/, 1)[0] === packageVersion);
  if (section === undefined) throw new Error(`CHANGELOG.md has no heading "## ${packageVersion}"`);
  const notes = section.slice(section.indexOf('\n')).trim();
  if (notes === '') throw new Error(`CHANGELOG.md says nothing of ${packageVersion}`);
  return `${notes}\n`;
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

/**
 * The bundled packages as CycloneDX. npm is given the project as if it had no other dependencies: with `--omit=dev`, npm 11
 * also leaves out packages that a tool needs as well.
 */
export function billOfMaterials(): string {
  const { devDependencies: _, ...manifest } = JSON.parse(textOf('package.json'));
  const { packages, ...lock } = JSON.parse(textOf('package-lock.json')) as { packages: Record<string, { dev?: true }> };
  const bundled = Object.fromEntries(Object.entries(packages).filter(([, { dev }]) => !dev));
  const outer = mkdtempSync(join(tmpdir(), 'sbom-'));
  // npm names the project after its folder.
  const folder = join(outer, NAME);
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    const root = { ...bundled[''], devDependencies: {} };
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ ...lock, packages: { ...bundled, '': root } }));
    const options = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'];
    return execFileSync('npm', options, { cwd: folder, encoding: 'utf8' });
  } finally {
    rmSync(outer, { recursive: true });
  }
}

/** @throws Error where the tag, package.json and the changelog do not agree */
function writeRelease(tag: string, output: string, env: NodeJS.ProcessEnv): string[] {
  const notes = notesOf(tag);
  const tarball = basename(pack(output, env));
  writeFileSync(join(output, 'sbom.cdx.json'), billOfMaterials());
  writeFileSync(join(output, 'notes.md'), linkedNotes(notes, tag, env));
  const packages = readdirSync(output).filter((name) => /\.(deb|tar\.xz)$/.test(name));
  const files = [...packages, tarball, 'sbom.cdx.json'];
  writeFileSync(join(output, 'SHA256SUMS'), checksums(files.map((name) => [name, readFileSync(join(output, name))])));
  return [...files, 'notes.md', 'SHA256SUMS'];
}

function notesOf(tag: string): string {
  return releaseNotes(tag, JSON.parse(textOf('package.json')).version, textOf('CHANGELOG.md'));
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { tag: { type: 'string' }, output: { type: 'string' } } });
  const { tag, output } = values;
  if (!tag) throw new Error('expected --tag=v<version>');
  if (output) for (const name of writeRelease(tag, resolve(output), process.env)) process.stdout.write(`${name}\n`);
  else process.stdout.write(notesOf(tag));
}
