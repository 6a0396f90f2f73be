import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/files/files.ts';
import { listen } from '../support/network/listen.ts';

const isRootOnLinux = process.platform === 'linux' && process.getuid?.() === 0;

/** A root folder as the Dockerfile makes it. */
function makeRoot(): string {
  const [root, context] = [temporaryFolder(), temporaryFolder()];
  chmodSync(root, 0o755);
  for (const file of ['docs', 'package.json', 'config.example.yaml', 'LICENSE']) {
    cpSync(file, join(context, file), { recursive: true });
  }
  run(process.execPath, [resolve('scripts/build.ts'), join(context, 'dist')]);
  run(resolve('scripts/image-root'), [root], {
    cwd: context,
    env: { PATH: process.env['PATH'], NODE: process.execPath, NODE_LICENSE: resolve('LICENSE') },
  });
  return root;
}

function run(command: string, args: readonly string[], options: Parameters<typeof spawnSync>[2] = {}): string {
  const { status, stdout, stderr } = spawnSync(command, [...args], { encoding: 'utf8', ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return `${stdout}`;
}

describe('the image', () => {
  it('contains only what the build copies into an empty file system', () => {
    const [, last = ''] = readFileSync('Dockerfile', 'utf8').split('\nFROM scratch\n');
    expect(last).toMatch(/^COPY --from=build \/image \/$/m);
    expect(last).not.toMatch(/^RUN|^COPY (?!--from=build )|^ADD/m);
  });

  it.each([
    ['healthy', 200, 0],
    ['not healthy', 503, 1],
    ['healthy if it wants a password, which nobody can give to the health check', 401, 0],
  ])('is %s with status %i', async (_, status, code) => {
    const port = await listen(createServer((_request, response) => response.writeHead(status).end()));
    const [, text = ''] = /HEALTHCHECK[^[]*(.*)/.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
    const [, ...args] = JSON.parse(text.replace('10032', String(port)));
    // A proxy for requests to the service does not reach the loopback of the container.
    const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:1' };
    expect(await once(spawn(process.execPath, args, { env }), 'exit')).toEqual([code, null]);
  });

  it.runIf(isRootOnLinux)('runs the program as its user without any other file', () => {
    const root = makeRoot();
    const inside = (...command: string[]) =>
      spawnSync('chroot', ['--userspec=1000:1000', root, ...command], {
        encoding: 'utf8',
        env: { PATH: `${process.env['PATH']}:/usr/sbin` },
      });
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(inside('/usr/local/bin/beaconchain-exporter', '--version').stdout).toContain(
      `beaconchain-exporter ${version}`,
    );
    expect(inside('/bin/cat', '/etc/passwd').stdout).toContain('node:x:1000:');
    expect(readdirSync(join(root, 'bin')).sort()).toEqual(['cat', 'ls', 'rm']);
    expect(readdirSync(join(root, 'usr/local/bin')).sort()).toEqual(['beaconchain-exporter', 'node']);
    expect(readFileSync(join(root, 'usr/share/doc/node/copyright'), 'utf8')).toBe(readFileSync('LICENSE', 'utf8'));
    expect(readdirSync(join(root, 'app/dist/program')).filter((file) => !file.endsWith('.js'))).toEqual([]);
    // The kernel writes no core file for the user of a program that this user cannot read.
    expect(inside('/bin/cat', '/usr/local/bin/node').stderr).toContain('Permission denied');
  });
});
