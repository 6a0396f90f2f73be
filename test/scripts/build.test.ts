import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundledPackages } from '../../scripts/lockfile.ts';
import { pack } from '../../scripts/pack.ts';
import { temporaryFolder } from '../support/files/files.ts';
import { ask } from '../support/network/ask.ts';
import { portOf, start } from '../support/programs/program.ts';

const ROOT = join(import.meta.dirname, '../..');
const { version, dependencies }: { version: string; dependencies: Record<string, string> } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);

/** Used by the build, and in a checkout. */
const RENDERER = ['github-slugger', 'marked'];

/** What may be in the package. Tests, sources, internals and local files are not. */
const PACKED = [
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|config\.example\.yaml|config\.schema\.json)$/,
  /^dist\/[\w./-]+\.(js|json|txt|html|png)$/,
  /^deploy\/[\w./-]+\.(ya?ml|json|service|conf|libsonnet|md|tmpl)$/,
];

const NEEDED = [
  ...['README.md', 'LICENSE', 'CHANGELOG.md', 'config.example.yaml', 'dist/docs/index.html', 'dist/LICENSES.txt'],
  ...['deploy/prometheus/rules.yaml', 'deploy/grafana/dashboards/beaconchain-fleet.json'],
  'deploy/systemd/beaconchain-exporter.service',
];

const DEMO = ['demo', '--web.listen-address=127.0.0.1:0', '--sandbox.listen-address=127.0.0.1:0', '--log.format=json'];

describe('scripts/build', () => {
  const repository = { GITHUB_SERVER_URL: 'https://git.example', GITHUB_REPOSITORY: 'some-one/exporter' };
  const env = { ...process.env, ...repository, REVISION: 'abc' };
  const folder = temporaryFolder();
  const dist = join(folder, 'dist');
  const main = join(dist, 'main.js');
  const files = (): string[] => readdirSync(join(dist, 'program')).filter((file) => file.endsWith('.js'));

  beforeAll(() => {
    execFileSync(process.execPath, [join(ROOT, 'scripts/build.ts'), dist], { cwd: ROOT, env });
    copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  });

  it('loads no package that only other commands need', () => {
    const script = `
      import { registerHooks } from 'node:module';
      const files = [];
      const load = (url, context, next) => { files.push(url); return next(url, context); };
      registerHooks({ load });
      process.argv = [process.argv[0], ${JSON.stringify(main)}, '--version'];
      process.on('exit', () => process.stderr.write(JSON.stringify({ files, modules: process.moduleLoadList })));
      await import(${JSON.stringify(main)});`;
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    const { files: loaded, modules } = JSON.parse(stderr) as { files: string[]; modules: string[] };
    const maps = loaded.filter((url) => url.endsWith('.js')).map((url) => readFileSync(new URL(`${url}.map`), 'utf8'));
    const packages = bundledPackages().filter((name) => maps.some((map) => map.includes(`/node_modules/${name}/`)));
    expect(packages).toEqual(['negotiator', 'pino', 'prom-client', 'undici', 'yaml', 'zod']);
    // node:http as a module brings Node's own copy of undici.
    expect(modules).toContain('NativeModule http');
    expect(modules.join('\n')).not.toContain('internal/deps/undici');
  });

  it('serves the documentation as built pages, without the renderer', async () => {
    const demo = start(process.execPath, [main, ...DEMO]);
    const port = await portOf(demo);
    expect((await ask(port, '/docs/alerts')).body.toString()).toContain('<h3 id="beaconchainmachineoffline">');
    expect((await ask(port, '/docs/')).body.toString()).toContain('<a href="alerts">Alerts</a>');
    expect((await ask(port, '/docs/images/fleet.png')).status).toBe(200);
    const maps = files().map((file) => readFileSync(join(dist, 'program', `${file}.map`), 'utf8'));
    expect(maps.filter((map) => /node_modules\/(marked|github-slugger)\//.test(map))).toEqual([]);
  });

  it('contains the licence of each package', () => {
    const licences = readFileSync(join(dist, 'LICENSES.txt'), 'utf8');
    const bundled = bundledPackages().filter((name) => !RENDERER.includes(name));
    for (const name of bundled) expect(licences).toContain(`${name} ${dependencies[name]} (`);
  });

  it('is packed with deploy/, byte for byte as built, and depends on no package', () => {
    const work = temporaryFolder();
    execFileSync('tar', ['-xzf', pack(work, env), '-C', work]);
    const packed = join(work, 'package');
    const all = readdirSync(packed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const names = all.map((entry) => relative(packed, join(entry.parentPath, entry.name)));
    expect(names.filter((name) => !PACKED.some((pattern) => pattern.test(name)))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(NEEDED));
    const builtNames = names.filter((name) => name.startsWith('dist/'));
    for (const name of builtNames)
      expect(readFileSync(join(packed, name)).equals(readFileSync(join(folder, name))), name).toBe(true);
    const manifest = JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8'));
    expect(manifest.repository.url).toBe('git+https://git.example/some-one/exporter.git');
    const keys = ['private', 'scripts', 'dependencies', 'devDependencies'];
    expect(Object.keys(manifest).filter((key) => keys.includes(key))).toEqual([]);
    const program = join(packed, 'dist/main.js');
    expect(statSync(program).mode & 0o111).not.toBe(0);
    const { stdout, stderr } = spawnSync(process.execPath, [program, '--version'], { cwd: packed, encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: `beaconchain-exporter ${version} (abc)\n`, stderr: '' });
  });
});
