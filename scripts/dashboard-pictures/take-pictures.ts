import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { launchChromium } from '../../test/support/chromium.ts';
import { END } from './day.ts';
import packages from './page/package.json' with { type: 'json' };

export interface Picture {
  readonly dashboard: string;
  readonly path: string;
  /** The title of the panel above which the picture ends; default: the whole dashboard. */
  readonly until?: string;
}

/** Higher than any dashboard: Grafana draws a table when it is in sight. */
const VIEWPORT = { width: 1_280, height: 5_000 };
const MACHINE = 'node-b';
const VERSION = packages.dependencies['@grafana/ui'];

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
    for (const { dashboard, path, until } of pictures) {
      const page = await browser.newPage({ viewport: VIEWPORT, colorScheme: 'dark' });
      const failed = new Promise<never>((_, reject) => page.on('pageerror', reject));
      const given = {
        dashboard: read(dashboard),
        prometheus,
        now: END,
        chosen: dashboard === 'beaconchain-machine' ? { machine: MACHINE } : {},
        footer: `Simulated data. Drawn from the dashboard's JSON with Grafana's components (@grafana/ui ${VERSION}), not by a Grafana server.`,
        until,
      };
      // Ages are counted from the end of the simulated day.
      await page.clock.setFixedTime(END);
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
