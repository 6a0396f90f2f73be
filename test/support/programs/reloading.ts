import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { seriesValue } from '../exposition/exposition-text.ts';
import type { FaultServerOptions } from '../faults/fault-server.ts';
import { startService } from '../faults/service.ts';
import { temporaryFolder } from '../files/files.ts';
import { ask, scrape } from '../network/ask.ts';
import { asking, portOf, serveArgs, startExporter, waitFor } from './program.ts';

interface Reloading {
  readonly key: string;
  /** The first key of the program, if it is not the right one. */
  readonly given?: string;
  /** Sections of the configuration other than `api`, `chains` and `state`. */
  readonly more?: string;
  readonly service?: Omit<FaultServerOptions, 'key'>;
  readonly flags?: readonly string[];
}

/** Starts a daemon and a service for it. The test can change its configuration file and its key file. */
export async function startReloading({ key, given = key, more = '', service, flags = [] }: Reloading) {
  const api = await startService(key, service);
  const folder = temporaryFolder();
  const file = join(folder, 'config.yaml');
  const keyFile = join(folder, 'key');
  const dir = join(folder, 'state');
  const configure = (rest: string): void => {
    // A reload may be reading the file.
    writeFileSync(`${file}.next`, `${asking(api.url, `, key_file: "${keyFile}"`)}${rest}state: {dir: "${dir}"}\n`);
    renameSync(`${file}.next`, file);
  };
  const setKey = (next: string): void => writeFileSync(keyFile, next);
  configure(more);
  setKey(given);
  const program = startExporter([...serveArgs(file), ...flags]);
  const port = await portOf(program);
  const reload = async (headers: Record<string, string> = {}): Promise<{ status: number; text: string }> => {
    const { status, body } = await ask(port, '/-/reload', { method: 'POST', headers });
    return { status, text: body.toString() };
  };
  const value = async (name: string, labels = {}): Promise<number | undefined> =>
    seriesValue(await scrape(port), name, labels);
  const isUp = (source: string): Promise<void> =>
    waitFor(async () => expect(await value('beaconchain_source_up', { source })).toBe(1));
  return { api, file, dir, configure, setKey, program, port, reload, value, isUp };
}
