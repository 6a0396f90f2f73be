import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { DOCUMENTS } from '../../src/web/documents.ts';
import { launchChromium, WIDTHS } from '../support/chromium.ts';
import { atTheEnd } from '../support/cleanup.ts';
import { serveStatus } from '../support/status-server.ts';
import { areMissing, CHROMIUM } from '../support/tools.ts';

const PATHS = ['/docs/', ...DOCUMENTS.map(({ name }) => `/docs/${name}`)];
/** The index, the widest tables, pictures and the longest code. */
const ON_A_DESKTOP = ['/docs/', '/docs/configuration', '/docs/dashboards', '/docs/backfill'];

let browser: Browser;
let base: string;

/** What the browser complains of: errors, refusals of the policy, lost requests, whatever is asked of others. */
function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => complaints.push(`lost ${request.url()}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith('data:') && !url.startsWith(base)) complaints.push(`asked for ${url}`);
  });
  return complaints;
}

async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'], preload: false }),
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

describe.skipIf(areMissing(CHROMIUM))('web/document-page', () => {
  beforeAll(async () => {
    const server = await serveStatus();
    atTheEnd(() => server.close());
    base = `http://127.0.0.1:${server.port}`;
    browser = await launchChromium();
    atTheEnd(() => browser.close());
  });

  describe.each([
    ['phone in the dark', PATHS, { viewport: WIDTHS.phone, colorScheme: 'dark' }],
    ['desktop by day', ON_A_DESKTOP, { viewport: WIDTHS.desktop, colorScheme: 'light' }],
  ] as const)('on a %s', (_, paths, options) => {
    it.each(paths)(
      '%s: it fits, wide tables scroll by themselves, and neither the browser nor axe complains',
      async (path) => {
        const page = await browser.newPage(options);
        const complaints = complaintsOf(page);
        await page.goto(base + path);
        const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        expect(await page.evaluate(overflow)).toBe(0);
        expect(await findings(page)).toEqual([]);
        expect(complaints).toEqual([]);
        await page.close();
      },
    );
  });

  it('on a phone the widest table has a width of its own', async () => {
    const page = await browser.newPage({ viewport: WIDTHS.phone });
    await page.goto(`${base}/docs/metrics`);
    const table = page.getByRole('group', { name: 'Table: Machines' }).first();
    const width = await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth / clientWidth);
    expect(width).toBeGreaterThan(1.5);
    await page.close();
  });

  it('a reader comes from the status page to the section of an alert, and back', async () => {
    const page = await browser.newPage();
    await page.goto(base);
    await page.getByRole('link', { name: 'Documentation' }).click();
    await page.getByRole('link', { name: 'Alerts' }).click();
    expect(page.url()).toBe(`${base}/docs/alerts`);
    await page.goto(`${base}/docs/alerts#beaconchaindiskalmostfull`);
    await expect
      .poll(() =>
        page
          .locator('#beaconchaindiskalmostfull')
          .boundingBox()
          .then((box) => box?.y),
      )
      .toBeLessThan(100);
    await page.getByRole('link', { name: 'Status page' }).click();
    expect(page.url()).toBe(`${base}/`);
    await page.close();
  });
});
