import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { z } from 'zod';

/** Writes the Alertmanager configurations of the demo: the shipped one, whose receivers are the demo. */

const FOLDER = join(import.meta.dirname, '../deploy/alertmanager');
/** The demo prints at most this many alerts of one message. */
const MAX_ALERTS = 100;

/** Where Alertmanager reaches the demo: on the same machine, and from its container. */
export const DEMO_FILES = {
  'demo.yml': 'http://localhost:10033/alerts',
  'demo-compose.yml': 'http://exporter:10033/alerts',
} as const;

const Configuration = z.looseObject({ receivers: z.array(z.looseObject({ name: z.string() })) });

export function demoConfiguration(shipped: string, url: string): string {
  const configuration = Configuration.parse(parse(shipped));
  const receivers = configuration.receivers.map(({ name }) => ({
    name,
    webhook_configs: [{ url, max_alerts: MAX_ALERTS }],
  }));
  const text = stringify({ ...configuration, receivers }, { lineWidth: 120 });
  return `# Made from alertmanager.yml, with the demo as receiver: node scripts/alertmanager-demo.ts\n${text}`;
}

if (import.meta.main) {
  const shipped = readFileSync(join(FOLDER, 'alertmanager.yml'), 'utf8');
  for (const [file, url] of Object.entries(DEMO_FILES)) {
    writeFileSync(join(FOLDER, file), demoConfiguration(shipped, url));
  }
}
