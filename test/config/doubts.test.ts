// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a config names a variable.
import { expect, it } from 'vitest';
import type { LoadOptions } from '../../src/config/load.ts';
import { describeMistake } from '../../src/toolkit/yaml/mistakes.ts';
import { refusal, withConfig } from './with-config.ts';

const KEY = { BEACONCHAIN_API_KEY: 'key' };

async function doubts(text: string, given: Partial<LoadOptions> = {}): Promise<string[]> {
  const { warnings } = await withConfig(text, { hostname: 'node-a', ...given });
  return warnings.map(describeMistake).map((line) => line.replace(/^\/.*\/config\.yaml/, 'config.yaml'));
}

it.each<[string, string[]]>([
  [
    'chains: {mainnet: {}, hoodi: {v1_base_url: "https://beaconcha.in"}}',
    ['config.yaml:1: chains.hoodi.v1_base_url: the same URL as for mainnet: both chains would show the same data'],
  ],
  [
    'machines: {interval: 10m, stale_after: 10m, forget_after: 9m, include: ["a*"]}\napi: {base_url: "https://a/api/v2"}',
    [
      'config.yaml:1: machines.include[0]: "a*" is a name: only chain_rules and groups support patterns',
      'config.yaml:1: machines.stale_after: 10m is less than machines.interval (10m) plus the minute between two pushes: values are withdrawn between polls',
      'config.yaml:1: machines.forget_after: 9m is not longer than the 10m of machines.stale_after: a silent machine disappears before an alert fires',
      'config.yaml:2: api.base_url: expected the URL without /api/v2, which the exporter adds',
    ],
  ],
  [
    'machines: {expected: [a, b], exclude: [b]}',
    ['config.yaml:1: machines.expected[1]: "b" is also in machines.exclude: it has no series and no alerts'],
  ],
  [
    'validators: {watch: [1], status: false, sync_committee: false}\nslashings: {enabled: false}',
    ['config.yaml:1: validators.watch: has no effect, because every part is off and slashings.enabled is false'],
  ],
  [
    `validators: {watch: ["0x${'ab'.repeat(48)}"], status: false}`,
    ['config.yaml:1: validators.status: false, so the indices of the public keys are not found'],
  ],
  [
    'machines: {enabled: false}\ndaily_returns: {enabled: false}\nslashings: {enabled: false}\nsync_committee: {enabled: false}',
    ['config.yaml:1: all sources are disabled: nothing is polled'],
  ],
  [
    'machines: {expected: [node-a node-b, "My node"]}\ngroups:\n  home:\n    machines: [a,\n      b\n      c]',
    [
      'config.yaml:1: machines.expected[0]: "node-a node-b" is one text: put a comma between two, or quotes around one',
      'config.yaml:5: groups.home.machines[1]: "b c" is one text: put a comma between two, or quotes around one',
    ],
  ],
  [
    'machines: {include: ["a:1"], chain_rules: [{match: "b:*", chain: mainnet}]}\ngroups: {home: {machines: [c, "d:2"]}}',
    [
      ['1: machines.include[0]: "a:1"', 'a'],
      ['1: machines.chain_rules[0].match: "b:*"', 'b'],
      ['2: groups.home.machines[1]: "d:2"', 'd'],
    ].map(
      ([at, kept]) =>
        `config.yaml:${at} never matches, because the service drops a colon and what follows: expected "${kept}"`,
    ),
  ],
  [
    'slashings: {enabled: false}\nvalidators: {watch: [1]}',
    ['epochs', 'block_rewards'].map(
      (key) => `config.yaml:2: validators.${key}: has no effect, because slashings.enabled is false`,
    ),
  ],
  [
    `validators:\n  watch: [1]\n  block_rewards: false\n  fee_recipients: ["0x${'aB'.repeat(20)}"]`,
    ['config.yaml:4: validators.fee_recipients: has no effect, because validators.block_rewards is false'],
  ],
  ['state: {dir: ~/state}', ['config.yaml:1: state.dir: ~ is not expanded: expected ${HOME}']],
  ['state: {dir: $HOME/state}', ['config.yaml:1: state.dir: $HOME is not expanded: expected ${HOME}']],
])('doubts %j', async (text, expected) => {
  expect(await doubts(text)).toEqual(expected);
});

