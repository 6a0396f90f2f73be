import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { demoConfiguration } from '../src/commands/demo-alerting.ts';

/** Writes the Alertmanager configuration of the demo in containers: the shipped one, whose receivers are the demo. */

const FOLDER = join(import.meta.dirname, '../deploy/alertmanager');
/** Where Alertmanager reaches the demo from its container. */
export const DEMO_RECEIVER = 'http://exporter:10033/alerts';

export function composeConfiguration(shipped: string): string {
  const made = '# Made from alertmanager.yml, with the demo as receiver: node scripts/alertmanager-demo.ts\n';
  return made + demoConfiguration(shipped, DEMO_RECEIVER);
}

if (import.meta.main) {
  const shipped = readFileSync(join(FOLDER, 'alertmanager.yml'), 'utf8');
  writeFileSync(join(FOLDER, 'demo-compose.yml'), composeConfiguration(shipped));
}
