import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atTheEnd } from '../vitest/cleanup.ts';

/** A new folder. It is deleted after the tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'exporter-'));
  atTheEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a configuration file. */
export function configFile(text: string, folder = temporaryFolder()): string {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, text);
  return file;
}
