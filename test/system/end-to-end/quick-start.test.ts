import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/files/files.ts';
import { ask } from '../../support/network/ask.ts';
import { ANY_PORT, portOf, startExporter, waitFor } from '../../support/programs/program.ts';
import { ALERTMANAGER, areMissing, PROMETHEUS } from '../../support/tools/tools.ts';

it.skipIf(areMissing(PROMETHEUS, ALERTMANAGER))(
  'the demo starts Prometheus and Alertmanager, prints alerts, says which program ends, and cleans up',
  async () => {
    const temporary = temporaryFolder();
    const demo = startExporter(['demo', ANY_PORT, '--prometheus'], { TMPDIR: temporary });
    await waitFor(() =>
      expect(demo.stdout).toMatch(/ALERT firing none BeaconchainWatchdog: Alerts are delivered http/),
    );
    const [, prometheus = '', alertmanager = ''] =
      /Beside the demo, .*: Prometheus: \S+:(\d+), Alertmanager: \S+:(\d+)\n/.exec(demo.stdout) ?? [];
    const [folder = ''] = readdirSync(temporary).map((name) => join(temporary, name));
    for (const log of ['prometheus.log', 'prometheus-alertmanager.log']) {
      const text = readFileSync(join(folder, log), 'utf8');
      expect(text, log).toMatch(/level=info/i);
      expect(text, log).not.toMatch(/level=(warn|error)/i);
    }
    const { data } = (await (await fetch(`http://localhost:${prometheus}/api/v1/rules`)).json()) as {
      data: { groups: { rules: { health: string }[] }[] };
    };
    expect(data.groups.flatMap(({ rules }) => rules).filter(({ health }) => health !== 'ok')).toEqual([]);

    const scrapeUrl = `http://127.0.0.1:${await portOf(demo)}/metrics`;
    // BeaconchainWatchdog fires before the first scrape.
    await waitFor(async () => {
      const targets = await fetch(`http://localhost:${prometheus}/api/v1/targets`).then((answer) => answer.json());
      expect(targets).toMatchObject({ data: { activeTargets: [{ scrapeUrl, health: 'up' }] } });
    });

    const pid = demo.child.pid ?? 0;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    const named = (name: string) =>
      children.find((child) => readFileSync(`/proc/${child}/comm`, 'utf8') === `${name}\n`) ?? 0;
    const [scraper, alerter] = [named('prometheus'), named('prometheus-aler')];
    process.kill(scraper, 'SIGKILL');
    await waitFor(() => expect(demo.stdout).toMatch(/^prometheus ended with SIGKILL: \S/m));
    expect((await ask(await portOf(demo), '/-/healthy')).status).toBe(200);
    process.kill(alerter, 'SIGTERM');
    await waitFor(() => expect(existsSync(`/proc/${alerter}`)).toBe(false));
    expect((await demo.stop()).code).toBe(0);
    expect(demo.stdout.match(/ended with/g)).toHaveLength(1);
    expect(existsSync(folder)).toBe(false);
    for (const port of [prometheus, alertmanager]) await expect(fetch(`http://localhost:${port}`)).rejects.toThrow();
  },
);

it('without a folder for temporary files the demo says so and runs without Prometheus', async () => {
  const demo = startExporter(['demo', ANY_PORT, '--prometheus'], { TMPDIR: '/nowhere' });
  await waitFor(() => expect(demo.stdout).toMatch(/^Prometheus is not started: ENOENT.*\/nowhere/m));
  expect((await ask(await portOf(demo), '/-/healthy')).status).toBe(200);
  expect((await demo.stop()).code).toBe(0);
});

it('the demo runs without an installed Prometheus', async () => {
  const bare = startExporter(['demo', ANY_PORT, '--prometheus'], { PATH: '/nowhere' });
  await portOf(bare);
  await waitFor(() => expect(bare.stdout).toContain('are printed here'));
  expect((await bare.stop()).code).toBe(0);
  expect(bare.output).not.toContain('Beside the demo');
});
