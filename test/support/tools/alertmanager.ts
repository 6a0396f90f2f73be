import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { temporaryFolder } from '../files/files.ts';
import { listen } from '../network/listen.ts';
import { freePort } from '../network/ports.ts';
import { start, waitFor } from '../programs/program.ts';
import { ALERTMANAGER } from './tools.ts';

export interface Notification {
  readonly at: number;
  readonly receiver: string;
  readonly status: string;
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface KnownAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly status: { readonly state: string; readonly inhibitedBy: readonly string[] };
}

/** A real Alertmanager that notifies a webhook. It is killed after the tests of the file. */
export type Alertmanager = Awaited<ReturnType<typeof startAlertmanager>>;

interface Message {
  readonly receiver: string;
  readonly alerts: readonly Pick<Notification, 'status' | 'labels' | 'annotations'>[];
}

/** @param configure Returns the configuration for the address of the webhook. */
export async function startAlertmanager(configure: (webhook: string) => string) {
  /** The notifications to the webhook, one entry per alert. */
  const notifications: Notification[] = [];
  const webhook = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { receiver, alerts } = JSON.parse(Buffer.concat(chunks).toString()) as Message;
    const at = Date.now();
    notifications.push(...alerts.map((alert) => ({ ...alert, at, receiver, alert: alert.labels['alertname'] ?? '' })));
    response.end();
  });
  const folder = temporaryFolder();
  const file = join(folder, 'alertmanager.yml');
  writeFileSync(file, configure(`127.0.0.1:${await listen(webhook)}`));
  const port = await freePort();
  start(ALERTMANAGER.command, [
    `--config.file=${file}`,
    `--storage.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ]);
  const alerts = async (): Promise<readonly KnownAlert[]> =>
    (await fetch(`http://127.0.0.1:${port}/api/v2/alerts`)).json() as Promise<KnownAlert[]>;
  await waitFor(alerts);
  return { port, notifications, alerts };
}
