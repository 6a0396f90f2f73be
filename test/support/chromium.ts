import { type Browser, chromium } from 'playwright-core';
import { CHROMIUM } from './tools.ts';

/** A phone and a desktop. */
export const WIDTHS = { phone: { width: 390, height: 844 }, desktop: { width: 1_280, height: 900 } } as const;

export function launchChromium(): Promise<Browser> {
  // The sandbox needs rights that a container does not give.
  const args = ['--no-sandbox', '--disable-background-networking', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath: CHROMIUM.command, args });
}
