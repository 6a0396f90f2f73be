import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGE = join(import.meta.dirname, 'page');
const PACKAGES = join(PAGE, 'node_modules');

/** Builds the page that draws a dashboard. Returns its file. */
export function bundle(folder: string): string {
  const esbuild = join(PACKAGES, '.bin/esbuild');
  if (!existsSync(esbuild)) {
    throw new Error("Grafana's components are not installed: npm --prefix scripts/dashboard-pictures/page ci");
  }
  const options = ['--bundle', '--format=iife', '--log-level=warning', '--define:process.env.NODE_ENV="production"'];
  const loaders = ['woff2', 'woff', 'svg', 'ttf'].map((type) => `--loader:.${type}=dataurl`);
  const { status, stderr } = spawnSync(
    esbuild,
    [join(PAGE, 'main.tsx'), ...options, ...loaders, '--jsx=automatic', `--outfile=${join(folder, 'page.js')}`],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`esbuild: ${stderr}`);
  const file = join(folder, 'page.html');
  writeFileSync(
    file,
    '<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="page.css"><body><script src="page.js"></script>',
  );
  return file;
}
