import { cpus } from 'node:os';
import { benchRender } from './render.ts';
import { say } from './report.ts';
import { benchScrape } from './scrape.ts';
import { benchLatency, benchSweep } from './sweep.ts';

const SECTIONS = { scrape: benchScrape, render: benchRender, sweep: benchSweep, latency: benchLatency } as const;

/** Runs the sections that are named, or all. */
const wanted = process.argv.slice(2);
say(`Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} x ${cpus()[0]?.model ?? 'CPU'}\n`);
for (const [name, run] of Object.entries(SECTIONS)) {
  if (wanted.length === 0 || wanted.includes(name)) await run();
}
