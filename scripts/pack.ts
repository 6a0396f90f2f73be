/**
 * Packs what is published into a folder, and prints the path of the tarball: node scripts/pack.ts FOLDER
 * `npm pack` in the checkout packs the same, and the two scripts by which it calls this one with --before and --after.
 *
 * The packed package.json differs from that of the checkout. It has no dependencies, because the bundle contains them. It
 * names the repository: the workflow that builds a release says where it runs, and a copy of the project would otherwise
 * name another one as its own. It may be published, which npm refuses for the checkout.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const MANIFEST = join(ROOT, 'package.json');
/** The package.json of the checkout, while `npm pack` packs the other one. */
const KEPT = join(ROOT, 'dist/package.json.kept');

/** Fields of package.json that are not published. */
const OF_CHECKOUT = ['private', 'scripts', 'allowScripts', 'dependencies', 'devDependencies'];

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

/** The packed package.json. */
export function packedManifest(env: NodeJS.ProcessEnv): Record<string, unknown> {
  const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  for (const key of OF_CHECKOUT) delete manifest[key];
  return { ...manifest, ...originOf(env) };
}

/** Returns the path of the tarball. A copy is packed, so that no failure leaves a changed file in the checkout. */
export function pack(output: string, env: NodeJS.ProcessEnv): string {
  const manifest = packedManifest(env);
  const copy = mkdtempSync(join(tmpdir(), 'pack-'));
  try {
    execFileSync(process.execPath, [join(ROOT, 'scripts/build.ts'), join(copy, 'dist')], { cwd: ROOT, env });
    const others = (manifest['files'] as string[]).filter((name) => name !== 'dist' && !name.startsWith('!'));
    for (const name of [...others, 'README.md', 'LICENSE'])
      cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    writeFileSync(join(copy, 'package.json'), textOf(manifest));
    mkdirSync(output, { recursive: true });
    const options = ['pack', '--silent', '--pack-destination', resolve(output)];
    return join(output, execFileSync('npm', options, { cwd: copy, encoding: 'utf8' }).trim());
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function textOf(manifest: object): string {
  return `${JSON.stringify(manifest, undefined, 2)}\n`;
}

/** Before `npm pack` reads the files. First restores the manifest that a failed one left. */
function replaceManifest(): void {
  restoreManifest();
  execFileSync(process.execPath, [join(ROOT, 'scripts/build.ts')], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const { prepack, postpack } = JSON.parse(readFileSync(MANIFEST, 'utf8')).scripts;
  // If npm was killed before --after, the --before of the next `npm pack` puts the manifest back.
  const packed = textOf({ ...packedManifest(process.env), scripts: { prepack, postpack } });
  copyFileSync(MANIFEST, KEPT);
  writeFileSync(MANIFEST, packed);
}

function restoreManifest(): void {
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST);
}

if (import.meta.main) {
  const [what] = process.argv.slice(2);
  if (what === undefined) throw new Error('expected a folder');
  if (what === '--before') replaceManifest();
  else if (what === '--after') restoreManifest();
  else process.stdout.write(`${pack(resolve(what), process.env)}\n`);
}
