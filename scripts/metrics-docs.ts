import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderGolden } from '../test/golden/render.ts';
import {
  API,
  type Contract,
  DAILY_RETURNS,
  EXPORTER,
  MACHINES,
  SLASHINGS,
  SOURCES,
  SYNC_COMMITTEE,
  VALIDATORS,
  WATCHED,
} from '../test/support/metric-contract.ts';
import { queryOf } from './metric-queries.ts';

/** Writes docs/metrics.md: every family, from what the code exposes. */

const FILE = join(import.meta.dirname, '../docs/metrics.md');
const PREFIX = 'beaconchain_';
const OPTIONAL_CHAIN = '`source`, `chain` except for machines';

interface Section {
  readonly title: string;
  readonly families: Contract;
  /** How old the values may be, and when they go. */
  readonly freshness: string;
}

const SECTIONS: readonly Section[] = [
  {
    title: 'Machines',
    families: MACHINES,
    freshness:
      'Clients push about once a minute, and the exporter polls every `machines.interval`. `beaconchain_machine_last_seen_timestamp_seconds` is the time of the newest record. Values older than `machines.stale_after` are withdrawn; last_seen stays until `machines.forget_after`. The service leaves out zeros. So an absent boolean is 0, and so are absent peers, validators, active validators, and free disk and memory if their total is there. Any other field that is absent has no series, and a field that is null has none either.',
  },
  {
    title: 'Daily returns',
    families: DAILY_RETURNS,
    freshness:
      'The newest finalized beaconchain-day, polled once a day. The values stay until the next day is available. By the terms of the service, they must not be used as a financial benchmark.',
  },
  {
    title: 'Chain and slashings',
    families: SLASHINGS,
    freshness:
      '`beaconchain_head_*` is polled every `slashings.interval`, and withdrawn after 10 minutes or twice the effective interval, whichever is longer. Counters cover finalized epochs, each counted once; attester slashings are counted when they are first seen. See [slashings.md](slashings.md).',
  },
  {
    title: 'Your validators',
    families: [...WATCHED, ...VALIDATORS],
    freshness:
      'Only where `validators.watch` names validators, each part where it is on and answered. Counters and slashings are counted as above. The status is polled every `validators.interval`, and withdrawn after three epochs or twice the effective interval, whichever is longer; scores and duties nine times later. Members are withdrawn when their period is over. See [validators.md](validators.md).',
  },
  {
    title: 'Sync committee',
    families: SYNC_COMMITTEE,
    freshness: 'The current period, polled once per period of about 27 hours.',
  },
  {
    title: 'API and budget',
    families: API,
    freshness: 'As of the last response of the service.',
  },
  { title: 'Sources', families: SOURCES, freshness: 'Current at every scrape.' },
  { title: 'Exporter', families: EXPORTER, freshness: 'Current at every scrape.' },
];

const HEAD = `# Metrics

<!-- Written by node scripts/metrics-docs.ts. -->

Every change of a name, type or label is listed in the changelog; see [the policy](upgrading.md#what-a-version-may-change). Names
end with the unit: seconds, bytes, ether, wei, ratio (0 to 1). The field of the API is in parentheses. There are also \`process_*\` and
\`nodejs_*\`, which \`--web.disable-exporter-metrics\` disables.
`;

/** HELP by name, without the sentences that are the same for a whole section. */
function helpsIn(exposition: string): Map<string, string> {
  const helps = [...exposition.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', help = '']) => {
    const [first = ''] = help.split(/(?<=\))\. |\. (?=Pushed|Newest|Polled)/);
    return [name, first.replace(/\.$/, '')] as const;
  });
  return new Map(helps);
}

function rowOf([name, type, labels]: Contract[number], helps: ReadonlyMap<string, string>): string {
  const full = PREFIX + name;
  const help = helps.get(full);
  if (help === undefined) throw new TypeError(`nothing exposes ${full}`);
  const isOfSource = name.startsWith('source_');
  const shown = isOfSource ? OPTIONAL_CHAIN : labels.map((label) => `\`${label}\``).join(', ');
  const cells = [
    `\`${full}\``,
    type,
    shown,
    help.replaceAll('|', '\\|'),
    `\`${queryOf(full, type).replaceAll('|', '\\|')}\``,
  ];
  return `| ${cells.join(' | ')} |`;
}

export async function metricsDocs(): Promise<string> {
  const helps = helpsIn((await renderGolden())('text'));
  const sections = SECTIONS.map(({ title, families, freshness }) =>
    [
      `## ${title}`,
      '',
      freshness,
      '',
      '| family | type | labels | description | example query |',
      '|---|---|---|---|---|',
      ...families.map((family) => rowOf(family, helps)),
      '',
    ].join('\n'),
  );
  return [HEAD, ...sections].join('\n');
}

if (import.meta.main) {
  const docs = await metricsDocs();
  if (docs !== readFileSync(FILE, { encoding: 'utf8', flag: 'a+' })) writeFileSync(FILE, docs);
}
