import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/files/files.ts';

const STATE = 'var/lib/beaconchain-exporter';
const KEY = 'etc/beaconchain-exporter/api-key';

/** A root folder with a key file and a state, and programs that do nothing but what `programs` says. */
function makeHost(key: string, programs: Readonly<Record<string, string>> = {}) {
  const root = temporaryFolder();
  for (const folder of ['bin', STATE, 'etc/beaconchain-exporter', 'run/systemd/system'])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, KEY), key);
  writeFileSync(join(root, STATE, 'ledger.json'), '{}');
  const none = ['systemd-sysusers', 'deb-systemd-helper', 'deb-systemd-invoke', 'systemctl', 'sleep', 'chgrp'];
  const all = { ...Object.fromEntries(none.map((name) => [name, 'exit 0'])), ...programs };
  for (const [name, text] of Object.entries(all))
    writeFileSync(join(root, 'bin', name), `#!/bin/sh\nroot=${root}\n${text}\n`, { mode: 0o755 });
  const run = (script: string, ...args: string[]) => {
    const text = readFileSync(join('deploy/debian', script), 'utf8').replace(/ \/(?=etc|run|var)/g, ` ${root}/`);
    const here = text.replace(/=\/(?=etc)/g, `=${root}/`);
    const env = { PATH: `${join(root, 'bin')}:${process.env['PATH']}` };
    const { status, stdout, stderr } = spawnSync('sh', ['-c', here, script, ...args], { encoding: 'utf8', env });
    return { status, stdout: stdout.replaceAll(root, ''), stderr: stderr.replaceAll(root, '') };
  };
  return { root, run };
}

/** A service that after its restart is active at so many checks. */
const activeAfter = (times: number): Record<string, string> => ({
  'deb-systemd-invoke': 'echo restarted >> $root/log',
  systemctl: `case "$*" in *is-active*) [ ! -e $root/log ] || { echo asked >> $root/log; [ $(wc -l < $root/log) -le ${times + 1} ]; } ;; esac`,
});

it('an installation without a key says where it goes and what to start', () => {
  const next = `beaconchain-exporter: write your API key into /${KEY}, then: systemctl start beaconchain-exporter\n`;
  const off = { systemctl: 'case "$*" in *is-active*) exit 3 ;; esac' };
  expect(makeHost('', off).run('postinst', 'configure', '')).toEqual({ status: 0, stdout: next, stderr: '' });
  expect(makeHost('key', off).run('postinst', 'configure', '')).toEqual({ status: 0, stdout: '', stderr: '' });
});

it('an upgrade fails if the service is not active five seconds after its restart', () => {
  expect(makeHost('key', activeAfter(5)).run('postinst', 'configure', '0.1.0-1')).toMatchObject({ status: 0 });
  for (const times of [0, 4])
    expect(makeHost('key', activeAfter(times)).run('postinst', 'configure', '0.1.0-1')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^beaconchain-exporter no longer starts: journalctl -u /),
    });
});

it('a purge empties the state directory if it is a mount point', () => {
  const busy = 'while [ $# -gt 1 ]; do shift; done; find "$1" -mindepth 1 -delete; echo busy >&2; exit 1';
  for (const [programs, left] of [
    [{}, []],
    [{ rm: busy }, ['beaconchain-exporter']],
  ] as const) {
    const { root, run } = makeHost('', programs);
    expect(run('postrm', 'purge')).toMatchObject({ status: 0 });
    expect(readdirSync(join(root, 'var/lib'))).toEqual(left);
    expect(left.flatMap(() => readdirSync(join(root, STATE)))).toEqual([]);
  }
  expect(makeHost('', { rm: 'exit 1' }).run('postrm', 'purge').status).toBe(1);
});
