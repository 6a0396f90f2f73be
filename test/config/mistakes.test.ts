// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a config names a variable.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/sources/registry.ts';
import { temporaryFolder } from '../support/files/files.ts';
import { MISTAKEN } from './mistaken-configs.ts';
import { refusal, withConfig } from './with-config.ts';

it.each(Object.entries(MISTAKEN))('config/mistakes: reports every mistake in %s', async (_, { text, lines }) => {
  const told = await refusal(withConfig(text));
  expect(told).toEqual(lines.map((line) => `config.yaml${line}`));
});

it.each([
  [
    'state: {redis: {url: "redis://a", password: "${SECRET}"}}',
    ':1: state.redis.password: expected a password without line breaks, as `printf %s` writes it into the variable or Secret; it contains "\\n", which cannot be seen, see ${SECRET}',
  ],
  [
    'api: {key: "s3c\\u200bret"}',
    ':1: api.key: expected an API key of printable ASCII characters without spaces; it contains "\\u200b", which cannot be seen',
  ],
  [
    'api: {base_url: "https://a\\u00a0"}',
    ':1: api.base_url: expected a URL that begins with http:// or https://, without credentials, query or fragment; it contains "\\u00a0", which cannot be seen',
  ],
  [
    'state: {dir: "/var/lib/x\\r"}',
    ':1: state.dir: expected the path of a file or directory; it contains "\\r", which cannot be seen',
  ],
  [
    'api: {key_file: "s3cret\\ufeff"}',
    ':1: api.key_file: expected the path of a file or directory; it contains "\\ufeff", which cannot be seen',
  ],
  ['log: {level: "info\\u00a0"}', ':1: log.level: expected debug, info, warn or error, got "info\\u00a0"'],
  [
    'web: {listen_address: ["0.0.0.0:1", "[::]:1"]}',
    ':1: web.listen_address: 0.0.0.0:1 and [::]:1 overlap, because an address without a host and [::] take IPv4 too: expected only one of them',
  ],
  [
    'web: {listen_address: [":1", "[::1]:1", "[::1]:2"]}',
    ':1: web.listen_address: :1 and [::1]:1 overlap, because an address without a host and [::] take IPv4 too: expected only one of them',
  ],
])('config/mistakes: names the invisible character or the addresses that overlap: %s', async (text, line) => {
  const env = { SECRET: 's3cret\n', ...(text.includes('key') ? {} : { BEACONCHAIN_API_KEY: 'key' }) };
  expect(await refusal(withConfig(text, { env }))).toEqual([`config.yaml${line}`]);
});

it.each([
  [':0', '127.0.0.1:0'],
  ['0.0.0.0:1', '[::1]:1', '[::1]:2'],
  ['127.0.0.1:1', '127.0.0.2:1'],
])('config/mistakes: accepts %s and other addresses that do not overlap', async (...addresses) => {
  await withConfig(JSON.stringify({ web: { listen_address: addresses } }));
});

it('refuses a file that is not UTF-8: no name in it would match', async () => {
  const file = join(temporaryFolder(), 'latin-1');
  writeFileSync(file, 'machines: {exclude: [m\u00fcller]}', 'latin1');
  const why = 'cannot be read: it is not UTF-8: save it as UTF-8';
  const env = { BEACONCHAIN_API_KEY: 'key' };
  expect(await refusal(loadConfig({ file, env }))).toEqual([`${file}: ${why}`]);
  const inside = `api: {key_file: ${file}}\nvalidators: {watch_files: [${file}]}\nweb: {config_file: ${file}}`;
  expect(await refusal(withConfig(inside, { env: {} }))).toEqual([
    `config.yaml:1: api.key_file: the file ${file} ${why}`,
    `config.yaml:2: validators.watch_files[0]: the file ${file} ${why}`,
    `config.yaml:3: web.config_file: the file ${file} ${why}`,
  ]);
});
