/** Packs the project as a release does, twice, and looks at what came out: node scripts/check-package.ts */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { originOf, pack } from './release-files.ts';

/** What may be in the package. Tests, sources, internals and local files are not. */
const ALLOWED = [
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|config\.example\.yaml|config\.schema\.json)$/,
  /^dist\/[\w./-]+\.(js|js\.map|json|txt|html|png)$/,
];

const NEEDED = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'dist/main.js',
  'dist/build.json',
  'dist/docs/index.html',
  'dist/LICENSES.txt',
];

export function packageComplaints(files: readonly string[]): string[] {
  return [
    ...files
      .filter((file) => !ALLOWED.some((pattern) => pattern.test(file)))
      .map((file) => `${file} is in the package`),
    ...NEEDED.filter((file) => !files.includes(file)).map((file) => `${file} is not in the package`),
  ];
}

/** Some example, as a workflow sets it. */
const RUN = { GITHUB_SERVER_URL: 'https://git.example', GITHUB_REPOSITORY: 'some-one/exporter' };

/** Packed twice, the files have the same bytes: whoever has the commit can compare. */
function checkPackage(work: string): string[] {
  const [one = '', other = ''] = ['one', 'other'].map((name) => pack(join(work, name), originOf(RUN)));
  const listed = execFileSync('tar', ['-tzf', one], { encoding: 'utf8' }).trim().split('\n');
  const files = listed.map((name) => name.replace(/^package\//, ''));
  execFileSync('tar', ['-xzf', one, '-C', work]);
  const folder = join(work, 'package');
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const main = join(folder, 'dist/main.js');
  const printed = execFileSync(process.execPath, [main, '--version'], { encoding: 'utf8' });
  process.stdout.write(`${files.length} files, ${statSync(one).size} bytes packed\n`);
  return [
    ...packageComplaints(files),
    ...(readFileSync(one).equals(readFileSync(other)) ? [] : ['packed twice, the bytes differ']),
    ...(manifest.repository?.url === 'git+https://git.example/some-one/exporter.git' ? [] : ['it names no repository']),
    ...(statSync(main).mode & 0o111 ? [] : ['dist/main.js cannot be executed']),
    ...(printed.includes(manifest.version) ? [] : [`it says that it is ${printed.trim()}`]),
  ];
}

if (import.meta.main) {
  const work = mkdtempSync(join(tmpdir(), 'check-package-'));
  try {
    const complaints = checkPackage(work);
    for (const complaint of complaints) process.stderr.write(`${complaint}\n`);
    if (complaints.length > 0) process.exitCode = 1;
  } finally {
    rmSync(work, { recursive: true });
  }
}
