import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../files/files.ts';
import { freePort } from '../network/ports.ts';
import { start, waitFor } from '../programs/program.ts';
import { ALERTMANAGER } from './tools.ts';

interface KnownAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly status: { readonly state: string };
}

/** Starts a real Alertmanager with this configuration. It is killed after the tests of the file. */
export async function startAlertmanager(configuration: string) {
  const folder = temporaryFolder();
  const file = join(folder, 'alertmanager.yml');
  writeFileSync(file, configuration);
  const port = await freePort();
  start(ALERTMANAGER.command, [
    `--config.file=${file}`,
    `--storage.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ]);
  const url = `http://127.0.0.1:${port}/api/v2/alerts`;
  const known = async (): Promise<readonly KnownAlert[]> => (await fetch(url)).json() as Promise<KnownAlert[]>;
  await waitFor(known);
  return {
    known,
    async send(alerts: readonly object[]): Promise<void> {
      const body = new Blob([JSON.stringify(alerts)], { type: 'application/json' });
      await fetch(url, { method: 'POST', body });
    },
  };
}
