import { renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import bcrypt from 'bcryptjs';
import { systemClock } from '../../src/lib/clock.ts';
import { LIMITS, type ServerLimits } from '../../src/web/limits.ts';
import { type RunningServer, startServer } from '../../src/web/server.ts';
import { Access } from '../../src/web-config/access.ts';
import { atTheEnd } from './cleanup.ts';
import { temporaryFolder } from './files.ts';
import { logLines } from './log-lines.ts';

/** A server with a web config file that the test can change. */
export interface Guarded {
  readonly port: number;
  readonly server: RunningServer;
  readonly lines: readonly Record<string, unknown>[];
  readonly folder: string;
  rewrite(text: string): void;
}

export const BODY = 'metric 1\n';

/** Starts a server. @param body The body of /metrics */
export async function serveGuarded(text: string, body = BODY, limits: ServerLimits = LIMITS): Promise<Guarded> {
  const folder = temporaryFolder();
  const file = join(folder, 'web.yml');
  writeFileSync(file, text);
  const { log, lines } = logLines();
  const access = await Access.open(file, systemClock, log);
  const bytes = Buffer.from(body);
  const server = await startServer(
    { host: '127.0.0.1', port: 0, telemetryPath: '/metrics', access, limits },
    {
      metrics: () => [bytes],
      unhealthy: () => undefined,
      ready: () => true,
      status: () => Promise.resolve(Buffer.from('<!doctype html>')),
      reload: () => Promise.resolve(undefined),
      onError: (error) => {
        throw error;
      },
    },
  );
  // Some tests close it themselves.
  atTheEnd(() => server.close().catch(() => undefined));
  return { port: server.port, server, lines, folder, rewrite: (next) => replaceFile(file, next) };
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
