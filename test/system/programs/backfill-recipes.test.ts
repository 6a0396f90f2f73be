import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { FAST, KEY } from '../../support/backfill.ts';
import type { Respond } from '../../support/fault-server.ts';
import { temporaryFolder } from '../../support/files.ts';
import { SURROUNDINGS, start } from '../../support/program.ts';
import { startService } from '../../support/service.ts';
import { areMissing, PROMTOOL, runTool } from '../../support/tools.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const STATE = '/var/lib/beaconchain-exporter';
const EMPTY = JSON.stringify({
  data: { system_metrics: [], validator_metrics: [], node_metrics: [] },
  paging: { next_cursor: '' },
});

/** The commands below a heading of docs/backfill.md. */
function recipe(heading: string): string {
  const document = readFileSync(join(ROOT, 'docs/backfill.md'), 'utf8');
  const [, section = ''] = document.split(`\n### ${heading}\n`);
  const [, commands] = /^```sh\n([\s\S]*?)^```$/m.exec(section.split(/^##/m)[0] ?? '') ?? [];
  return commands ?? expect.fail(`no commands below ${heading}`);
}

/** Machines that began to report twenty minutes ago, because 31 days take too many requests for a test. */
function ofLateMachines(): Respond {
  const begin = Date.now() / 1000 - 1_200;
  return ({ path, body }, genuine) => {
    if (!path.endsWith('/machine-metrics')) return undefined;
    return JSON.parse(body).range.timestamp.end < begin ? { ...genuine(), body: EMPTY } : undefined;
  };
}

/**
 * What runs in a container or as another user, as a program here: absolute paths lead below this folder, and `sudo`,
 * `systemd-run`, `docker` and `kubectl` run what they are told to run.
 */
class Surroundings {
  readonly folder = temporaryFolder();
  readonly bin = join(this.folder, 'bin');

  constructor(url: string) {
    for (const path of [
      'bin',
      'checkout',
      'etc/beaconchain-exporter',
      STATE,
      '/var/lib/prometheus/wal',
      '/var/lib/prometheus/metrics2/wal',
      'prometheus/wal',
    ])
      mkdirSync(join(this.folder, path), { recursive: true });
    for (const path of ['deploy/compose', 'beaconchain-exporter', 'beaconchain'])
      mkdirSync(join(this.folder, 'checkout', path), { recursive: true });
    const config = `api: {base_url: "${url}"}\nchains: {hoodi: {v1_base_url: "${url}/hoodi"}}\nstate: {dir: "${this.folder}${STATE}"}\n`;
    writeFileSync(join(this.folder, 'etc/beaconchain-exporter/config.yaml'), config);
    this.program('inside', INSIDE);
    this.program('sudo', `[ "$1" = -u ] && shift 2\nexec inside "$@"`);
    this.program('systemd-run', SYSTEMD_RUN);
    this.program('install', `while [ $# -gt 2 ]; do shift; done\nexec cp "$1" "$2"`);
    this.program('docker', DOCKER);
    this.program('kubectl', KUBECTL);
    // As the image has it.
    const [, wrapper = ''] = /^RUN (printf .*\n.*)$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')) ?? [];
    execFileSync('bash', ['-c', wrapper.replaceAll('/usr/local/bin', this.bin).replace('/app/dist/main.js', MAIN)]);
    this.program('npm', `[ "$1 $2" = "start --" ] && shift 2 && exec beaconchain-exporter "$@"`);
  }

  program(name: string, text: string): void {
    const file = join(this.bin, name);
    writeFileSync(file, `#!/bin/bash\n${text}\n`);
    chmodSync(file, 0o755);
  }

  async run(commands: string): Promise<string> {
    const running = start('bash', ['-euo', 'pipefail', '-c', commands], {
      cwd: join(this.folder, 'checkout'),
      env: {
        ...SURROUNDINGS,
        PATH: `${this.bin}:${SURROUNDINGS['PATH']}`,
        FAKE_ROOT: this.folder,
        BEACONCHAIN_API_KEY: KEY,
        BEACONCHAIN_EXPORTER_CONFIG_FILE: join(this.folder, 'etc/beaconchain-exporter/config.yaml'),
      },
    });
    const { code } = await running.ended;
    expect({ code, output: running.output }).toEqual({ code: 0, output: expect.any(String) });
    return running.output;
  }
}

const MAIN = join(ROOT, 'src/main.ts');

const INSIDE = `
inside=()
for word in "$@"; do
  inside+=("$(sed -E 's#(^|[ =:])/(prometheus|var/lib|etc/beaconchain-exporter)(/|$)#\\1'"$FAKE_ROOT"'/\\2\\3#g' <<< "$word")")
done
exec "\${inside[@]}"`;

const SYSTEMD_RUN = `
while [[ $1 == -* ]]; do
  if [ "$1" = -p ]; then
    [[ $2 == WorkingDirectory=* ]] && cd "\${2#*=}"
    shift
  fi
  shift
done
exec "$@"`;

const DOCKER = `
[ "$1 $2" = "compose exec" ] && [ "\${PWD##*/deploy/}" = compose ] || exit 64
shift 2
[ "$1" = -T ] && shift
case $1 in
  exporter) cd "$FAKE_ROOT${STATE}" ;;
  prometheus) cd "$FAKE_ROOT/prometheus" ;;
  *) exit 64 ;;
esac
shift
exec inside "$@"`;

const KUBECTL = `
case "$*" in
  "--namespace monitoring exec --stdin deployment/beaconchain-exporter -- "*) cd "$FAKE_ROOT${STATE}" ;;
  "--namespace monitoring exec --stdin prometheus-k8s-0 --container prometheus -- "*) cd "$FAKE_ROOT/prometheus" ;;
  *) exit 64 ;;
esac
while [ "$1" != -- ]; do shift; done
shift
exec inside "$@"`;

/** The distinct names of the series in blocks, and their labels of the target. */
function seriesIn(data: string): { families: string[]; targets: string[] } {
  const { status, stdout, stderr } = runTool(PROMTOOL, ['tsdb', 'dump', data], '');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const lines = stdout.split('\n').filter((line) => line !== '');
  const names = lines.map((line) => /__name__="beaconchain_(daily_return|machine)_/.exec(line)?.[1] ?? line);
  const targets = lines.map((line) =>
    ['job', 'instance', 'namespace', 'service']
      .flatMap((name) => new RegExp(`[{ ]${name}="([^"]*)"`).exec(line)?.[1] ?? [])
      .join(' '),
  );
  return { families: [...new Set(names)].sort(), targets: [...new Set(targets)] };
}

describe.skipIf(areMissing(PROMTOOL))('docs/backfill.md', () => {
  let url = '';
  beforeAll(async () => {
    ({ url } = await startService(KEY, { ...FAST, request: ofLateMachines() }));
  });

  it.concurrent.each([
    ['Checkout', 'var/lib/prometheus', 'beaconchain localhost:10032'],
    ['npm package', 'var/lib/prometheus', 'beaconchain localhost:10032'],
    ['systemd', 'var/lib/prometheus/metrics2', 'beaconchain localhost:10032'],
    ['Compose', 'prometheus', 'beaconchain exporter:10032'],
    ['Kubernetes', 'prometheus', 'beaconchain-exporter beaconchain-exporter monitoring beaconchain-exporter'],
  ])(
    '%s: the commands, as they are written, fill a Prometheus and leave no file behind',
    async (heading, data, target) => {
      const surroundings = new Surroundings(url);
      const local = heading === 'Checkout' || heading === 'npm package';
      if (local)
        surroundings.program(
          'promtool',
          `exec inside ${execFileSync('which', ['promtool'], { encoding: 'utf8' }).trim()} "$@"`,
        );
      await surroundings.run(recipe(heading));
      const blocks = join(surroundings.folder, data);
      expect(seriesIn(blocks)).toEqual({ families: ['daily_return', 'machine'], targets: [target] });
      const left = [data, STATE].flatMap((folder) => readdirSync(join(surroundings.folder, folder)));
      expect(left.filter((name) => name.includes('.om'))).toEqual([]);
    },
  );
});
