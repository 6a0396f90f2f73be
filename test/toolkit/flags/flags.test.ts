import { describe, expect, it } from 'vitest';
import { PROGRAM, parseCommand } from '../../../src/commands/flag-table.ts';
import { loadConfig } from '../../../src/sources/registry.ts';
import { helpText, UsageError } from '../../../src/toolkit/flags/flags.ts';
import { defaultConfig } from '../../support/runs/default-config.ts';

const DISABLE = 'web.disable-exporter-metrics';
const LIFECYCLE = 'web.enable-lifecycle';
const NAMES = ['serve', 'check', 'backfill', 'sandbox', 'demo'] as const;

describe('commands/flags', () => {
  it('serves if no command is named', () => {
    expect(parseCommand([], {})).toEqual({ name: 'serve', flags: {}, overrides: [] });
  });

  it.each(NAMES)('knows the command %s, before and after its flags', (name) => {
    const expected = { name, flags: { 'config.file': 'a.yaml' } };
    expect(parseCommand([name, '--config.file=a.yaml'], {})).toMatchObject(expected);
    expect(parseCommand(['--config.file', 'a.yaml', name], {})).toMatchObject(expected);
  });

  it('reads a flag with its value after an equals sign or a space, and overrides the file', () => {
    expect(parseCommand(['--config.file=-', '--web.telemetry-path', '/m', `--${DISABLE}`], {})).toEqual({
      name: 'serve',
      flags: { 'config.file': '-', 'web.telemetry-path': '/m', [DISABLE]: true },
      overrides: [{ path: ['web', 'telemetry_path'], value: '/m', origin: '--web.telemetry-path' }],
    });
  });

  it.each(['serve', 'demo', 'sandbox'])('%s takes each flag of the web', (name) => {
    const args = ['--web.telemetry-path=/m', '--web.config.file=a', `--${DISABLE}`, '--no-web.enable-lifecycle'];
    expect(parseCommand([name, ...args], {})).toMatchObject({ name });
  });

  it('checks if serve is asked to check the configuration', () => {
    const checked = parseCommand(['--config.check', '--web.listen-address=x'], {});
    expect(checked).toMatchObject({ name: 'check', overrides: [{ value: 'x' }] });
    expect(parseCommand(['serve'], { BEACONCHAIN_EXPORTER_CONFIG_CHECK: '1' }).name).toBe('check');
    expect(parseCommand(['--config.check=false'], { BEACONCHAIN_EXPORTER_CONFIG_CHECK: 'true' }).name).toBe('serve');
  });

  it('prefers the flag to the environment, the environment to the file, the file to the default', async () => {
    const env = { BEACONCHAIN_EXPORTER_LOG_LEVEL: 'warn', BEACONCHAIN_EXPORTER_WEB_LISTEN_ADDRESS: ':7' };
    const command = parseCommand(['--log.level=error'], env);
    if (!('overrides' in command)) throw new Error('expected a command that runs');
    expect(command.overrides).toEqual([
      { path: ['web', 'listen_address'], value: ':7', origin: 'BEACONCHAIN_EXPORTER_WEB_LISTEN_ADDRESS' },
      { path: ['log', 'level'], value: 'error', origin: '--log.level' },
    ]);
    const { overrides } = command;
    const { config } = await loadConfig({ file: 'config.example.yaml', overrides, env, keyless: true });
    expect(config.log.level).toBe('error');
    expect(config.web.listenAddresses).toMatchObject([{ port: 7 }]);
    expect(config.web.telemetryPath).toBe('/metrics');
  });

  it('reads booleans from the environment as true, false, 1 or 0', () => {
    const variable = 'BEACONCHAIN_EXPORTER_WEB_DISABLE_EXPORTER_METRICS';
    const read = (value: string) => parseCommand([], { [variable]: value });
    for (const value of ['true', '1']) expect(read(value)).toMatchObject({ flags: { [DISABLE]: true } });
    for (const value of ['false', '0']) expect(read(value)).toMatchObject({ flags: { [DISABLE]: false } });
    for (const value of ['yes', 'TRUE', 'constructor']) {
      expect(() => read(value)).toThrow(new UsageError(`${variable}: expected true or false, got "${value}"`));
    }
  });

  it('negates a boolean flag as kingpin does', () => {
    const env = { BEACONCHAIN_EXPORTER_WEB_ENABLE_LIFECYCLE: 'true' };
    for (const flag of ['--no-web.enable-lifecycle', '--web.enable-lifecycle=false']) {
      expect(parseCommand([flag], env)).toMatchObject({ flags: { [LIFECYCLE]: false } });
    }
    expect(parseCommand([], env)).toMatchObject({ flags: { [LIFECYCLE]: true } });
    expect(helpText(PROGRAM, 'serve')).toMatch(/^ {2}--\[no-\]web\.enable-lifecycle {2,}\S/m);
  });

  it('ignores variables that are empty, unknown or of another command', () => {
    const env = {
      BEACONCHAIN_EXPORTER_CONFIG_FILE: '',
      BEACONCHAIN_EXPORTER_WEB_LISTEN_ADDRESS: ':9',
      BEACONCHAIN_EXPORTER_CONFIG_CHECK: 'maybe',
      BEACONCHAIN_EXPORTER_PORT: 'tcp://10.0.0.1:10032',
    };
    expect(parseCommand(['check'], env)).toEqual({ name: 'check', flags: {}, overrides: [] });
  });

  it.each([
    [['srve'], 'unknown command "srve", did you mean serve?'],
    [['chek'], 'unknown command "chek", did you mean check?'],
    [['status'], 'unknown command "status", try --help'],
    [['serve', '--resume'], 'unknown flag "--resume" of serve, it belongs to backfill'],
    [['serve', 'now'], 'unknown argument "now", try --help'],
    [['check', 'probe'], 'unknown argument "probe", did you mean --probe?'],
    [['--web.listen-adress=:1'], 'unknown flag "--web.listen-adress", did you mean --web.listen-address?'],
    [['--web-config-file=a'], 'unknown flag "--web-config-file", did you mean --web.config.file?'],
    [['--bogus', 'value'], 'unknown flag "--bogus", try --help'],
    [['-x'], 'unknown flag "-x", try --help'],
    [['--config', 'a.yaml'], 'unknown flag "--config", did you mean --config.file?'],
    [['-c', 'a.yaml'], 'unknown flag "-c", did you mean --config.file?'],
    [['--listen-address=:1'], 'unknown flag "--listen-address", did you mean --web.listen-address?'],
    [['check', 'a.yaml'], 'unknown argument "a.yaml", did you mean --config.file=a.yaml?'],
    [['/etc/a'], 'unknown command "/etc/a", did you mean --config.file=/etc/a?'],
    [['check\r'], 'unknown command "check\\r", did you mean check?'],
    [['--log.level=info\u00a0', '--bogus\u200b'], 'unknown flag "--bogus\\u200b", try --help'],
    [['--config.file'], '--config.file expects a value: --config.file=FILE'],
    [['--config.file='], '--config.file expects a value: --config.file=FILE'],
    [['--config.file', '--log.level=info'], '--config.file expects a value: --config.file=FILE'],
    [['--config.check=maybe'], '--config.check: expected true or false, got "maybe"'],
    [['--log.level=info', '--log.level=warn'], '--log.level is given twice'],
    [['--web.enable-lifecycle', '--no-web.enable-lifecycle'], '--no-web.enable-lifecycle is given twice'],
    [['--no-web.enable-lifecycle=true'], '--no-web.enable-lifecycle expects no value'],
    [['--no-log.level'], 'unknown flag "--no-log.level", did you mean --log.level?'],
  ])('refuses %j in one line', (argv, line) => {
    expect(() => parseCommand(argv, {})).toThrow(new UsageError(line));
  });

  it('reads every value of a repeated flag', () => {
    const labels = (...args: string[]) => parseCommand(['backfill', ...args], { BEACONCHAIN_EXPORTER_LABEL: 'a=1, 2' });
    expect(labels('--label=a=1', '--label', 'b=2')).toMatchObject({ flags: { label: ['a=1', 'b=2'] } });
    expect(labels()).toMatchObject({ flags: { label: ['a=1, 2'] } });
    const value = ['127.0.0.1:1', '[::1]:0'];
    const flags = value.map((address) => `--web.listen-address=${address}`);
    const variable = { BEACONCHAIN_EXPORTER_WEB_LISTEN_ADDRESS: value.join(', ') };
    for (const command of [parseCommand(flags, {}), parseCommand([], variable)])
      expect(command).toMatchObject({ overrides: [{ path: ['web', 'listen_address'], value }] });
  });

  it('offers help and version for the program and each command', () => {
    for (const help of ['--help', 'help', '-h'])
      expect(parseCommand([help], {})).toEqual({ name: 'help', command: undefined });
    expect(parseCommand(['help', 'check'], {})).toEqual({ name: 'help', command: 'check' });
    expect(parseCommand(['--version'], {})).toEqual({ name: 'version' });
    for (const command of NAMES) {
      expect(parseCommand([command, '--help', 'stray'], {})).toEqual({ name: 'help', command });
      expect(parseCommand([command, '--version'], {})).toEqual({ name: 'version' });
    }
  });

  it('lists in the help of each command exactly the flags that it takes', () => {
    for (const command of NAMES) {
      const listed = [...helpText(PROGRAM, command).matchAll(/^ {2}--(?:\[no-\])?([\w.-]+)/gm)].map(([, name]) => name);
      const taken = PROGRAM.flags.filter(({ name, value }) => {
        try {
          parseCommand([command, value ? `--${name}=x` : `--${name}`], {});
          return true;
        } catch {
          return false;
        }
      });
      expect(listed.sort()).toEqual([...new Set(taken.map(({ name }) => name)), 'help', 'version'].sort());
    }
  });

  it('lists commands, variables and the defaults of the program in its help', () => {
    const help = helpText(PROGRAM);
    for (const command of NAMES) expect(help).toMatch(new RegExp(`^ {2}${command} `, 'm'));
    expect(help).toContain('BEACONCHAIN_EXPORTER_CONFIG_FILE');
    expect(help).toContain('BEACONCHAIN_API_KEY');
    const { web, log } = defaultConfig();
    expect(help).toContain(`(default :${web.listenAddresses[0]?.port})`);
    expect(help).toContain(`(default ${web.telemetryPath})`);
    expect(help).toContain(`(default ${log.level})`);
    expect(Math.max(...help.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
  });
});
