// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a config names a variable.
import { expect, it } from 'vitest';
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