it.each([
  '',
  'machines: {expected: [a], include: [a], exclude: [b]}',
  'slashings: {enabled: false}\nvalidators: {watch: [1], sync_committee: false, epochs: false, block_rewards: false}',
  'chains: {mainnet: {v1_base_url: "http://127.0.0.1:1"}, hoodi: {v1_base_url: "http://127.0.0.1:1/hoodi"}}\nmachines: {chain: hoodi}',
  'api: {base_url: "https://proxy.example/api"}',
  ...['http://localhost:1', 'http://127.8.9.1:80', 'http://[::1]:1'].map((url) => `api: {base_url: "${url}"}`),
])('has no doubt about %j', async (text) => {
  expect(await doubts(text)).toEqual([]);
});

it('warns of each host to which the key goes without encryption', async () => {
  const text =
    'api: {base_url: "http://cache.invalid:8080/api"}\nchains: {mainnet: {}, hoodi: {v1_base_url: "http://localhost.invalid"}}';
  const message = 'the API key is sent without encryption: use https, or a proxy on this machine';
  expect(await doubts(text)).toEqual([
    `config.yaml:1: api.base_url: ${message}`,
    `config.yaml:2: chains.hoodi.v1_base_url: ${message}`,
  ]);
  expect(await doubts(text, { keyless: true })).toEqual([]);
});

it.each<[string, Partial<LoadOptions>, string?]>([
  ['web: {listen_address: ["127.0.0.1:1", "[::1]:1"]}', {}, 'localhost'],
  ['web: {listen_address: "localhost:1"}', {}, 'localhost'],
  ['web: {telemetry_path: /m}', { hostname: '0123456789ab' }, 'an address that only containers reach'],
  [
    'web: {telemetry_path: /m}',
    { env: { ...KEY, KUBERNETES_SERVICE_HOST: '::1' } },
    'an address that only containers reach',
  ],
  ['web: {listen_address: ["127.0.0.1:1", ":2"]}', {}],
  ['web: {listen_address: "127.0.0.1:1"}', { keyless: true }],
  ['web: {listen_address: "127.0.0.1:1", external_url: "http://a"}', { hostname: '0123456789ab' }],
])(
  'asks for the external URL if links in alerts would work only on this machine: %s %j',
  async (text, given, leadTo) => {
    const message = `not set, so links in alerts lead to ${leadTo}: expected the URL at which your browser reaches the exporter`;
    expect(await doubts(text, given)).toEqual(leadTo ? [`config.yaml:1: web.external_url: ${message}`] : []);
  },
);

it('refuses the path of another page for the metrics', async () => {
  for (const path of ['/docs', '/docs/alerts', '/-/healthy']) {
    const refused = await refusal(withConfig(`web: {telemetry_path: ${path}}`));
    expect(refused).toEqual([expect.stringContaining(`/docs/..., got "${path}"`)]);
  }
  await expect(withConfig('web: {telemetry_path: /docsets}')).resolves.toBeDefined();
});

it('refuses an index that no validator can have, and a range of more validators than there are', async () => {
  const text =
    'validators:\n  watch:\n    - 2147483646\n    - 2147483647\n    - "5-99999999999"\n    - "1-10000001"\n    - "1-10000000"\n';
  expect(await refusal(withConfig(text))).toEqual([
    'config.yaml:4: validators.watch[1]: expected validator indices of at most 2147483646',
    'config.yaml:5: validators.watch[2]: expected validator indices of at most 2147483646',
    'config.yaml:6: validators.watch[3]: expected a range of at most 10000000 validators',
  ]);
});
