// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a config names a variable.
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/sources/registry.ts';
import { temporaryFolder } from '../support/files/files.ts';
import { refusal, withConfig } from './with-config.ts';

function keyFile(text: string): string {
  const file = join(temporaryFolder(), 'key');
  writeFileSync(file, text);
  return file;
}

it.each([{}, { BEACONCHAIN_API_KEY: '' }])('says how to give a key if there is none: %j', async (env) => {
  const lines = [expect.stringMatching(/^no API key: set .* --config[.]file names; the demo command needs no key$/)];
  expect(await refusal(loadConfig({ env }))).toEqual(lines);
  expect(await refusal(withConfig('log: {level: info}', { env }))).toEqual(lines);
});

it.each([
  ['from the file', 'api: {key: from-file}', {}, 'from-file'],
  ['from a variable that the file names', 'api: {key: "${MY_KEY}"}', { MY_KEY: 'mine' }, 'mine'],
  [
    'from a key file, without the end of its line',
    `api: {key_file: ${keyFile('key-from-file\r\n\n')}}`,
    {},
    'key-from-file',
  ],
  ['from the environment, before the file', 'api: {key: from-file}', { BEACONCHAIN_API_KEY: 'env' }, 'env'],
  [
    'from the key file of the environment, before the file',
    'api: {key_file: missing}',
    { BEACONCHAIN_API_KEY_FILE: keyFile(' env-file\n'), BEACONCHAIN_API_KEY: '' },
    'env-file',
  ],
  ['from the environment, before a key file', 'api: {key_file: missing}', { BEACONCHAIN_API_KEY: 'env' }, 'env'],
  ['from the file if the variable is empty', 'api: {key: from-file}', { BEACONCHAIN_API_KEY: '' }, 'from-file'],
  ['without the spaces around it', 'api: {key: " from-file\\n"}', {}, 'from-file'],
])('takes the key %s', async (_case, text, env, key) => {
  expect((await withConfig(text, { env })).key).toBe(key);
});

it('refuses key and key_file in one file, even with a key in the environment', async () => {
  expect(await refusal(withConfig('api: {key: a, key_file: b}', { env: { BEACONCHAIN_API_KEY: 'env' } }))).toEqual([
    'config.yaml:1: api.key_file: api.key is set too, expected only one of the two',
  ]);
});

it.each([
  [{ BEACONCHAIN_API_KEY: 'env' }, 'BEACONCHAIN_API_KEY is set too, expected only one of the two'],
  [
    {},
    'the file cannot be read: no such file; its name is not shown, because it may be the key, which belongs in api.key',
  ],
])('refuses the key file of the environment: %j', async (env, message) => {
  const given = { ...env, BEACONCHAIN_API_KEY_FILE: 's3cret' };
  expect(await refusal(loadConfig({ env: given }))).toEqual([`BEACONCHAIN_API_KEY_FILE: ${message}`]);
  expect((await loadConfig({ env: given, keyless: true })).key).toBe('');
});

it('refuses a key file that cannot be read or holds no key, and shows its name only if that is a path', async () => {
  const [large, words, empty] = [keyFile(''), keyFile('secret key'), keyFile(' \n')];
  truncateSync(large, 2 ** 30);
  const key = 'an API key of printable ASCII characters without spaces';
  for (const [file, line] of [
    [
      's3cret',
      'the file cannot be read: no such file; its name is not shown, because it may be the key, which belongs in api.key',
    ],
    ['/run/no/s3cret', 'the file /run/no/s3cret cannot be read: no such file'],
    ['"."', 'the file cannot be read: it is a directory'],
    [large, `the file ${large} cannot be read: it has more than 16 MiB, expected a smaller file`],
    [words, `expected ${words} to contain ${key}`],
    [empty, `expected ${empty} to contain ${key}; it is empty`],
  ])
    expect(await refusal(withConfig(`api: {key_file: ${file}}`, { env: {} }))).toEqual([
      `config.yaml:1: api.key_file: ${line}`,
    ]);
});

