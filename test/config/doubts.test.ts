// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a config names a variable.
import { describe, expect, it } from 'vitest';
import { describeMistake } from '../../src/config/mistakes.ts';
import { refusal, withConfig } from './with-config.ts';

async function doubts(text: string): Promise<string[]> {
  const { warnings } = await withConfig(text);
  return warnings.map(describeMistake).map((line) => line.replace(/^\/.*\/config\.yaml/, 'config.yaml'));
}

describe('config/doubts', () => {
  it.each<[string, string[]]>([
    [
      'machines: {expected: [a, b], exclude: [b]}',
      ['config.yaml:1: machines.expected[1]: "b" is also in machines.exclude: it has no series and no alerts'],
    ],
    [
      'machines: {enabled: false, expected: [a]}',
      ['config.yaml:1: machines.expected: has no effect, because machines.enabled is false'],
    ],
    [
      'machines: {chain_rules: [{match: "*", chain: mainnet}, {match: "a-*", chain: mainnet}]}',
      ['config.yaml:1: machines.chain_rules[1]: has no effect, because an earlier rule matches the same names'],
    ],
    [
      'validators: {watch: [1], status: false, sync_committee: false}\nslashings: {enabled: false}',
      ['config.yaml:1: validators.watch: has no effect, because every part is off and slashings.enabled is false'],
    ],
    [
      'slashings: {interval: 1h, catch_up: 30m}',
      [
        'config.yaml:1: slashings.catch_up: 30m is less than slashings.interval (1h): finalized epochs between polls are skipped',
      ],
    ],
    [
      'machines: {enabled: false}\ndaily_returns: {enabled: false}\nslashings: {enabled: false}\nsync_committee: {enabled: false}',
      ['config.yaml:1: all sources are disabled: nothing is polled'],
    ],
    [
      'api: {base_url: "https://beaconcha.in/api/v2"}',
      [
        'config.yaml:1: api.base_url: /api/v2 is added to the URL, as in https://beaconcha.in/api/v2/api/v2/machine-metrics: leave out /api/v2',
      ],
    ],
    [
      'state: {dir: ~/state}\nweb: {config_file: $HOME/web.yml}',
      [
        'config.yaml:1: state.dir: ~ is treated as part of a name: expected ${HOME}',
        'config.yaml:2: web.config_file: $HOME is treated as part of a name: expected ${HOME}',
      ],
    ],
    [
      'web: {telemetry_path: /docs/}',
      ['config.yaml:1: web.telemetry_path: /docs/ is the path of another page, which the metrics would replace'],
    ],
  ])('%s', async (text, expected) => {
    expect(await doubts(text)).toEqual(expected);
  });

  it.each([
    '',
    'machines: {expected: [a], include: [a], exclude: [b]}',
    'slashings: {enabled: false}\nvalidators: {watch: [1], sync_committee: false}',
    'chains: {mainnet: {v1_base_url: "http://127.0.0.1:1"}, hoodi: {v1_base_url: "http://127.0.0.1:1/hoodi"}}\nmachines: {chain: hoodi}',
    'api: {base_url: "https://proxy.example/api"}',
  ])('has no doubt about %j', async (text) => {
    expect(await doubts(text)).toEqual([]);
  });

  it('refuses an index that no validator can have', async () => {
    const text = 'validators:\n  watch:\n    - 2147483646\n    - 2147483647\n    - "5-99999999999"\n';
    expect(await refusal(withConfig(text))).toEqual([
      'config.yaml:4: validators.watch[1]: expected validator indices of at most 2147483646',
      'config.yaml:5: validators.watch[2]: expected validator indices of at most 2147483646',
    ]);
  });
});
