import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { launchChromium } from '../../test/support/chromium.ts';
import { END } from './day.ts';

export interface Picture {
  readonly dashboard: string;
  readonly path: string;
  /** Panels from this row of the grid on are left out. */
  readonly rows?: number;
}

/** Higher than any dashboard: Grafana draws a table when it is in sight. */
const VIEWPORT = { width: 1_280, height: 5_000 };
const MACHINE = 'node-b';

interface Drawn {
  /** The file of the page. */
  readonly page: string;
  /** The URL of Prometheus. */
  readonly prometheus: string;
  readonly read: (dashboard: string) => unknown;
}

export async function takePictures(
  pictures: readonly Picture[],
  { page: file, prometheus, read }: Drawn,
): Promise<void> {
  const browser = await launchChromium();
  try {
    for (const { dashboard, path, rows } of pictures) {
      const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'dark' });
      const failed = new Promise<never>((_, reject) => page.on('pageerror', reject));
      if (process.env['DEBUG']) page.on('console', (message) => process.stderr.write(`${message.text()}\n`));
      const given = {
        dashboard: read(dashboard),
        prometheus,
        now: END,
        chosen: dashboard === 'beaconchain-machine' ? { machine: MACHINE } : {},
        footer: 'Simulated data. Drawn from the dashboard’s JSON with Grafana’s components, not by a Grafana server.',
        rows,
      };
      await page.addInitScript((value) => Object.assign(globalThis, { given: value }), given);
      await page.goto(`file://${file}`);
      await Promise.race([page.waitForFunction('window.isDrawn', undefined, { timeout: 120_000 }), failed]);
      mkdirSync(dirname(path), { recursive: true });
      await page.locator('main').screenshot({ path });
      await page.close();
    }
  } finally {
    await browser.close();
  }
}
