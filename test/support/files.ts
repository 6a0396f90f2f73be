import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atTheEnd } from './cleanup.ts';

/** A folder that is gone after the tests. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'exporter-'));
  atTheEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
