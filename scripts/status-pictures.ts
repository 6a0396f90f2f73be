/** Takes the picture of the status page in the README: node scripts/status-pictures.ts */
import { join } from 'node:path';
import { launchChromium, WIDTHS } from '../test/support/tools/chromium.ts';
import { serveStatus } from '../test/support/web/status-server.ts';

const FILE = join(import.meta.dirname, '../docs/images/status-desktop.png');

const server = await serveStatus();
const browser = await launchChromium();
try {
  server.show('silent');
  const page = await browser.newPage({ viewport: { ...WIDTHS.desktop, height: 1_000 }, colorScheme: 'light' });
  await page.goto(`http://127.0.0.1:${server.port}/`);
  await page.screenshot({ path: FILE });
} finally {
  await browser.close();
  await server.close();
}
