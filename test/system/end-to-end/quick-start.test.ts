import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/files/files.ts';
import { freePort } from '../../support/network/ports.ts';
import {
  ANY_PORT,
  ordersPort,
  portOf,
  SURROUNDINGS,
  start,
  startExporter,
  waitFor,
} from '../../support/programs/program.ts';
import { hastyDuration } from '../../support/time/haste.ts';
import { ALERTMANAGER, areMissing, PROMETHEUS } from '../../support/tools/tools.ts';
import { atTheEnd } from '../../support/vitest/cleanup.ts';

const [, SECTION = ''] =
  /## Five minutes to the first alert\n([\s\S]*?)\n## /.exec(readFileSync('README.md', 'utf8')) ?? [];
const [STARTING = ''] = [...SECTION.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);

it.skipIf(areMissing(PROMETHEUS, ALERTMANAGER))(
  'with the commands of the README the alerts arrive in the terminal of the demo, and no other words',
  async () => {
    const demo = startExporter(['demo', ANY_PORT]);
    const web = await portOf(demo);
    const ports = [
      [':10032', `:${web}`],
      [':10033', `:${await ordersPort(demo)}`],
      [':9190', `:${await freePort()}`],
      [':9193', `:${await freePort()}`],
    ] as const;
    const moved = (text: string): string => ports.reduce((so, [from, to]) => so.replaceAll(from, to), text);
    const cwd = temporaryFolder();
    for (const folder of ['deploy/alertmanager', 'deploy/prometheus']) {
      cpSync(folder, join(cwd, folder), { recursive: true });
      for (const { name } of readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile())) {
        const file = join(cwd, folder, name);
        // The rules keep their windows; what scrapes and notifies does so every second.
        const text = moved(readFileSync(file, 'utf8'));
        writeFileSync(file, name.startsWith('rules') ? text : hastyDuration(text, 15));
      }
    }
    expect(STARTING).toMatch(/^sudo apt-get install .*\n/);
    // What fires before Prometheus knows Alertmanager is otherwise sent again a minute later.
    const commands = moved(STARTING.replace(/^sudo .*\n/, ''))
      .replace('$(mktemp -d)', cwd)
      .replace(/^prometheus /m, 'prometheus --rules.alert.resend-delay=1s ');
    const script = `trap 'kill %1 %2; wait; exit' TERM\nset -m\n${commands}\nwait`;
    const terminal = start('bash', ['-c', script], { cwd, env: SURROUNDINGS });
    atTheEnd(() => terminal.stop());

    await waitFor(() =>
      expect(demo.stdout).toMatch(/ALERT firing none BeaconchainWatchdog: Alerts are delivered http/),
    );
    await waitFor(() =>
      expect(demo.stdout).toMatch(
        /ALERT firing info BeaconchainWatchedInSyncCommittee: Watched validator \d+ \(mainnet\) is/,
      ),
    );
    expect(terminal.output).toBe('');
    for (const log of ['alertmanager.log', 'prometheus.log']) {
      const text = readFileSync(join(cwd, log), 'utf8');
      expect(text, log).toMatch(/level=info/i);
      expect(text, log).not.toMatch(/level=(warn|error)/i);
    }
  },
);
