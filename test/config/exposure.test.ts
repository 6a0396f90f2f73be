import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { temporaryFolder } from '../support/files/files.ts';

const KEY = 'a-key-of-the-test';

/** A configuration in a file of this mode, and a key file of that one. */
function files(text: string, mode: number, keyMode = 0o600): { file: string; keyFile: string } {
  const folder = temporaryFolder();
  const file = join(folder, 'config.yaml');
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, KEY);
  chmodSync(keyFile, keyMode);
  writeFileSync(file, text.replace('KEY_FILE', keyFile));
  chmodSync(file, mode);
  return { file, keyFile };
}

async function exposures(file: string, env: NodeJS.ProcessEnv = {}, keyless = false): Promise<string[]> {
  const { warnings } = await loadConfig({ file, env, keyless });
  return warnings.map(({ path, message }) => `${path}: ${message}`);
}

function readable(setting: string, file: string): string {
  return `api.${setting}: other users can read ${file}, which contains the key: chmod o-rwx, or defaultMode: 0440 for a Kubernetes volume`;
}

describe('config/exposure', () => {
  it.each([0o604, 0o644])('reports a key file of mode %o', async (mode) => {
    const { file, keyFile } = files('api: {key_file: KEY_FILE}', 0o644, mode);
    expect(await exposures(file)).toEqual([readable('key_file', keyFile)]);
  });

  it.each([0o600, 0o640])(
    'has nothing against one of mode %o: a group is how a pod or a service is given its key',
    async (mode) => {
      const { file } = files('api: {key_file: KEY_FILE}', 0o644, mode);
      expect(await exposures(file)).toEqual([]);
    },
  );

  it('reports a configuration with a key in it, even if a variable overrides the key', async () => {
    const { file } = files(`api: {key: ${KEY}}`, 0o644);
    const told = [readable('key', file)];
    expect(await exposures(file)).toEqual(told);
    expect(await exposures(file, { BEACONCHAIN_API_KEY: 'another' })).toEqual(told);
    chmodSync(file, 0o640);
    expect(await exposures(file)).toEqual([]);
  });

  it('reports neither a configuration that names a variable, nor a program that needs no key', async () => {
    const { file } = files(`api: {key: '\${THE_KEY}', base_url: 'http://cache.invalid'}`, 0o644);
    expect(await exposures(file, { THE_KEY: KEY }, true)).toEqual([]);
    writeFileSync(file, `api: {key: '\${THE_KEY}'}`);
    expect(await exposures(file, { THE_KEY: KEY })).toEqual([]);
  });

  it('reports each host that gets the key in clear text', async () => {
    const { file } = files(
      `api: {base_url: 'http://cache.invalid:8080/api'}\nchains: {mainnet: {}, hoodi: {v1_base_url: 'http://localhost.invalid'}}`,
      0o644,
    );
    expect(await exposures(file, { BEACONCHAIN_API_KEY: KEY })).toEqual([
      ...['api.base_url', 'chains.hoodi.v1_base_url'].map(
        (setting) => `${setting}: the API key is sent without encryption: use https, or a proxy on this machine`,
      ),
    ]);
  });

  it.each(['http://localhost:1', 'http://127.8.9.1:80', 'http://[::1]:1', 'https://cache.invalid'])(
    'has nothing against %s',
    async (url) => {
      const { file } = files(`api: {base_url: '${url}'}`, 0o644);
      expect(await exposures(file, { BEACONCHAIN_API_KEY: KEY })).toEqual([]);
    },
  );
});
