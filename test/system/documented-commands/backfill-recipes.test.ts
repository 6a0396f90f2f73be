import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { FAST, KEY } from '../../support/backfill.ts';
import type { Respond } from '../../support/fault-server.ts';
import { startService } from '../../support/service.ts';
import { areMissing, KUBECTL, PROMTOOL, runTool } from '../../support/tools.ts';
import { STATE } from './stand-ins.ts';
import { Surroundings } from './surroundings.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
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
    ['systemd', 'var/lib/prometheus/metrics2', 'beaconchain localhost:10032'],
    ['Compose', 'prometheus', 'beaconchain exporter:10032'],
    ['Kubernetes', 'prometheus', 'beaconchain-exporter beaconchain-exporter monitoring beaconchain-exporter'],
  ])(
    '%s: the commands, as they are written, fill a Prometheus and leave no file behind',
    async (heading, data, target) => {
      const surroundings = new Surroundings(url);
      surroundings.program('npm', `[ "$1 $2" = "start --" ] && shift 2 && exec beaconchain-exporter "$@"`);
      mkdirSync(join(surroundings.checkout, 'deploy/compose'), { recursive: true });
      const unit = 'beaconchain-exporter.service';
      cpSync(join(ROOT, 'deploy/systemd', unit), join(surroundings.folder, 'etc/systemd/system', unit));
      cpSync(join(ROOT, 'deploy/kubernetes/exporter/deployment.yaml'), join(surroundings.folder, 'manifests.yaml'));
      if (heading === 'Checkout')
        surroundings.program(
          'promtool',
          `exec inside ${execFileSync('which', ['promtool'], { encoding: 'utf8' }).trim()} "$@"`,
        );
      // It says whether the patch fits the manifest.
      const env = areMissing(KUBECTL)
        ? {}
        : { REAL_KUBECTL: execFileSync('which', ['kubectl'], { encoding: 'utf8' }).trim() };
      expect(await surroundings.run(recipe(heading), env)).toEqual({ code: 0, output: expect.any(String) });
      const blocks = join(surroundings.folder, data);
      expect(seriesIn(blocks)).toEqual({ families: ['daily_return', 'machine'], targets: [target] });
      const left = [data, STATE].flatMap((folder) => readdirSync(join(surroundings.folder, folder)));
      expect(left.filter((name) => name.includes('.om'))).toEqual([]);
    },
  );
});
