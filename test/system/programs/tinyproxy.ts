import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/files.ts';
import { freePort } from '../../support/ports.ts';
import { type Running, start, waitFor } from '../../support/program.ts';
import { TINYPROXY } from '../../support/tools.ts';

export interface Tinyproxy {
  readonly port: number;
  /** What it says of what it does, at its most talkative. */
  readonly running: Running;
}

/** Starts a tinyproxy on loopback; with a name and a password it lets nobody else through. */
export async function startTinyproxy(login?: { user: string; password: string }): Promise<Tinyproxy> {
  const port = await freePort();
  const file = join(temporaryFolder(), 'tinyproxy.conf');
  const lines = [`Port ${port}`, 'Listen 127.0.0.1', 'Timeout 60', 'LogLevel Connect', 'MaxClients 50'];
  writeFileSync(file, [...lines, ...(login ? [`BasicAuth ${login.user} ${login.password}`] : []), ''].join('\n'));
  const running = start(TINYPROXY.command, ['-d', '-c', file]);
  await waitFor(
    () =>
      new Promise<void>((resolve, reject) => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.destroy();
          resolve();
        }).on('error', reject);
      }),
  );
  return { port, running };
}
