/**
 * Takes the pictures of the dashboards: node scripts/dashboard-pictures.ts
 * All dashboards, calm and in trouble, to look at: node scripts/dashboard-pictures.ts --all=/tmp/looks
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { RULE_FILES } from '../deploy/grafana/src/rules.ts';
import { bundle } from './dashboard-pictures/bundle.ts';
import { shrink } from './dashboard-pictures/shrink.ts';
import { simulate } from './dashboard-pictures/simulate.ts';
import { takePictures } from './dashboard-pictures/take-pictures.ts';
import { DAYS, type State } from './dashboard-pictures/trouble.ts';

const ROOT = join(import.meta.dirname, '..');

const { values: flags } = parseArgs({
  options: {
    dashboards: { type: 'string', default: join(ROOT, 'deploy/grafana/dashboards') },
    rules: { type: 'string', multiple: true, default: RULE_FILES },
    out: { type: 'string', default: join(ROOT, 'docs/images') },
    all: { type: 'string' },
    /** Only dashboards with this in their name. */
    only: { type: 'string', default: '' },
    /** Keeps the simulated days in this folder, for the next time. */
    keep: { type: 'string' },
  },
});

/** Each ends above the panel with the title `until`. */
const PICTURES = [
  { file: 'fleet.png', dashboard: 'beaconchain-fleet', state: 'trouble', until: 'Beacon nodes' },
  { file: 'overview.png', dashboard: 'beaconchain-fleet', state: 'trouble', until: 'Load' },
  { file: 'returns.png', dashboard: 'beaconchain-returns', state: 'calm', until: 'Return by layer' },
  { file: 'exporter.png', dashboard: 'beaconchain-exporter', state: 'trouble', until: 'Requests per day' },
] as const;

function wanted() {
  if (flags.all === undefined) return PICTURES.map(({ file, ...rest }) => ({ ...rest, path: join(flags.out, file) }));
  const folder = flags.all;
  const dashboards = readdirSync(flags.dashboards).map((file) => basename(file, '.json'));
  return (Object.keys(DAYS) as State[]).flatMap((state) =>
    dashboards.map((dashboard) => ({ dashboard, state, path: join(folder, `${dashboard}-${state}.png`) })),
  );
}

const folder = mkdtempSync(join(tmpdir(), 'pictures-'));
try {
  const page = bundle(folder);
  const pictures = wanted().filter(({ dashboard }) => dashboard.includes(flags.only));
  for (const state of new Set(pictures.map((picture) => picture.state))) {
    const prometheus = await simulate(state, { rules: flags.rules, folder: join(flags.keep ?? folder, state) });
    try {
      const inState = pictures.filter((picture) => picture.state === state);
      await takePictures(inState, {
        page,
        prometheus: prometheus.url,
        read: (dashboard) => JSON.parse(readFileSync(join(flags.dashboards, `${dashboard}.json`), 'utf8')),
      });
      if (flags.all === undefined) for (const { path } of inState) shrink(path);
    } finally {
      await prometheus.stop();
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
