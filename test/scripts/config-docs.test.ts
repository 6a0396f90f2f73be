// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a config names a variable.
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { GENERATED, RARE } from '../../scripts/config-docs.ts';
import { configSchema, type JsonSchema, plainSchema } from '../../scripts/config-schema.ts';
import { ConfigFile } from '../../src/sources/registry.ts';
import { MISTAKEN } from '../config/mistaken-configs.ts';

const isValid = new Ajv({
  strict: true,
  allowUnionTypes: true,
  strictRequired: false,
  keywords: ['errorMessage'],
}).compile(configSchema());

/** A config as an editor sees it: before variables are put in. */
function written(text: string): unknown {
  return parseDocument(text, { uniqueKeys: false }).toJS();
}

/** Every key with a value of its own. */
function keysOf(schema: JsonSchema, path: string): [path: string, schema: JsonSchema][] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, value]): [string, JsonSchema][] => [
    [`${path}.${name}`, value],
    ...keysOf(value, `${path}.${name}`),
  ]);
  const inner = [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])];
  return [...own, ...inner.flatMap((one) => keysOf(one, path))];
}

it.each(GENERATED)('%s is up to date (else: node scripts/config-docs.ts)', (file, text) => {
  expect(readFileSync(file, 'utf8')).toBe(text());
});

it('describes every key and its expected value', () => {
  const keys = keysOf(plainSchema(), '');
  // Their meaning is that of the key above them.
  const isChain = (path: string): boolean => /\.(chains|watch)\.\w+$/.test(path);
  expect(keys.length).toBeGreaterThan(45);
  const silent = keys.filter(
    ([path, { description, errorMessage, properties, anyOf }]) =>
      !isChain(path) && !(description && (errorMessage || properties || anyOf)),
  );
  expect(silent.map(([path]) => path)).toEqual([]);
});

it('marks only existing keys as rare, and has only valid recipes', () => {
  const keys = keysOf(plainSchema(), '').map(([path]) => path.slice(1));
  expect(RARE.filter((key) => !keys.includes(key))).toEqual([]);
  const recipes = [...readFileSync('docs/configuration.md', 'utf8').matchAll(/^```yaml\n([a-z][\s\S]*?)```$/gm)];
  expect(recipes.length).toBeGreaterThan(4);
  for (const [, recipe = ''] of recipes) expect(isValid(written(recipe)), recipe).toBe(true);
});

it.each(['config.example.yaml', 'deploy/systemd/config.yaml', 'deploy/kubernetes/exporter/config.yaml'])(
  'the schema accepts %s',
  (file) => {
    expect(isValid(written(readFileSync(file, 'utf8'))), JSON.stringify(isValid.errors)).toBe(true);
  },
);

it.each([
  'api: {key: "${KEY}", timeout: "${TIMEOUT}", base_url: "http://127.0.0.1:1/hoodi/"}\nlog: {level: "${LEVEL}"}',
  'machines: {stale_after: 20m, forget_after: 1w2d3h4m5s6ms, chain_rules: [{match: "m-*", chain: hoodi}]}',
  'slashings: {catch_up: 0}\nvalidators: {watch: {hoodi: [7, "10-20", "30"]}}',
  'state: {dir: /var/lib/exporter, redis: null}\nweb: {listen_address: "[::1]:0", config_file: web.yml}',
  'state: {redis: {url: "rediss://:secret@host"}}',
])('the schema accepts what the program accepts: %s', (text) => {
  const document = written(text);
  const substituted = written(text.replace('${TIMEOUT}', '1s').replace('${LEVEL}', 'info'));
  expect(ConfigFile.safeParse(substituted).success).toBe(true);
  expect(isValid(document), JSON.stringify(isValid.errors)).toBe(true);
});

it.each(Object.entries(MISTAKEN).filter(([, { isBeyondSchema }]) => !isBeyondSchema))(
  'the schema refuses %s',
  (_, { text }) => {
    expect(isValid(written(text))).toBe(false);
  },
);
