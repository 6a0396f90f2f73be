import { cpus, loadavg } from 'node:os';
import { benchBodies } from './bodies.ts';
import { benchDaemon } from './daemon.ts';
import { benchEpochs } from './epochs.ts';
import { benchHeld } from './held.ts';
import { benchRender } from './render.ts';
import { say } from './report.ts';
import { benchRest } from './rest.ts';
import { benchScrape } from './scrape.ts';
import { benchRate, benchSweep } from './sweeps.ts';

const SECTIONS = {
  scrape: benchScrape,
  render: benchRender,
  daemon: benchDaemon,
  held: benchHeld,
  rest: benchRest,
  epochs: benchEpochs,
  bodies: benchBodies,
  sweep: benchSweep,
  rate: benchRate,
} as const;

/** Runs the sections that are named, or all. */
const wanted = process.argv.slice(2);
const [cpu] = cpus();
const [load = 0] = loadavg();
say(`Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} x ${cpu?.model ?? 'CPU'}, `);
say(`load of other processes at the start ${load.toFixed(1)}\n`);
for (const [name, run] of Object.entries(SECTIONS)) {
  if (wanted.length === 0 || wanted.includes(name)) await run();
}
