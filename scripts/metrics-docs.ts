import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderGolden } from '../test/golden/render.ts';
import {
  API,
  type Contract,
  DAILY_RETURNS,
  EXPORTER,
  MACHINES,
  NETWORK,
  SLASHINGS,
  SOURCES,
  SYNC_COMMITTEE,
  VALIDATORS,
  WATCHED,
} from '../test/support/contract/metric-contract.ts';

/** Writes docs/metrics.md: every family, from what the code exposes. */

const FILE = join(import.meta.dirname, '../docs/metrics.md');
const PREFIX = 'beaconchain_';

interface Section {
  readonly title: string;
  readonly families: Contract;
  /** How old the values may be, and when they are withdrawn. */
  readonly freshness: string;
}

const SECTIONS: readonly Section[] = [
  {
    title: 'Machines',
    families: MACHINES,
    freshness:
      'Clients push about once a minute, and the exporter polls every `machines.interval`. Values older than `machines.stale_after` are withdrawn, last_seen after `machines.forget_after`. Counters of [two pushers](first-hour.md#containers) are withheld. The service leaves out zeros: an absent boolean is 0, and so are absent peers, validators, active validators, and free disk and memory if their total is present. Any other absent field has no series.',
  },
  {
    title: 'Daily returns',
    families: DAILY_RETURNS,
    freshness:
      'The newest finalized beaconchain-day, until the next one is available. Mind the [terms of use](troubleshooting.md#questions).',
  },
  {
    title: 'Chain and slashings',
    families: SLASHINGS,
    freshness:
      '`beaconchain_head_*` is from the newest canonical block of the latest epoch. It is polled every `slashings.interval`, and withdrawn by the time of its slot. Counters are from canonical blocks of finalized epochs, [each counted once](validators.md#how-slashings-and-proposals-are-counted).',
  },
  {
    title: 'Your validators',
    families: [...WATCHED, ...VALIDATORS],
    freshness:
      'Only if `validators.watch` names validators. The status is polled every `validators.interval`, and withdrawn by the epoch of its answer. With `groups`, the sums over validators and the series of a validator also have the label `group`.',
  },
  {
    title: 'Network',
    families: NETWORK,
    freshness:
      'Only where `network.enabled` is true, or auto and validators are watched. Sums of 24 hours, polled every `network.interval`; on a scarce budget once a day, without the queues.',
  },
  {
    title: 'Sync committee',
    families: SYNC_COMMITTEE,
    freshness: 'The current period of about 27 hours.',
  },
  {
    title: 'API and budget',
    families: API,
    freshness: 'As of the last response of the service.',
  },
  {
    title: 'Sources',
    families: SOURCES,
    freshness: 'Current at every scrape. The source `machines` has no label `chain`.',
  },
  { title: 'Exporter', families: EXPORTER, freshness: 'Current at every scrape.' },
];

const HEAD = `# Metrics

<!-- Written by node scripts/metrics-docs.ts. -->

Names that end with \`_total\` are counters, \`beaconchain_api_request_duration_seconds\` is a histogram, all others are gauges. Names
tell the unit; a ratio is from 0 to 1. HELP texts also name the fields of the API. [Queries](queries.md) has expressions to start from,
and [versions](operations.md#versions) says what may change. There are also \`process_*\` and \`nodejs_*\`, which
\`--web.disable-exporter-metrics\` disables.

A value is as old as what it says. It is withdrawn when that is older than usual (head 10 minutes, status 3 epochs, sums of 24 hours
6 epochs) by three epochs or twice the effective interval, whichever is longer.
`;

/** Phrases of HELP that the text of a section says about all its families. */
const SAID_ABOVE =
  / of the newest canonical block of the latest epoch; polled, and withdrawn when stale| in canonical blocks of finalized epochs; each epoch counts once/;

/** The fields of the API, which interest few readers. `/metrics` names them. */
const FIELDS = / \([a-z_][\w.[\]*]*(?:, [a-z_][\w.[\]*]*)*\)/;

/** HELP by name, without phrases that hold for a whole section. */
function helpsIn(exposition: string): Map<string, string> {
  const helps = [...exposition.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = '', help = '']) => {
    const [first = ''] = help.split(/(?<=\))\. |\. (?=Pushed|Newest|Polled)/);
    return [name, first.replace(/\.$/, '').replace(SAID_ABOVE, '').replace(FIELDS, '')] as const;
  });
  return new Map(helps);
}

function rowOf([name, , labels]: Contract[number], helps: ReadonlyMap<string, string>): string {
  const full = PREFIX + name;
  const help = helps.get(full);
  if (help === undefined) throw new TypeError(`nothing exposes ${full}`);
  // A browser breaks a line at spaces only.
  const shown = labels.length > 0 ? `{${labels.join(labels.length > 4 ? ', ' : ',')}}` : '';
  const cells = [`\`${full}${shown}\``, help.replaceAll('|', '\\|')];
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
      '| family and labels | description |',
      '|---|---|',
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
