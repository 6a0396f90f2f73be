import { expect, it } from 'vitest';
import { findProxies } from '../../src/config/load.ts';
import { loadConfig } from '../../src/sources/registry.ts';

const KEY = { BEACONCHAIN_API_KEY: 'key' };

it.each([
  [{ HTTPS_PROXY: 'http://proxy.test:3128' }, { https: 'http://proxy.test:3128/' }],
  [{ https_proxy: 'http://small.test', HTTPS_PROXY: 'http://large.test' }, { https: 'http://small.test/' }],
  // Compose passes unset variables as empty ones.
  [{ https_proxy: '', HTTPS_PROXY: 'http://large.test', NO_PROXY: '' }, { https: 'http://large.test/' }],
  [
    { NO_PROXY: 'localhost, .test', HTTPS_PROXY: 'http://a' },
    { https: 'http://a/', except: 'localhost, .test' },
  ],
  [
    { no_proxy: 'a', NO_PROXY: 'b', HTTPS_PROXY: 'http://a' },
    { https: 'http://a/', except: 'a' },
  ],
  [{ HTTPS_PROXY: 'proxy.test:3128' }, { https: 'http://proxy.test:3128/' }],
  [{ HTTPS_PROXY: 'user:p%40ss@proxy.test:3128' }, { https: 'http://user:p%40ss@proxy.test:3128/' }],
])('reads %j', (env: Record<string, string>, proxies: object) => {
  expect(findProxies(env)).toEqual({ proxies: { http: '', https: '', except: '', ...proxies }, findings: [] });
});

it.each([{}, { NO_PROXY: '*' }, { HTTPS_PROXY: '', http_proxy: '' }])('finds no proxy in %j', async (env) => {
  expect(findProxies(env)).toEqual({ proxies: undefined, findings: [] });
  expect((await loadConfig({ env: { ...KEY, ...env } })).proxies).toBeUndefined();
});

it.each([
  'socks5://user:S3cret@proxy.test',
  'http://S3cret%zz@proxy.test',
  'http://user:12#S3cret@proxy.test:3128',
  'user:12?S3cret@proxy.test',
])('refuses %s, without showing it', async (value) => {
  for (const name of ['HTTPS_PROXY', 'http_proxy']) {
    const refusal = await loadConfig({ env: { ...KEY, [name]: value } }).catch((error: Error) => error.message);
    expect(refusal).toBe(
      `${name}: expected the URL of an HTTP proxy such as http://proxy.example:3128, with user and password percent-encoded`,
    );
  }
});

it('reports an invalid proxy beside other mistakes, except in a command that sends no requests', async () => {
  const env = { HTTPS_PROXY: 'socks5://proxy.test', BEACONCHAIN_API_KEY: 'a key' };
  const refusal = await loadConfig({ env }).catch((error: Error) => error.message);
  expect(refusal).toMatch(/^BEACONCHAIN_API_KEY: .*\nHTTPS_PROXY: /);
  expect((await loadConfig({ env, keyless: true })).proxies).toBeUndefined();
});
