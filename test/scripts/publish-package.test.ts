import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/files.ts';
import { listen } from '../support/listen.ts';

const SCRIPT = resolve('scripts/publish-package');
const ID_TOKEN = ['e30', Buffer.from('{"repository_visibility":"private"}').toString('base64url'), 'x'].join('.');

interface Asked {
  readonly line: string;
  readonly authorization: string | undefined;
}

/** A registry that trusts the workflow whose identity it is shown, and the service that gives that identity. */
class Registry {
  readonly asked: Asked[] = [];
  document: unknown;
  readonly #server = createServer(async (request, response) => {
    const answer = await this.#answer(request);
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { error: 'not found' }));
  });

  async listen(): Promise<string> {
    return `http://127.0.0.1:${await listen(this.#server)}`;
  }

  async #answer(request: IncomingMessage): Promise<unknown> {
    const { method, url = '', headers } = request;
    const line = `${method} ${url}`;
    this.asked.push({ line, authorization: headers.authorization });
    const body = await text(request);
    if (line.startsWith('GET /identity')) return { value: ID_TOKEN };
    if (line.includes('/oidc/token/exchange/package/')) return { token: 'short-lived' };
    if (line === 'PUT /some-package') {
      this.document = JSON.parse(body);
      return { ok: true };
    }
    return line.startsWith('GET /some-package') ? this.document : undefined;
  }
}

/** Packs a package with this file. */
function tarball(content: string): string {
  const folder = join(temporaryFolder(), 'some-package');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"name": "some-package", "version": "1.2.3"}');
  writeFileSync(join(folder, 'index.js'), content);
  expect(spawnSync('npm', ['pack', '--silent'], { cwd: folder, encoding: 'utf8' }).status).toBe(0);
  return join(folder, 'some-package-1.2.3.tgz');
}

/** Runs the script as the workflow does: with an identity to ask for, and without any token for npm. */
async function publish(url: string, file: string): Promise<{ code: number | null; output: string }> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'npmrc'), '');
  const child = spawn('bash', [SCRIPT, file], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      NPM_CONFIG_USERCONFIG: join(folder, 'npmrc'),
      NPM_CONFIG_REGISTRY: url,
      NPM_CONFIG_CACHE: join(folder, 'cache'),
      NPM_CONFIG_FETCH_RETRIES: '0',
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      ACTIONS_ID_TOKEN_REQUEST_URL: `${url}/identity`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job',
    },
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, output: stdout + stderr };
}

const [major = 0, minor = 0] = spawnSync('npm', ['--version'], { encoding: 'utf8' }).stdout.split('.').map(Number);

// Trusted publishing needs npm 11.5.1.
describe.skipIf(major < 11 || (major === 11 && minor < 6))('scripts/publish-package', () => {
  it('publishes with the identity of the workflow, and no second time', async () => {
    const registry = new Registry();
    const url = await registry.listen();
    const file = tarball('first');
    expect(await publish(url, file)).toMatchObject({ code: 0 });
    const writes = registry.asked.filter(({ line }) => !line.startsWith('GET /some-package'));
    expect(writes).toEqual([
      { line: 'GET /identity?audience=npm%3A127.0.0.1', authorization: 'Bearer of-the-job' },
      { line: 'POST /-/npm/v1/oidc/token/exchange/package/some-package', authorization: `Bearer ${ID_TOKEN}` },
      { line: 'PUT /some-package', authorization: 'Bearer short-lived' },
    ]);

    const again = await publish(url, file);
    expect(again).toMatchObject({ code: 0, output: expect.stringContaining('is published already, with these bytes') });
    const other = await publish(url, tarball('second'));
    expect(other).toMatchObject({ code: 1, output: expect.stringContaining('with other bytes') });
    expect(registry.asked.filter(({ line }) => line.startsWith('PUT'))).toHaveLength(1);
  });
});
