import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dashboards } from '../deploy/grafana/src/dashboards.ts';

/** Writes deploy/grafana/dashboards, the JSON that Grafana reads. */
export const FOLDER = join(import.meta.dirname, '../deploy/grafana/dashboards');

/** The content of every file of the folder, by its name. */
export function dashboardFiles(): Map<string, string> {
  return new Map(dashboards().map((one) => [`${one.uid}.json`, `${JSON.stringify(one, null, 2)}\n`]));
}

if (import.meta.main) {
  const files = dashboardFiles();
  mkdirSync(FOLDER, { recursive: true });
  for (const name of readdirSync(FOLDER)) if (!files.has(name)) rmSync(join(FOLDER, name));
  for (const [name, text] of files) writeFileSync(join(FOLDER, name), text);
}
