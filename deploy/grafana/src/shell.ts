// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Grafana's variables.
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  AnnotationQueryBuilder,
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  type Panel,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DATASOURCE } from './panels/panel.ts';
import { CHAIN, GROUP, MACHINE, ofChain, timeOfWatched } from './queries.ts';

const TAG = 'beaconchain-exporter';

/** A dot alone matches no line break, and a name may have one. */
const EVERYTHING = '(?s:.*)';

export type VariableName = 'chain' | 'group' | 'machine' | 'machines';

export interface Section {
  readonly title: string;
  readonly panels: readonly Builder<Panel>[];
}

export interface DashboardOptions {
  /** Also the name of the file. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** The default time range, such as "6h". */
  readonly range: string;
  /** `machine`: one of them; `machines`: any number. */
  readonly variables: readonly VariableName[];
  readonly annotations: readonly AnnotationQueryBuilder[];
  /** The first has no title, because it is at the top. */
  readonly sections: readonly Section[];
}

export function dashboard(options: DashboardOptions): Dashboard {
  const builder = new DashboardBuilder(options.title)
    .uid(options.uid)
    .description(options.description)
    .tags([TAG])
    .time({ from: `now-${options.range}`, to: 'now' })
    .refresh('1m')
    .tooltip(DashboardCursorSync.Crosshair)
    .variables([datasource(), ...options.variables.map((name) => VARIABLES[name]())])
    .annotations([...options.annotations])
    .link(
      new DashboardLinkBuilder('Dashboards')
        .type(DashboardLinkType.Dashboards)
        .tags([TAG])
        .includeVars(true)
        .keepTime(true),
    );
  for (const { title, panels } of options.sections) {
    if (title !== '') builder.withRow(new RowBuilder(title));
    for (const panel of panels) builder.withPanel(panel);
  }
  return inSight(builder.build());
}

/** The builders hide links and annotations in a menu, and give panels no number. */
function inSight(built: Dashboard): Dashboard {
  const { links = [], annotations, panels = [] } = built;
  for (const one of [...links, ...(annotations?.list ?? [])]) delete one.placement;
  for (const [i, panel] of panels.entries()) panel.id = i + 1;
  return built;
}

function datasource(): DatasourceVariableBuilder {
  return new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus');
}

const GROUPED = 'beaconchain_machine_last_seen_timestamp_seconds|beaconchain_watched_validators';

const VARIABLES = {
  chain: () =>
    several(
      queried(
        'chain',
        'Chain',
        'label_values({__name__=~"beaconchain_machines|beaconchain_source_up", chain!=""}, chain)',
      ),
    ),
  group: () => several(queried('group', 'Group', `label_values({__name__=~"${GROUPED}", ${CHAIN}}, group)`)),
  machines: () => several(machine()),
  machine,
} satisfies Record<VariableName, () => QueryVariableBuilder>;

function machine(): QueryVariableBuilder {
  return queried(
    'machine',
    'Machine',
    `label_values(beaconchain_machine_last_seen_timestamp_seconds{${GROUP}}, machine)`,
  );
}

/** Any number of values, and all of them at first. */
function several(variable: QueryVariableBuilder): QueryVariableBuilder {
  return variable
    .multi(true)
    .includeAll(true)
    .allValue(EVERYTHING)
    .current({ selected: true, text: ['All'], value: ['$__all'] });
}

/** The type that Grafana's editor sets for a query of label values. */
const LABEL_VALUES = 1;

function queried(name: string, label: string, query: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(DATASOURCE)
    .query({ qryType: LABEL_VALUES, query, refId: 'PrometheusVariableQueryEditor-VariableQuery' })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NaturalAsc);
}

/** Marks at the times that are the values of series, in milliseconds: the events, not the polls that reported them. */
function marks(name: string, color: string, expr: string, title: string, text: string): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(DATASOURCE)
    .enable(true)
    .iconColor(color)
    .expr(`1000 * ${expr}`)
    .step('60s')
    .useValueForTime(true)
    .titleFormat(title)
    .textFormat(text);
}

const CHAIN_NAME = '{{chain}}';
const VALIDATOR_NAME = '{{validator}} of {{chain}}';

/** Charts of machines have no such marks, because most slashings concern validators of others. */
export function slashingMarks(): AnnotationQueryBuilder[] {
  return [
    marks(
      'Attester slashings',
      'red',
      ofChain('last_attester_slashing_timestamp_seconds'),
      'Attester slashing',
      CHAIN_NAME,
    ),
    marks(
      'Proposer slashings',
      'purple',
      ofChain('last_proposer_slashing_timestamp_seconds'),
      'Proposer slashing',
      CHAIN_NAME,
    ),
    ...watchedSlashingMarks(),
  ];
}

export function watchedSlashingMarks(): AnnotationQueryBuilder[] {
  const title = 'Watched validator slashed';
  return [marks('Watched validators slashed', 'dark-red', timeOfWatched('slashed'), title, VALIDATOR_NAME)];
}

export function missedProposalMarks(): AnnotationQueryBuilder[] {
  const title = 'Watched validator missed a proposal';
  return [marks('Watched proposals missed', 'orange', timeOfWatched('missed_proposal'), title, VALIDATOR_NAME)];
}

/** As the alert BeaconchainMachineRebooted: some clients compute the boot time anew each time, and a second is no reboot. */
export function rebootMarks(): AnnotationQueryBuilder[] {
  const boot = `beaconchain_machine_boot_time_seconds{${MACHINE}}`;
  const moved = `${boot} - (last_over_time(${boot}[1d] offset 1h) > 0) > 60 or ${boot} - (min_over_time(${boot}[1h]) > 0) > 60`;
  const rebooted = `max by (chain, machine) (${boot} and (${moved}))`;
  return [marks('Reboots', 'blue', rebooted, 'Reboot', '{{machine}} of {{chain}}')];
}
