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
      'Clients push about once a minute, and the exporter polls every `machines.interval`. Values are withdrawn after `machines.stale_after`, last_seen after `machines.forget_after`. Counters of [two pushers](first-hour.md#containers) are withheld. The service leaves out zeros, so these absent fields are 0: booleans, peers, validators, active validators, and free disk and memory if their total is present. Any other absent field has no series.',
  },
  {
    title: 'Daily returns',
    families: DAILY_RETURNS,
    freshness:
      'Of all validators of the chain, for the newest finalized beaconchain-day. Mind the [terms of use](troubleshooting.md#questions).',
  },
  {
    title: 'Chain and slashings',
    families: SLASHINGS,
    freshness:
      '`beaconchain_head_*` describes the newest canonical block, and is polled every `slashings.interval`. Counters are from canonical blocks of finalized epochs, [each counted once](validators.md#how-slashings-and-proposals-are-counted).',
  },
  {
    title: 'Your validators',
    families: [...WATCHED, ...VALIDATORS],
    freshness:
      'Of the validators in `validators.watch`. With `groups`, sums over validators and series of a validator also have the label `group`. What is about rewards or counted epochs is unproven: no recorded response shows it.',
  },
  {
    title: 'Network',
    families: NETWORK,
    freshness:
      'Of all validators of the chain, with `network.enabled: true`, or `auto` and watched validators. Sums of 24 hours, polled every `network.interval`; on a scarce budget once a day, without the queues. All is unproven: no recorded response shows it.',
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
    freshness:
      'Current at every scrape. The source `machines` has no label `chain`. Attempt, success, interval and duration are those of the first enabled read.',
  },
  { title: 'Exporter', families: EXPORTER, freshness: 'Current at every scrape.' },
];

const HEAD = `# Metrics

<!-- Written by node scripts/metrics-docs.ts. -->

Look up here what a metric means; [queries](queries.md) has expressions to start from, and [versions](operations.md#versions) says
what may change. Names end with \`_total\` for counters and name the unit; a ratio is from 0 to 1. HELP and TYPE on \`/metrics\` also name
the fields of the API and the type.
\`--web.disable-exporter-metrics\` disables \`process_*\` and \`nodejs_*\`.

The exporter withdraws a value whose data are older than usual (head 10 minutes, status 3 epochs, sums of 24 hours 6 epochs) by three
epochs or twice the effective interval, whichever is longer.
`;

/** Phrases of HELP that the text of a section says about all its families. */
const SAID_ABOVE =
  / of all validators of the chain(?: (?:in|over) the last 24 hours)?| of (?:the|a) watched validators?\b(?! as|,)| of the newest canonical block of the latest epoch; polled, and withdrawn when stale| in canonical blocks of finalized epochs; each epoch counts once|\. Of the first enabled read$|\. Unproven: .*$/g;

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
