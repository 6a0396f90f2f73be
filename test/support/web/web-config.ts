import { renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import bcrypt from 'bcryptjs';
import { documentsOf } from '../../../src/status-page/documentation.ts';
import { systemClock } from '../../../src/toolkit/lib/clock.ts';
import { Access } from '../../../src/toolkit/web/access.ts';
import { LIMITS, type RunningServer, startServer } from '../../../src/toolkit/web/server.ts';
import { readWebConfig } from '../../../src/toolkit/web/web-config.ts';
import { temporaryFolder } from '../files/files.ts';
import { logLines } from '../log/log-lines.ts';
import { atTheEnd } from '../vitest/cleanup.ts';

/** A server with a web config file that the test can change. */
export interface Guarded {
  readonly port: number;
  readonly server: RunningServer;
  readonly folder: string;
  /** Reads the file again, with this text if it is given, as a reload does. */
  reload(text?: string): Promise<void>;
}

export const BODY = 'metric 1\n';

/** Starts a server. @param body The body of /metrics */
export async function serveGuarded(text: string, body = BODY, limits = LIMITS, clock = systemClock): Promise<Guarded> {
  const folder = temporaryFolder();
  const file = join(folder, 'web.yml');
  writeFileSync(file, text);
  const access = new Access(await readWebConfig(file), clock, logLines().log);
  const bytes = Buffer.from(body);
  const server = await startServer(
    { host: '127.0.0.1', port: 0, telemetryPath: '/metrics', access, limits },
    {
      metrics: () => [bytes],
      unhealthy: () => undefined,
      ready: () => true,
      documents: documentsOf(() => Promise.resolve(Buffer.from('<!doctype html>'))),
      reload: () => Promise.resolve(undefined),
      onError: (error) => {
        throw error;
      },
    },
  );
  // Some tests close it themselves.
  atTheEnd(() => server.close().catch(() => undefined));
  const reload = async (next = text): Promise<void> => {
    replaceFile(file, next);
    access.adopt(await readWebConfig(file));
  };
  return { port: server.port, server, folder, reload };
}

/** Replaces a file atomically, as careful tools do. */
export function replaceFile(file: string, text: string): void {
  const fresh = join(dirname(file), `.${basename(file)}`);
  writeFileSync(fresh, text);
  renameSync(fresh, file);
}

/** A password hash at the lowest cost, because the tests need many. */
export function hashOf(password: string): string {
  return bcrypt.hashSync(password, 4);
}

export function basic(user: string, password: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}