it.each(['s3c\u200bret', 's3cret\u00a0s3cret', 's3cret\ns3cret'])(
  'shows the invisible characters of %j and nothing else',
  async (text) => {
    const [character = ''] = /[^\w]/.exec(text) ?? [];
    const shown = { '\u200b': '\\u200b', '\u00a0': '\\u00a0', '\n': '\\n' }[character];
    const rule = `an API key of printable ASCII characters without spaces; it contains "${shown}", which cannot be seen`;
    const [variable, file] = [{ BEACONCHAIN_API_KEY: text }, keyFile(text)];
    expect(await refusal(loadConfig({ env: variable }))).toEqual([`BEACONCHAIN_API_KEY: expected ${rule}`]);
    expect(await refusal(loadConfig({ env: { BEACONCHAIN_API_KEY_FILE: file } }))).toEqual([
      `BEACONCHAIN_API_KEY_FILE: expected ${file} to contain ${rule}`,
    ]);
    const path = { BEACONCHAIN_API_KEY_FILE: `${file}\r` };
    expect(await refusal(loadConfig({ env: path }))).toContain(
      'BEACONCHAIN_API_KEY_FILE: expected the path of a file or directory; it contains "\\r", which cannot be seen',
    );
  },
);

it('never shows an invalid key, wherever it is set', async () => {
  const files = [
    'api: {key: "s3cret key"}',
    'api: {key: s3cret-ü}',
    'api: {key: [s3cret]}',
    'api: s3cret',
    'api: {key_file: s3cret}',
    'api: {key: s3cret: x}',
    'api:\n  key: "s3cret\n',
    'api:\n  key: @s3cret\n',
    'api:\n  key: *s3cret\n',
    'api:\n  key: !s3cret\n',
    'api: {key: "${s3cret-x}"}',
    'api: {base_url: "https://s3cret@beaconcha.in", timeout: "${KEY}"}',
    's3cret',
  ];
  for (const text of files) {
    const lines = await refusal(withConfig(text, { env: { KEY: 's3cret' } }));
    expect(lines.join('\n'), text).not.toContain('s3cret');
  }
  expect(await refusal(loadConfig({ env: { BEACONCHAIN_API_KEY: 's3cret key' } }))).toEqual([
    'BEACONCHAIN_API_KEY: expected an API key of printable ASCII characters without spaces',
  ]);
});

it.each(['"s3cret"', 'BEACONCHAIN_API_KEY=s3cret'])(
  'refuses a key with quotes or a variable name: %s',
  async (text) => {
    const message = 'only the key, without quotes and without a variable name';
    expect(await refusal(loadConfig({ env: { BEACONCHAIN_API_KEY: text } }))).toEqual([
      `BEACONCHAIN_API_KEY: expected ${message}`,
    ]);
    expect(await refusal(withConfig('api: {key: "${KEY}"}', { env: { KEY: text } }))).toEqual([
      `config.yaml:1: api.key: expected ${message}`,
    ]);
    const file = keyFile(text);
    expect(await refusal(withConfig(`api: {key_file: ${file}}`, { env: {} }))).toEqual([
      `config.yaml:1: api.key_file: expected ${file} to contain ${message}`,
    ]);
  },
);

it.each([
  [
    ['YOUR_API_KEY', '<key>', 'your-key', '...', '$BEACONCHAIN_API_KEY', 'BEACONCHAIN_API_KEY'],
    'the API key of your account at beaconcha.in, got a placeholder',
  ],
  [
    ['/run/secrets/x', './key', 'api.key'],
    'the API key itself, got a path: set it as api.key_file or BEACONCHAIN_API_KEY_FILE',
  ],
])('refuses %j in place of a key', async (texts, expected) => {
  for (const text of texts)
    expect(await refusal(withConfig(`api: {key: "${text}"}`, { env: {} }))).toEqual([
      `config.yaml:1: api.key: expected ${expected}`,
    ]);
  for (const key of ['/cmVhbGx5L2Eva2V5', 'cunlDQS5NSsvLi4', 'xxapi_key1', 'yourk3y-Z'])
    expect((await withConfig(`api: {key: "${key}"}`, { env: {} })).key).toBe(key);
});

it('ignores the settings of the key in a command that needs none', async () => {
  for (const text of ['api: {key: "${UNSET}"}', 'api: {key_file: missing}', 'api: {key: 5, key_file: 5}']) {
    expect((await withConfig(text, { keyless: true, env: { BEACONCHAIN_API_KEY: 'a b' } })).key).toBe('');
  }
  expect(await refusal(withConfig('api: {timeout: 1, key: "${UNSET}"}', { keyless: true }))).toEqual([
    'config.yaml:1: api.timeout: expected a duration such as 30s, 5m, 1h, 31d, got 1',
  ]);
});
