import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Prints what the changelog says of a version: node scripts/release-notes.ts v1.2.3 */

/** @throws Error where the tag, package.json and the changelog do not agree */
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

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  process.stdout.write(releaseNotes(process.argv[2] ?? '', version, changelog));
}
