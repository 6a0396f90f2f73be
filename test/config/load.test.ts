// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how a config names a variable.
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/sources/registry.ts';
import { defaultConfig } from '../support/runs/default-config.ts';
import { refusal, withConfig } from './with-config.ts';

const range = (first: number, last = first) => ({ first, last });
const LISTEN = ['web', 'listen_address'] as const;

describe('config/load', () => {
  it('uses the defaults without a file', async () => {
    const loaded = await loadConfig({ env: { BEACONCHAIN_API_KEY: 'secret' } });
    expect(loaded).toEqual({ config: defaultConfig(), key: 'secret', warnings: [] });
  });

  it.each(['', '# nothing yet\n', 'api:\nmachines:\nlog: {}\nchains:\n  mainnet:\n'])(
    'uses the default of every key that %j leaves out',
    async (text) => {
      expect((await withConfig(text)).config).toEqual(defaultConfig());
    },
  );

  it('converts every value', async () => {
    const { config } = await withConfig(`
api:
  base_url: http://127.0.0.1:1234/hoodi/
  timeout: 250ms
budget: {plan: {per_second: 0.5, per_month: 1000}, utilization: 1}
chains:
  mainnet: {}
  hoodi: {v1_base_url: HTTP://LOCALHOST/v1//}
machines:
  enabled: false
  interval: 1h30m
  stale_after: 20m
  forget_after: 1w
  expected: [a, "1"]
  max: 5
  chain: hoodi
  chain_rules: [{match: "m-*", chain: mainnet}]
validators:
  watch: {hoodi: [7, "10-20", "30"]}
  proposer_slashings: false
  fee_recipients: [0x388C818CA8B9251b393131C08a736A67ccB19297]
  interval: 12m
slashings:
  catch_up: 0
state: {dir: /var/lib/exporter, redis: null}
web: {listen_address: "[::1]:0", telemetry_path: /a/metrics, config_file: web.yml, external_url: "https://exporter.example/beaconchain/"}
log: {level: debug, format: json}
`);
    expect(config).toMatchObject({
      api: { baseUrl: 'http://127.0.0.1:1234/hoodi', timeoutMs: 250 },
      budget: { plan: { perSecond: 0.5, perMonth: 1000 }, utilization: 1 },
      chains: [
        { name: 'mainnet', v1BaseUrl: 'https://beaconcha.in' },
        { name: 'hoodi', v1BaseUrl: 'http://localhost/v1' },
      ],
      machines: {
        enabled: false,
        intervalMs: 5_400_000,
        staleAfterMs: 1_200_000,
        forgetAfterMs: 604_800_000,
        expected: ['a', '1'],
        max: 5,
        chain: 'hoodi',
        chainRules: [{ match: 'm-*', chain: 'mainnet' }],
      },
      validators: {
        watch: { mainnet: [], hoodi: [range(7), range(10, 20), range(30)] },
        proposerSlashings: false,
        feeRecipients: ['0x388c818ca8b9251b393131c08a736a67ccb19297'],
        intervalMs: 720_000,
      },
      slashings: { catchUpMs: 0 },
      state: { dir: '/var/lib/exporter' },
      web: {
        listenAddresses: [{ host: '::1', port: 0 }],
        telemetryPath: '/a/metrics',
        configFile: expect.stringMatching(/^\/.+\/web\.yml$/),
        externalUrl: 'https://exporter.example/beaconchain',
      },
      log: { level: 'debug', format: 'json' },
    });
  });

  it('reads a plain list of watched validators as those of the only chain', async () => {
    const { config } = await withConfig('chains: {hoodi: {}}\nvalidators: {watch: [5]}');
    expect(config.chains).toEqual([{ name: 'hoodi', v1BaseUrl: 'https://hoodi.beaconcha.in' }]);
    expect(config.machines.chain).toBe('auto');
    expect(config.validators.watch).toEqual({ mainnet: [], hoodi: [{ first: 5, last: 5 }] });
    const { config: both } = await withConfig('chains: {mainnet: {}, hoodi: {}}\nvalidators: {watch: []}');
    expect(both.validators.watch).toEqual({ mainnet: [], hoodi: [] });
  });

  it('replaces environment variables in every text', async () => {
    const text = 'machines:\n  expected: ["${A}-${B}", "${EMPTY}x", plain, "$A", "${A"]\n  interval: ${T}\n';
    const { config } = await withConfig(text, {
      env: { A: 'a', B: '${A}', EMPTY: '', T: '2m', BEACONCHAIN_API_KEY: 'key' },
    });
    expect(config.machines.expected).toEqual(['a-${A}', 'x', 'plain', '$A', '${A']);
    expect(config.machines.intervalMs).toBe(120_000);
  });

  it.each([
    [':10032', [{ host: undefined, port: 10_032 }]],
    ['0.0.0.0:80', [{ host: '0.0.0.0', port: 80 }]],
    [
      ['[::]:1', 'localhost:0'],
      [
        { host: '::', port: 1 },
        { host: 'localhost', port: 0 },
      ],
    ],
  ])('listens on %s', async (value, addresses) => {
    const { config } = await withConfig('', { overrides: [{ path: LISTEN, value, origin: '--web.listen-address' }] });
    expect(config.web.listenAddresses).toEqual(addresses);
    const inFile = await withConfig(`web: {listen_address: ${JSON.stringify(value)}}`);
    expect(inFile.config.web.listenAddresses).toEqual(addresses);
  });

  it('names the flag or variable of an invalid value, after the mistakes of the file', async () => {
    const loading = withConfig('log:\n  format: ${UNSET}\n  level: loud\n', {
      overrides: [
        { path: LISTEN, value: [':1', '10032'], origin: '--web.listen-address' },
        { path: ['log', 'format'], value: 'text', origin: 'BEACONCHAIN_EXPORTER_LOG_FORMAT' },
      ],
      env: { BEACONCHAIN_API_KEY: 'secret key' },
    });
    expect(await refusal(loading)).toEqual([
      'config.yaml:2: log.format: the environment variable UNSET is not set',
      'config.yaml:3: log.level: expected debug, info, warn or error, got "loud"',
      '--web.listen-address: expected host:port, :port, or [::1]:port for IPv6, got "10032"',
      'BEACONCHAIN_EXPORTER_LOG_FORMAT: expected json, pretty or null, got "text"',
      'BEACONCHAIN_API_KEY: expected an API key of printable ASCII characters without spaces',
    ]);
  });
});
