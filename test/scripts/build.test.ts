import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundledPackages } from '../../scripts/lockfile.ts';
import { temporaryFolder } from '../support/files.ts';

const ROOT = join(import.meta.dirname, '../..');
const { version, devDependencies }: { version: string; devDependencies: Record<string, string> } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);

describe('scripts/build', () => {
  const folder = temporaryFolder();
  const dist = join(folder, 'dist');
  const main = join(dist, 'main.js');
  const files = (): string[] => readdirSync(join(dist, 'program')).filter((file) => file.endsWith('.js'));

  beforeAll(() => {
    const env = { ...process.env, REVISION: 'abc' };
    execFileSync(process.execPath, [join(ROOT, 'scripts/build.ts'), dist], { cwd: ROOT, env });
    copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  });

  it('makes a program that runs without its packages', () => {
    const text = execFileSync(process.execPath, [main, '--version'], { cwd: folder, encoding: 'utf8' });
    expect(text).toBe(`beaconchain-exporter ${version} (abc)\n`);
  });

  it('loads nothing for another command than the one that runs', () => {
    const script = `
      process.argv = [process.argv[0], ${JSON.stringify(main)}, '--version'];
      process.on('exit', () => process.stderr.write(process.moduleLoadList.join('\\n')));
      await import(${JSON.stringify(main)});`;
    const loaded = execFileSync('bash', ['-c', '"$0" --input-type=module -e "$1" 2>&1', process.execPath, script], {
      encoding: 'utf8',
    });
    // node:http as a module brings Node's own copy of undici; the other two belong to packages that are loaded in part.
    expect(loaded).toContain('NativeModule http\n');
    expect(loaded).not.toMatch(/internal\/deps\/undici|NativeModule (http2|cluster)$/m);
  });

  it('contains the licence of each package', () => {
    const licences = readFileSync(join(dist, 'LICENSES.txt'), 'utf8');
    for (const name of bundledPackages()) expect(licences).toContain(`${name} ${devDependencies[name]} (`);
  });

  it('has a source map for each file, which leads to the sources', () => {
    for (const file of files()) {
      const map = JSON.parse(readFileSync(join(dist, 'program', `${file}.map`), 'utf8'));
      expect(map.version).toBe(3);
    }
    const maps = files().map((file) => readFileSync(join(dist, 'program', `${file}.map`), 'utf8'));
    expect(maps.some((map) => map.includes('src/commands/run.ts'))).toBe(true);
  });
});
