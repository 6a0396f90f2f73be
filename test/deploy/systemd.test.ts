import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/sources/registry.ts';
import { temporaryFolder } from '../support/files/files.ts';
import { areMissing, runTool, SYSTEMD_ANALYZE, type ToolRun } from '../support/tools/tools.ts';

const NAME = 'beaconchain-exporter.service';
const UNIT = join('deploy/systemd', NAME);
const text = readFileSync(UNIT, 'utf8');

/** Fails also on unknown keys, which systemd ignores by default. */
function verify(file: string): ToolRun {
  return runTool(SYSTEMD_ANALYZE, ['verify', '--recursive-errors=yes', '--man=no', file]);
}

/** The threshold is in tenths of the exposure level, which goes from 0 to 10. */
function exposure(file: string): ToolRun {
  return runTool(SYSTEMD_ANALYZE, ['security', '--offline=true', '--no-pager', '--threshold=15', file]);
}

describe.skipIf(areMissing(SYSTEMD_ANALYZE))('the unit', () => {
  it('is valid for systemd', () => {
    expect(verify(UNIT)).toMatchObject({ status: 0, stderr: '' });
  });

  // 1.1 by systemd 252; each version weighs a little differently.
  it('is exposed 1.5 at most', () => {
    expect(exposure(UNIT).status).toBe(0);
    const file = join(temporaryFolder(), NAME);
    writeFileSync(file, text.replaceAll(/^SystemCallFilter=.*$/gm, ''));
    expect(exposure(file).status).not.toBe(0);
  });
});

// Debian's minimal image has no program `kill`.
it('a reload needs no program but the shell', async () => {
  const [, line = ''] = /^ExecReload=(.*kill.*)$/m.exec(text) ?? [];
  const [program = '', ...words] = line.match(/'[^']*'|\S+/g) ?? [];
  expect(program).toBe('/bin/sh');
  const service = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)']);
  onTestFinished(() => void service.kill('SIGKILL'));
  await once(service, 'spawn');
  const env = { MAINPID: String(service.pid), PATH: '/nowhere' };
  const args = words.map((word) => word.replaceAll("'", ''));
  expect(spawnSync(program, args, { env, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  expect(await once(service, 'exit')).toEqual([null, 'SIGHUP']);
});

it('systemd gives up if each start is refused within five seconds', () => {
  const number = (name: string): number => Number(new RegExp(`^${name}=(\\d+)`, 'm').exec(text)?.[1]);
  const seconds = 60 * number('StartLimitIntervalSec');
  expect(number('StartLimitBurst') * (number('RestartSec') + 5)).toBeLessThanOrEqual(seconds);
});

it('a reload first checks the configuration file of the service', () => {
  const [first = '', second = ''] = [...text.matchAll(/^ExecReload=(.+)$/gm)].map(([, line]) => line);
  const [file] = /--config\.file=\S+/.exec(text.match(/^ExecStart=.*$/m)?.[0] ?? '') ?? [];
  expect(first).toContain(`'exec beaconchain-exporter check ${file} > /dev/null'`);
  expect(second).toContain('kill -HUP');
});

it('the configuration names the key beside it and the state directory of the unit', async () => {
  const file = join(temporaryFolder(), 'config.yaml');
  copyFileSync('deploy/systemd/config.yaml', file);
  writeFileSync(join(file, '../api-key'), 'secret\n');
  const { config, key } = await loadConfig({ file, env: {} });
  expect(key).toBe('secret');
  expect(config.state.dir).toBe(`/var/lib/${/^StateDirectory=(.+)$/m.exec(text)?.[1]}`);
});

it('the sysusers file makes the user of the unit', () => {
  const [, user] = /^User=(.+)$/m.exec(text) ?? [];
  expect(readFileSync('deploy/systemd/sysusers.conf', 'utf8')).toContain(`\nu ${user} - `);
});
