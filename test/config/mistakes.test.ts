// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a config names a variable.
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { refusal } from './with-config.ts';

const FOLDER = 'test/config/fixtures/';

/** Of each `invalid-<name>.yaml`, the lines that are told, behind the name of the file. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  'budget-empty': [':2: budget.plan: expected per_second, per_month or both'],
  'budget-rates': [
    ':2: budget.plan.per_second: expected a number, got "fast"',
    ':2: budget.plan.per_month: expected a whole number of at least 1, got 0',
    ':3: budget.utilization: expected a number above 0 and up to 1, got 0',
  ],
  budget: [
    ':2: budget.plan: expected auto, free_trial, hobbyist, business, scale or {per_second: 1, per_month: 1000}, got "enterprise"',
    ':3: budget.utilization: expected a number above 0 and up to 1, got 90',
  ],
  'chain-not-configured': [
    ':2: machines.chain: expected a chain that is configured (mainnet), got "hoodi"',
    ':6: machines.chain_rules[1].chain: expected a chain that is configured (mainnet), got "hoodi"',
    ':8: validators.watch.hoodi: expected a chain that is configured (mainnet), got "hoodi"',
  ],
  'chain-open': [
    ':7: validators.watch: expected one list per chain: {mainnet: [...], hoodi: [...]}, because several chains are configured',
  ],
  'duplicate-key': [
    ':3: log.level: the key is given twice',
    ':3: log.level: expected debug, info, warn or error, got "loud"',
    ':5: machines: the key is given twice',
  ],
  'duration-auto': [
    ':2: machines.stale_after: expected auto or a duration such as 30s, 5m, 1h, 31d, got "soon"',
    ':3: machines.interval: expected a duration such as 30s, 5m, 1h, 31d, got "auto"',
  ],
  'duration-auto-bounds': [':2: machines.stale_after: expected auto or a duration from 1s to 100y, got "500ms"'],
  'duration-bounds': [
    ':2: api.timeout: expected a duration of at most 1h, got "2h"',
    ':4: machines.interval: expected a duration of at least 1s, got "500ms"',
    ':5: machines.stale_after: expected auto or a duration such as 30s, 5m, 1h, 31d, got 0',
    ':6: machines.forget_after: expected a duration of at least 1s, got "0"',
    ':8: slashings.catch_up: expected a duration of at most 100y, got "101y"',
  ],
  duration: [
    ':2: machines.interval: expected a duration such as 30s, 5m, 1h, 31d, got "5 minutes"',
    ':3: daily_returns.interval: expected a duration such as 30s, 5m, 1h, 31d, got 60',
    ':5: slashings.interval: expected a duration such as 30s, 5m, 1h, 31d, got "30s1m"',
    ':6: slashings.catch_up: expected a duration such as 30s, 5m, 1h, 31d, got "-7d"',
    ':8: sync_committee.interval: expected a duration such as 30s, 5m, 1h, 31d, got nothing',
  ],
  'empty-chains': [':1: chains: expected a mapping of chains such as {mainnet: {}}, got nothing'],
  'empty-text': [
    ':2: state.dir: expected the path of a directory, got ""',
    ':4: api.key_file: expected the path of a file that contains the API key',
  ],
  everything: [
    ':2: api.timeout: expected a duration such as 30s, 5m, 1h, 31d, got "fast"',
    ':3: api.key: the environment variable UNSET_KEY is not set',
    ':5: budget.plan: expected auto, free_trial, hobbyist, business, scale or {per_second: 1, per_month: 1000}, got "enterprise"',
    ':9: machines.chain: expected a chain that is configured (hoodi), got "mainnet"',
    ':10: machines.colour: unknown key, expected one of enabled, interval, stale_after, forget_after, expected, include, exclude, max, chain, chain_rules',
    ':12: validators.watch[0]: expected a validator index such as 12345 or a range such as "20000-20099", got "all"',
    ':15: slashings.interval: the key is given twice',
    ':17: web.config_file: expected the path of a file or null, got a list',
  ],
  'key-empty': [':2: api.key: the key is empty'],
  'key-file-content': [
    `:2: api.key_file: expected ${resolve(FOLDER, 'key-with-spaces')} to contain an API key of printable ASCII characters without spaces`,
  ],
  'key-file-empty': [
    `:2: api.key_file: expected ${resolve(FOLDER, 'key-empty')} to contain an API key of printable ASCII characters without spaces`,
  ],
  'key-file': [
    `:2: api.key_file: no such file in ${resolve(FOLDER)}; the file name is not shown, because it may be the key`,
  ],
  'key-twice': [':3: api.key_file: api.key is set too, expected only one of the two'],
  'key-type': [':2: api.key: expected an API key of printable ASCII characters without spaces'],
  key: [':2: api.key: expected an API key of printable ASCII characters without spaces'],
  'listen-address': [':2: web.listen_address: expected host:port, :port or [::1]:port, got 10032'],
  'listen-host': [':2: web.listen_address: expected host:port, :port or [::1]:port, got "[localhost]:80"'],
  'listen-port': [':2: web.listen_address: expected host:port, :port or [::1]:port, got "[::1]:70000"'],
  log: [
    ':1: log.level: expected debug, info, warn or error, got "verbose"',
    ':1: log.format: expected json, pretty or null, got "text"',
  ],
  'long-text': [
    ':2: machines.interval: expected a duration such as 30s, 5m, 1h, 31d, got "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."',
  ],
  'no-chain': [':1: chains: expected at least one chain: mainnet or hoodi'],
  'root-text': [':1: expected a mapping, got a single value'],
  root: [':1: expected a mapping, got a list'],
  'syntax-alias': [':3: machines.chain_rules[0].match: a text that starts with * needs quotes'],
  'syntax-braces': [':1: not valid YAML: a text that contains braces or brackets needs quotes'],
  'syntax-bracket': [':3: the indentation does not match the surrounding lines'],
  'syntax-colon': [
    ':2: a key is not allowed here: it may be indented too far, or a text that contains ": " may need quotes',
  ],
  'syntax-reserved': [':2: a text that starts with this character needs quotes'],
  'syntax-tab': [':2: expected spaces, got a tab'],
  'syntax-tag': [':2: unknown tag: a text that starts with ! needs quotes'],
  syntax: [
    ':2: a key is not allowed here: it may be indented too far, or a text that contains ": " may need quotes',
    ':5: a quote, bracket, colon or comma is missing',
  ],
  'telemetry-path': [':2: web.telemetry_path: expected a path such as /metrics, other than / and /-/..., got "/"'],
  'two-documents': [':2: expected one document, got several'],
  type: [
    ':1: api: expected a mapping, got a single value',
    ':3: machines.enabled: expected true or false, got "yes"',
    ':4: machines.interval: expected a duration such as 30s, 5m, 1h, 31d, got "heavy"',
    ':5: machines.max: expected a whole number, got 1.5',
    ':6: machines.expected: expected a list of names, got "node-1"',
    ':7: machines.include[0]: expected a name (in quotes if it looks like a number), got 12345',
    ':7: machines.include[1]: expected a name, got ""',
    ':8: machines.chain_rules: expected a list such as [{match: "hoodi-*", chain: hoodi}], got a mapping',
    ':9: daily_returns: expected a mapping, got a list',
    ':12: slashings.enabled: expected true or false, got 1',
    ':13: slashings.catch_up: expected a duration such as 30s, 5m, 1h, 31d, got 0.5',
  ],
  'state-both': [':1: state: expected only one of dir and redis'],
  'state-redis': [
    ':3: state.redis.url: expected the URL of one server such as redis://host:6379/0 or rediss://user:password@host:6379',
    ':4: state.redis.prefix: expected letters, digits and any of : . _ { } -, got "two words"',
    ':5: state.redis.tls: expected cert_file and key_file together',
    `:5: state.redis.tls.cert_file: the file ${resolve(FOLDER, 'cert.pem')} cannot be read: no such file`,
  ],
  'state-sentinels': [
    ':2: state.redis.url: expected the URL of one server such as redis://host:6379/0 or rediss://user:password@host:6379',
  ],
  'state-hosts': [
    ':2: state.redis.url: expected the URL of one server such as redis://host:6379/0 or rediss://user:password@host:6379',
  ],
  'state-cluster': [
    ':2: state.redis.url: expected the URL of one server such as redis://host:6379/0 or rediss://user:password@host:6379',
  ],
  'state-tls': [
    ':2: state.redis: tls requires a url that starts with rediss://',
    `:2: state.redis.tls.ca_file: the file ${resolve(FOLDER, 'ca.pem')} cannot be read: no such file`,
  ],
  'unknown-chain': [
    ':3: chains.hoody: unknown key, did you mean hoodi?',
    ':5: machines.chain: expected auto, mainnet or hoodi, got "goerli"',
  ],
  'unknown-key-nested': [
    ':2: budget.plan.per_seconds: unknown key, did you mean per_second?',
    ':2: budget.plan: expected per_second, per_month or both',
    ':4: chains.mainnet.v1_url: unknown key, expected one of v1_base_url',
    ':6: machines.chain_rules[0].chain: expected mainnet or hoodi, got nothing',
    ':6: machines.chain_rules[0].chains: unknown key, chains belongs at the top level; did you mean chain?',
    ':8: state.redis.url: expected the URL of one server such as redis://host:6379/0 or rediss://user:password@host:6379',
    ':8: state.redis.host: unknown key, expected one of url, password, prefix, tls',
  ],
  'unknown-key': [
    ':2: machines.intervall: unknown key, did you mean interval?',
    ':3: machines.colour: unknown key, expected one of enabled, interval, stale_after, forget_after, expected, include, exclude, max, chain, chain_rules',
    ':4: loging: unknown key, expected one of api, budget, chains, machines, validators, daily_returns, slashings, sync_committee, state, web, log',
  ],
  'unknown-key-misplaced': [
    ':1: watch: unknown key, watch belongs under validators',
    ':4: chains.mainnet.watch: unknown key, watch belongs under validators',
    ':6: machines.log: unknown key, log belongs at the top level',
    ':7: machines.match: unknown key, match belongs under machines.chain_rules',
    ':8: machines.per_month: unknown key, per_month belongs under budget.plan',
    ':10: state.enabled: unknown key, expected one of dir, redis',
  ],
  'url-fragment': [':2: api.base_url: expected an http or https URL without credentials, query or fragment'],
  url: [
    ':2: api.base_url: expected an http or https URL without credentials, query or fragment',
    ':4: chains.mainnet.v1_base_url: expected an http or https URL without credentials, query or fragment',
    ':5: chains.hoodi.v1_base_url: expected an http or https URL without credentials, query or fragment',
  ],
  'variable-name': [':2: api.key: expected the name of an environment variable between the braces'],
  'variable-value': [
    ':2: machines.interval: expected a duration such as 30s, 5m, 1h, 31d, got the value of "${SECRET}"',
    ':4: log.level: expected debug, info, warn or error, got the value of "${SECRET}"',
  ],
  variable: [
    ':2: api.key: the environment variable UNSET_KEY is not set',
    ':4: machines.interval: the environment variable UNSET_A is not set; the environment variable UNSET_B is not set',
    ':5: machines.expected[1]: the environment variable UNSET_A is not set',
  ],
  'watch-per-chain': [
    ':3: validators.watch.mainnet: expected a list of validator indices and ranges, got 12345',
    ':4: validators.watch.gnosis: unknown key, expected one of mainnet, hoodi',
  ],
  'watch-type': [
    ':2: validators.watch: expected a list such as [12345, "20000-20099"], or one per chain such as {mainnet: [12345]}, got "all"',
  ],
  watch: [
    ':5: validators.watch[2]: the start of the range is larger than its end',
    ':6: validators.watch[3]: expected a validator index such as 12345 or a range such as "20000-20099", got -1',
    ':7: validators.watch[4]: expected a validator index such as 12345 or a range such as "20000-20099", got 1.5',
    ':8: validators.watch[5]: expected a validator index such as 12345 or a range such as "20000-20099", got "all"',
    ':9: validators.watch[6]: expected validator indices, not public keys, got "0x93247f2209abcacf57b75a51dafae777f9dd38bc7053d1af526f220a74..."',
    ':10: validators.watch[7]: expected validator indices, not public keys, got "0xb89bebc699769726a318c8e9971bd3171297c61aea4a6578a7a4f94b54..."',
    ':11: validators.watch[8]: expected validator indices, not public keys, got "93247f2209abcacf57b75a51dafae777f9dd38bc7053d1af526f220a7489..."',
  ],
};

describe('config/mistakes', () => {
  it.each(Object.entries(LINES))('tells all that is wrong with invalid-%s.yaml', async (name, lines) => {
    const file = `${FOLDER}invalid-${name}.yaml`;
    const told = await refusal(loadConfig({ file, env: { SECRET: 'from the environment' } }));
    expect(told).toEqual(lines.map((line) => file + line));
  });

  it('has lines for every invalid file', () => {
    const files = readdirSync(FOLDER).filter((file) => file.startsWith('invalid-'));
    expect(files.sort()).toEqual(
      Object.keys(LINES)
        .map((name) => `invalid-${name}.yaml`)
        .sort(),
    );
  });
});
