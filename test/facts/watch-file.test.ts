import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readWatchFile } from '../../src/facts/watch-file.ts';
import { loadConfig } from '../../src/sources/registry.ts';
import { refusal } from '../config/with-config.ts';
import { configFile, temporaryFolder } from '../support/files/files.ts';

const KEY = `0x${'8a3f12bc'.repeat(12)}`;
const BARE = KEY.slice(2).toUpperCase();
const deposits = (...keys: unknown[]): string =>
  JSON.stringify(
    keys.map((pubkey) => ({ pubkey, amount: 32e9 })),
    null,
    1,
  );

async function read(text: string, chains = 1) {
  const file = join(temporaryFolder(), 'keys.txt');
  writeFileSync(file, text);
  const { content, findings } = await readWatchFile(file, chains);
  return {
    items: content.items,
    lines: findings.map(({ place, message }) => `${place?.slice(file.length)} ${message}`),
  };
}

const EXPECTED =
  'expected a validator index such as 12345, a range such as "20000-20099", or a public key of 0x and 96 hexadecimal digits';
const DEPOSITS = 'expected a list of objects with a pubkey of 96 hexadecimal digits, as in deposit_data-*.json';

describe('facts/watch-file', () => {
  it.each([
    ['lines', `# mine\n\n12345 # the first\r\n20000-20099\n${KEY}\n${BARE}`],
    ['a byte order mark', `\uFEFF12345\n20000-20099\n${BARE}\n${KEY}\n`],
  ])('accepts %s with indices, ranges, and keys of any case, with or without 0x', async (_, text) => {
    const items = [{ first: 12_345, last: 12_345 }, { first: 20_000, last: 20_099 }, { key: KEY }, { key: KEY }];
    expect(await read(text)).toEqual({ items, lines: [] });
  });

  it('accepts the JSON of the deposit tool, with or without 0x', async () => {
    expect(await read(deposits(BARE, KEY))).toEqual({ items: [{ key: KEY }, { key: KEY }], lines: [] });
  });

  it.each<[string, string, string[], number?]>([
    ['an empty file', '# later\n', [' no validator, expected one index, range or public key a line']],
    ['a file without deposits', '[]', [' no validator, expected one index, range or public key a line']],
    [
      'wrong lines',
      `5\nfive\n9-3\n${KEY}0\n`,
      [
        `:2 ${EXPECTED}, got "five"`,
        ':3 the start of the range is larger than its end',
        `:4 expected a public key of 0x and 96 hexadecimal digits, not 97 digits, got ${JSON.stringify(`${KEY.slice(0, 60)}...`)}`,
      ],
    ],
    [
      'the first ten of many wrong lines',
      'x\n'.repeat(99),
      Array.from({ length: 10 }, (_, i) => `:${i + 1} ${EXPECTED}, got "x"`),
    ],
    [
      'deposits without a key',
      deposits(BARE, undefined, '5', `${KEY}0`, 5),
      [2, 3, 4, 5].map((entry) => `, entry ${entry} ${DEPOSITS}`),
    ],
    ['a keystore', '{"pubkey": "ab"}', [` ${DEPOSITS}`]],
    ['JSON that is cut', deposits(BARE).slice(0, -3), [` not valid JSON, ${DEPOSITS}`]],
    ['an index without a chain', `5\n${KEY}`, [':1 expected a public key, because several chains are configured'], 2],
  ])('names the line and what is expected: %s', async (_, text, lines, chains) => {
    expect((await read(text, chains)).lines).toEqual(lines);
  });
});

describe('validators.watch_files', () => {
  const folder = temporaryFolder();
  const load = (text: string) => loadConfig({ file: configFile(text, folder), env: { BEACONCHAIN_API_KEY: 'key' } });

  it('are relative to the config file, and add to watch', async () => {
    writeFileSync(join(folder, 'mine.txt'), `7\n${KEY}\n`);
    writeFileSync(join(folder, 'deposit_data-1.json'), deposits(BARE));
    const { config } = await load('validators: {watch: [5], watch_files: [mine.txt, deposit_data-1.json]}');
    expect(config.validators).toMatchObject({
      watch: {
        mainnet: [
          { first: 5, last: 5 },
          { first: 7, last: 7 },
        ],
      },
      keys: { mainnet: [KEY], hoodi: [] },
      enabled: true,
    });
  });

  it('need no chain if they contain only keys', async () => {
    const text = `chains: {mainnet: {}, hoodi: {}}\nvalidators: {watch: [${KEY}], watch_files: [deposits.json]}`;
    writeFileSync(join(folder, 'deposits.json'), deposits(BARE));
    const { config } = await load(text);
    expect(config.validators).toMatchObject({ keys: { mainnet: [KEY], hoodi: [KEY] }, anywhere: [KEY] });
    writeFileSync(join(folder, 'deposits.json'), '5');
    expect(await refusal(load(text))).toEqual([
      expect.stringMatching(/deposits.json:1: expected a public key, because/),
    ]);
  });

  it('are refused with all mistakes of all files at once', async () => {
    writeFileSync(join(folder, 'bad.txt'), '1\nx\n');
    const lines = await refusal(load('validators:\n  watch_files: [bad.txt, gone.txt, "."]\n  interval: 1x'));
    const at = join(folder, 'bad.txt');
    expect(lines.map((line) => line.replace(/^\S*config\S*?:/, 'config:'))).toEqual([
      `config:2: validators.watch_files[1]: the file ${join(folder, 'gone.txt')} cannot be read: no such file`,
      `config:2: validators.watch_files[2]: the file ${folder} cannot be read: it is a directory`,
      expect.stringMatching(/^config:3: validators.interval: expected a duration/),
      `${at}:2: ${EXPECTED}, got "x"`,
    ]);
  });
});
