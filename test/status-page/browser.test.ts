import axe from 'axe-core';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runbookUrl } from '../../src/status-page/page.ts';
import { waitFor } from '../support/programs/program.ts';
import { MINUTE } from '../support/time/timing.ts';
import { launchChromium, WIDTHS } from '../support/tools/chromium.ts';
import { areMissing, CHROMIUM } from '../support/tools/tools.ts';
import { atTheEnd } from '../support/vitest/cleanup.ts';
import { serveStatus } from '../support/web/status-server.ts';
import type { StateName } from '../support/web/status-states.ts';

const PHONE = { viewport: WIDTHS.phone, colorScheme: 'dark' } as const;
const DESKTOP = { viewport: WIDTHS.desktop, colorScheme: 'light' } as const;

let browser: Browser;
let server: Awaited<ReturnType<typeof serveStatus>>;

/** A page, and what the browser complains of: errors, refusals of the policy, lost requests, requests to others. */
async function open(path: string, options: BrowserContextOptions = DESKTOP) {
  const base = `http://127.0.0.1:${server.port}`;
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => complaints.push(`lost ${request.url()}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith('data:') && !url.startsWith(base)) complaints.push(`asked for ${url}`);
  });
  page.on('dialog', (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    return dialog.dismiss();
  });
  await page.goto(base + path);
  return { page, base, complaints };
}

async function openStatus(state: StateName, options?: BrowserContextOptions) {
  await server.show(state);
  return open('/', options);
}

/** Expects that the page fits, and that neither the browser nor axe complains. */
async function expectGood({ page, complaints }: Awaited<ReturnType<typeof open>>): Promise<void> {
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  expect(await page.evaluate(overflow)).toBe(0);
  // Row 1,000 of a table is like row 20.
  await page.evaluate("document.querySelectorAll('tbody tr:nth-child(n + 20)').forEach((row) => row.remove())");
  await page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true })");
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof axe }).axe.run({ resultTypes: ['violations'], preload: false }),
  );
  // The rules beyond WCAG included: rule and first spot.
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
  expect(complaints).toEqual([]);
}

describe.skipIf(areMissing(CHROMIUM))('web: the pages in a browser', () => {
  beforeAll(async () => {
    server = await serveStatus();
    browser = await launchChromium();
    atTheEnd(() => browser.close());
  });

  it.each<[StateName, typeof PHONE | typeof DESKTOP]>([
    ['stretched', PHONE],
    ['silent', PHONE],
    ['thousand', PHONE],
    ['hostile', PHONE],
    ['empty', PHONE],
    ['grouped', PHONE],
    ['grouped', DESKTOP],
    ['missed', DESKTOP],
    ['revoked', DESKTOP],
    ['hostile', DESKTOP],
  ])('the status page fits, and causes no complaint: %s', async (state, options) => {
    await expectGood(await openStatus(state, options));
  });

  // The index, the widest tables, the longest code, pictures.
  it.each([
    ['/docs/', PHONE],
    ['/docs/metrics', PHONE],
    ['/docs/alerts', PHONE],
    ['/docs/dashboards', DESKTOP],
  ] as const)('%s fits, and causes no complaint', async (path, options) => {
    await expectGood(await open(path, options));
  });

  it('has landmarks and named tables for a screen reader, on a phone too', async () => {
    const { page } = await openStatus('silent', PHONE);
    for (const landmark of ['banner', 'main'] as const) expect(await page.getByRole(landmark).count()).toBe(1);
    expect(await page.getByRole('navigation', { name: 'Elsewhere' }).count()).toBe(1);
    const machines = page.getByRole('region', { name: 'Machines' }).getByRole('table', { name: 'Machines' });
    const heads = await machines.getByRole('columnheader').allInnerTexts();
    expect(heads).toEqual(['Machine', 'State', 'Chain', 'Synced', 'Processes', 'Memory used', 'Disk used']);
    const names = await machines.getByRole('rowheader').allInnerTexts();
    expect(names.slice(0, 2)).toEqual(['node-d', 'never-1']);
  });

  it('works by keyboard: skip link, content, runbooks, folds', async () => {
    const { page } = await openStatus('silent');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    const seen: unknown[] = [];
    for (let i = 0; i < 4; i += 1) {
      await page.keyboard.press('Tab');
      seen.push(await page.evaluate('document.activeElement.getAttribute("href") ?? document.activeElement.innerText'));
    }
    expect(seen).toEqual([
      runbookUrl('BeaconchainWatchedValidatorSlashed'),
      runbookUrl('BeaconchainMachineOffline'),
      runbookUrl('BeaconchainMachineNeverSeen'),
      expect.stringMatching(/^You and the network mainnet: your validators attested/),
    ]);
  });

  it('updates itself each minute while it is visible, and says if it cannot', async () => {
    const { page, base } = await openStatus('silent', PHONE);
    await page.clock.install();
    // As in a bookmark with a password.
    await page.goto(base.replace('//', '//user:password@'));
    await page.locator('#proposals-and-slashings-fold summary').click();
    await page.evaluate('scrollTo(0, 321)');
    const ask = async (isHidden: boolean): Promise<void> => {
      await page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })`);
      await page.clock.runFor(MINUTE);
    };
    await server.show('healthy');
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await ask(true);
    expect(requests).toEqual([]);
    await ask(false);
    await waitFor(async () => expect(await page.title()).toMatch(/^Working/));
    expect(
      await page.evaluate('[scrollY, document.activeElement.parentNode.id, document.activeElement.parentNode.open]'),
    ).toEqual([321, 'proposals-and-slashings-fold', true]);
    expect(await page.locator('.verdict').getAttribute('class')).toBe('verdict good');
    await page.route('**/', (route) => route.fulfill({ status: 502 }));
    await ask(false);
    const stale = 'Not up to date since 2026-09-30 12:01:00 UTC: the response is 502.';
    await waitFor(async () => expect(await page.getByRole('status').innerText()).toBe(stale));
    expect(await page.locator('.verdict.warning h2').innerText()).toBe('Not up to date');
    await page.unroute('**/');
    await ask(false);
    await waitFor(async () => expect(await page.getByRole('status').innerText()).toBe(''));
  });

  it('has a policy that stops injected styles and images', async () => {
    const { page, complaints } = await openStatus('healthy');
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', '<p style="color:red">a</p><img src="http://127.0.0.1:1/a">')`,
    );
    const refused = (what: RegExp) =>
      complaints.some((text) => /Content Security Policy/.test(text) && what.test(text));
    for (const what of [/inline style/, /image/]) await waitFor(() => expect(refused(what)).toBe(true));
  });
});
