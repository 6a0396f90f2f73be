import { renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import bcrypt from 'bcryptjs';
import { systemClock } from '../../../src/toolkit/lib/clock.ts';
import { Access } from '../../../src/toolkit/web/access.ts';
import { SERVER_LIMITS } from '../../../src/toolkit/web/server.ts';
import { readWebConfig } from '../../../src/toolkit/web/web-config.ts';
import { temporaryFolder } from '../files/files.ts';
import { logLines } from '../log/log-lines.ts';
import type { Certificate } from '../network/certificates.ts';
import { servePages } from './pages.ts';

/** A server with a web config file that the test can change. */
export type Guarded = Awaited<ReturnType<typeof serveGuarded>>;

export const BODY = 'metric 1\n';

/** Starts a server. @param body The body of /metrics */
export async function serveGuarded(text: string, body = BODY, limits = SERVER_LIMITS, clock = systemClock) {
  const folder = temporaryFolder();
  const file = join(folder, 'web.yml');
  writeFileSync(file, text);
  const access = new Access(await readWebConfig(file), clock, logLines().log);
  const bytes = Buffer.from(body);
  const server = await servePages({ metrics: () => [bytes] }, { access, limits });
  /** Reads the file again, with this text if it is given, as a reload does. */
  const reload = async (next = text): Promise<void> => {
    replaceFile(file, next);
    access.adopt(await readWebConfig(file));
  };
  return { port: server.port, server, folder, reload };
}

/** The section of a web config for TLS with this certificate. @param more Other fields, with their indentation */
export function tlsSection({ certFile, keyFile }: Pick<Certificate, 'certFile' | 'keyFile'>, more = ''): string {
  return `tls_server_config:\n  cert_file: ${certFile}\n  key_file: ${keyFile}\n${more}`;
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
