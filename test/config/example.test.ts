import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { ConfigFile, loadConfig } from '../../src/sources/registry.ts';
import { configFile } from '../support/files/files.ts';
import { defaultConfig } from '../support/runs/default-config.ts';

const FILE = 'config.example.yaml';

/** Every key of the schema, at every level. */
function keysOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {} } = schema as { properties?: object };
  return [
    ...Object.keys(properties),
    ...Object.values(schema).flatMap(keysOf),
    ...Object.values(properties).flatMap(keysOf),
  ];
}

it('has exactly the defaults', async () => {
  const { config, key } = await loadConfig({ file: FILE, env: { BEACONCHAIN_API_KEY: 'secret' } });
  expect(config).toEqual(defaultConfig());
  expect(key).toBe('secret');
});

it('shows a valid setting for the state in Redis', async () => {
  const [, example = ''] = /^ {2}# (redis: .*)$/m.exec(readFileSync(FILE, 'utf8')) ?? [];
  const file = configFile(`state:\n  ${example}\n`);
  const { config } = await loadConfig({ file, env: { BEACONCHAIN_API_KEY: 'secret', REDIS_PASSWORD: 'p' } });
  expect(config.state).toMatchObject({ redis: { password: 'p', prefix: 'beaconchain' } });
});

it('names every key of the schema', () => {
  const text = readFileSync(FILE, 'utf8');
  const keys = [...new Set(keysOf(z.toJSONSchema(ConfigFile, { io: 'input', unrepresentable: 'any' })))];
  expect(keys).toEqual(expect.arrayContaining(['api', 'key_file', 'hoodi', 'per_month', 'match', 'prefix', 'format']));
  expect(keys.filter((key) => !new RegExp(`\\b${key}\\??:`).test(text))).toEqual([]);
});
