import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { copyFileSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/files/files.ts';
import { areMissing, DPKG_DEB, STRIP } from '../support/tools/tools.ts';

const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

const PROGRAM = 'usr/lib/beaconchain-exporter';
const SHARE = 'usr/share/beaconchain-exporter';
const DOC = 'usr/share/doc/beaconchain-exporter';

/** Everything in a package but what a folder of the list contains. */
const CONTENT = [
  'etc/beaconchain-exporter/api-key',
  'etc/beaconchain-exporter/config.yaml',
  'usr/bin/beaconchain-exporter',
  `${PROGRAM}/dist/`,
  `${PROGRAM}/node`,
  `${PROGRAM}/package.json`,
  'usr/lib/systemd/system/beaconchain-exporter.service',
  'usr/lib/sysusers.d/beaconchain-exporter.conf',
  `${SHARE}/alertmanager/`,
  `${SHARE}/config.example.yaml`,
  `${SHARE}/config.schema.json`,
  `${SHARE}/grafana/dashboards/`,
  `${SHARE}/grafana/provisioning/`,
  `${SHARE}/prometheus/`,
  `${DOC}/changelog.Debian.gz`,
  `${DOC}/changelog.gz`,
  `${DOC}/copyright`,
  'usr/share/lintian/overrides/beaconchain-exporter',
];

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ReturnType<typeof spawnSync> {
  return spawnSync(command, args, { encoding: 'utf8', env: { ...process.env, ...env } });
}

/** scripts/try-deb installs the real packages; here are the files of one, with the Node of this test. */
describe.skipIf(areMissing(DPKG_DEB, STRIP))('scripts/package', () => {
  const work = temporaryFolder();
  const [dist, node, tree] = [join(work, 'dist'), join(work, 'npm'), join(work, 'tree')];
  const text = (file: string): string => readFileSync(join(tree, file), 'utf8');

  function build(folder: string): string {
    const { status, stderr } = run('scripts/package', ['--tree', folder, ARCHITECTURE, dist, node]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    // Not compressed, because that takes minutes.
    const options = ['--root-owner-group', '-Znone', '--build', folder, `${folder}.deb`];
    expect(run('dpkg-deb', options, { SOURCE_DATE_EPOCH: String(statSync(folder).mtimeMs / 1000) }).status).toBe(0);
    return `${folder}.deb`;
  }

  beforeAll(() => {
    mkdirSync(join(node, 'bin'), { recursive: true });
    copyFileSync(process.execPath, join(node, 'bin/node'));
    writeFileSync(join(node, 'LICENSE'), 'The licence of Node.\n');
    expect(run(process.execPath, ['scripts/build.ts', dist]).status).toBe(0);
    build(tree);
  });

  it('contains program, Node, settings, rules and dashboards, and nothing else', () => {
    const entries = readdirSync(tree, { recursive: true, encoding: 'utf8' }).filter(
      (path) => !path.startsWith('DEBIAN'),
    );
    const files = entries.filter((path) => !lstatSync(join(tree, path)).isDirectory());
    const places = files.map((path) => CONTENT.find((place) => place.endsWith('/') && path.startsWith(place)) ?? path);
    expect([...new Set(places)].sort()).toEqual(CONTENT.toSorted());
    expect(files.filter((path) => /\.map$|\.test\.yaml$|^usr\/share.*\/demo/.test(path))).toEqual([]);
    expect(files).toContain(`${SHARE}/prometheus/rules.yaml`);
  });

  it('belongs to root, and everybody may read all files but the key', () => {
    const { stdout } = run('dpkg-deb', ['--contents', `${tree}.deb`]);
    const lines = String(stdout).trim().split('\n');
    expect(lines.filter((line) => !/^\S+ root\/root /.test(line))).toEqual([]);
    const unusual = lines.filter((line) => !/^(drwxr-xr-x|lrwxrwxrwx|-rw-r--r--) /.test(line));
    expect(unusual.map((line) => line.replace(/ .*\.\//, ' ').replace(/ root.*/, ''))).toEqual([
      '-rw-r----- etc/beaconchain-exporter/api-key',
      `-rwxr-xr-x ${PROGRAM}/dist/main.js`,
      `-rwxr-xr-x ${PROGRAM}/node`,
    ]);
  });

  it('runs with its own Node, which is stripped', () => {
    const own = join(tree, PROGRAM, 'node');
    expect(text('usr/bin/beaconchain-exporter')).toMatch(`#!/${PROGRAM}/node --disable-sigusr1\n`);
    const { stdout, stderr } = run(own, [join(tree, PROGRAM, 'dist/main.js'), '--version']);
    expect(stderr).toBe('');
    expect(stdout).toContain(`beaconchain-exporter ${version} (`);
    // xz makes a quarter of it. scripts/package refuses more than 45 MB.
    expect(statSync(own).size).toBeLessThan(120e6);
  });

  it('has the fields, the settings and the licences that Debian asks for', () => {
    const fields = ['Package', 'Version', 'Architecture', 'Depends', 'Installed-Size'];
    const { stdout } = run('dpkg-deb', ['--field', `${tree}.deb`, ...fields]);
    expect(stdout).toMatch(`Package: beaconchain-exporter\nVersion: ${version}-1\nArchitecture: ${ARCHITECTURE}\n`);
    expect(stdout).toMatch(/Depends: .*libstdc\+\+6.*systemd/);
    expect(Number(/Installed-Size: (\d+)/.exec(String(stdout))?.[1])).toBeGreaterThan(50_000);
    const settings = CONTENT.filter((path) => path.startsWith('etc/')).map((path) => `/${path}\n`);
    expect(text('DEBIAN/conffiles')).toBe(settings.join(''));
    for (const part of ['MIT License', 'The licence of Node.', 'undici 8'])
      expect(text(`${DOC}/copyright`)).toContain(part);
    const changes = gunzipSync(readFileSync(join(tree, DOC, 'changelog.gz'))).toString();
    expect(changes).toBe(readFileSync('CHANGELOG.md', 'utf8'));
  });

  it('is built for this machine by default, and for all in a release', () => {
    expect(run('scripts/package', ['--al']).stderr).toBe('unknown flag --al, expected --all\n');
    for (const workflow of ['ci', 'release'])
      expect(readFileSync(`.github/workflows/${workflow}.yml`, 'utf8')).toContain('run: npm run package -- --all');
  });

  it('has the same bytes when it is built again', () => {
    const [first, second] = [`${tree}.deb`, build(join(work, 'again'))].map((deb) => hash('sha256', readFileSync(deb)));
    expect(second).toBe(first);
  });
});
