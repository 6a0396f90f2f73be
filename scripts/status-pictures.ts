/** Takes the pictures of the README: node scripts/status-pictures.ts */
import { join } from 'node:path';
import { launchChromium, WIDTHS } from '../test/support/chromium.ts';
import { serveStatus } from '../test/support/status-server.ts';

const PICTURES = [
  { file: 'status-desktop.png', state: 'silent', viewport: { ...WIDTHS.desktop, height: 1_000 }, colorScheme: 'light' },
  { file: 'status-phone.png', state: 'stretched', viewport: WIDTHS.phone, colorScheme: 'dark' },
] as const;

const server = await serveStatus();
const browser = await launchChromium();
try {
  for (const { file, state, ...options } of PICTURES) {
    server.show(state);
    const page = await browser.newPage(options);
    await page.goto(`http://127.0.0.1:${server.port}/`);
    await page.screenshot({ path: join(import.meta.dirname, '../docs/images', file) });
  }
} finally {
  await browser.close();
  await server.close();
}
