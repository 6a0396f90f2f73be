/**
 * Turns the unreleased changes into a version, in all files that name the version:
 *
 *     node scripts/cut-release.ts 1.2.3
 *
 * It writes package.json, the lockfile, the changelog and the tags of the image in manifests and docs. CONTRIBUTING.md
 * has the steps before and after.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** The files whose text names the version, with the place in them. */
const PLACES: Readonly<Record<string, RegExp>> = {
  'package.json': /(?<=^ {2}"version": ")[^"]+/m,
  // Twice: of the project, and of its own entry among the packages.
  'package-lock.json': /(?<="name": "beaconchain-exporter",\n\s+"version": ")[^"]+/g,
  'deploy/kubernetes/exporter/kustomization.yaml': /(?<=newTag: )\S+/,
  'deploy/kubernetes/README.md': /(?<=newTag: )[\d.]+/g,
  'docs/installation.md': /(?<=^version=)[\d.]+/m,
};

export const VERSIONED = Object.keys(PLACES);

/** The versions that a file names. */
export function versionsIn(file: string, text: string): string[] {
  const place = PLACES[file];
  return place ? [...text.matchAll(new RegExp(place.source, 'gm'))].map(([version]) => version) : [];
}

/** The text of the file with another version. */
export function withVersion(file: string, text: string, version: string): string {
  const place = PLACES[file];
  if (versionsIn(file, text).length === 0) throw new Error(`${file} names no version`);
  return place ? text.replace(place, version) : text;
}

/** Three numbers without zeros in front: npm publishes 01.2.3 as 1.2.3, which matches neither the tag nor the changelog. */
export function isVersion(text: string): boolean {
  return /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/.test(text);
}

/** Whether a version is older than another one. */
export function isOlder(version: string, other: string): boolean {
  return version.localeCompare(other, 'en', { numeric: true }) < 0;
}

/** The changelog with the unreleased changes under the heading of the version. */
export function withHeading(changelog: string, version: string, date: string): string {
  const heading = '## Unreleased\n';
  const notes = changelog.split(/^(?=## )/m).find((section) => section.startsWith(heading));
  if (!notes?.slice(heading.length).trim()) throw new Error('CHANGELOG.md says nothing under "## Unreleased"');
  if (changelog.includes(`\n## ${version} `)) throw new Error(`CHANGELOG.md has ${version} already`);
  return changelog.replace(heading, () => `${heading}\n## ${version} - ${date}\n`);
}

if (import.meta.main) {
  const [version = ''] = process.argv.slice(2);
  if (!isVersion(version)) throw new Error(`expected a version such as 1.2.3, not "${version}"`);
  const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
  const { version: before } = JSON.parse(textOf('package.json')) as { version: string };
  if (isOlder(version, before)) throw new Error(`package.json says ${before}, ${version} is older`);
  const changelog = withHeading(textOf('CHANGELOG.md'), version, new Date().toISOString().slice(0, 10));
  const changed = VERSIONED.map((file) => [file, withVersion(file, textOf(file), version)] as const);
  // Only when no file has been refused.
  for (const [file, text] of [['CHANGELOG.md', changelog] as const, ...changed]) writeFileSync(join(ROOT, file), text);
}
