import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { KEY } from '../../support/backfill.ts';
import { temporaryFolder } from '../../support/files.ts';
import { SURROUNDINGS, start } from '../../support/program.ts';
import { STAND_INS, STATE } from './stand-ins.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

const FOLDERS = [
  'bin',
  'home/beaconchain-exporter',
  'etc/beaconchain-exporter',
  'etc/systemd/system',
  STATE,
  'var/lib/prometheus/wal',
  'var/lib/prometheus/metrics2/wal',
  'prometheus/wal',
];

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/**
 * Runs commands for a container, for another user or for a service as plain programs: absolute paths lead below this folder,
 * and `sudo`, `systemd-run`, `docker`, `kubectl` and others run what they are given.
 */
export class Surroundings {
  readonly folder = temporaryFolder();
  readonly bin = join(this.folder, 'bin');
  /** The folder with the checkout. */
  readonly home = join(this.folder, 'home');
  readonly checkout = join(this.home, 'beaconchain-exporter');
  readonly config = join(this.folder, 'etc/beaconchain-exporter/config.yaml');

  /** @param url The service that the exporter reads, @param main the program. */
  constructor(url: string, main = join(ROOT, 'src/main.ts')) {
    for (const path of FOLDERS) mkdirSync(join(this.folder, path), { recursive: true });
    writeFileSync(
      this.config,
      `api: {base_url: "${url}"}\nchains: {hoodi: {v1_base_url: "${url}/hoodi"}}\nstate: {dir: "${this.folder}${STATE}"}\n`,
    );
    for (const [name, text] of Object.entries(STAND_INS)) this.program(name, text);
    // As the image has it.
    const [, launcher = ''] = /^launcher='#!(.*)'$/m.exec(readFileSync(join(ROOT, 'scripts/image-root'), 'utf8')) ?? [];
    this.program('beaconchain-exporter', `exec inside serving ${launcher.replace('/usr/local/bin/', '')} ${main} "$@"`);
  }

  /** Puts a program into the path, or where the name says. */
  program(name: string, text: string): void {
    const file = resolve(this.bin, name);
    rmSync(file, { force: true });
    writeFileSync(file, `#!/bin/bash\n${text}\n`);
    chmodSync(file, 0o755);
  }

  async run(commands: string, env: NodeJS.ProcessEnv = {}, cwd = this.checkout): Promise<Ended> {
    const running = start('bash', ['-euo', 'pipefail', '-c', commands], {
      cwd,
      env: {
        ...SURROUNDINGS,
        PATH: `${this.bin}:${SURROUNDINGS['PATH']}`,
        FAKE_ROOT: this.folder,
        BEACONCHAIN_API_KEY: KEY,
        BEACONCHAIN_EXPORTER_CONFIG_FILE: this.config,
        ...env,
      },
    });
    const { code } = await running.ended;
    return { code, output: running.output };
  }
}
