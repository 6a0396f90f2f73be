// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Grafana's variables.
import { GOOD, named, POOR } from './look.ts';
import { type Column, table } from './panels/table.ts';
import { MACHINE, ofMachine, ofProcess } from './queries.ts';
import type { Section } from './shell.ts';

export const MACHINE_COLUMN: Column = {
  name: 'Machine',
  link: {
    title: 'Open the dashboard of this machine',
    url: '/d/beaconchain-machine?${datasource:queryparam}&var-chain=${__data.fields.Chain:percentencode}&var-machine=${__value.raw:percentencode}&${__url_time_range}',
  },
};
const CHAIN_COLUMN: Column = { name: 'Chain', width: 85 };

const CLIENT = `max by (chain, machine, process, client_name, client_version) (beaconchain_machine_client_info{${MACHINE}})`;
const SEEN_AGO = `time() - ${CLIENT} * on (chain, machine, process) group_left () ${ofProcess('beaconchain_machine_last_seen_timestamp_seconds')}`;

const ACTIVE = ofMachine('beaconchain_machine_validators_active');
const KEYS = `sum by (chain, process, client_name) (max without (client_version) (${CLIENT}) * on (chain, machine) group_left () ${ACTIVE})`;
const SHARE = `${KEYS} / on (chain) group_left () (sum by (chain) (${ACTIVE}) > 0)`;

const DIGITS = '\\D*(\\d{1,3})\\.(\\d{1,3})\\.(\\d{1,3})(?:\\D.*)?';
const FILLED = `label_replace(${CLIENT}, "le", "00$1.00$2.00$3", "client_version", \`${DIGITS}\`)`;
const JOINED = `label_replace(${FILLED}, "le", "$1$2$3", "le", \`\\d*(\\d{3})\\.\\d*(\\d{3})\\.\\d*(\\d{3})\`)`;
/**
 * Versions as numbers that can be compared: "v8.1.12-beta" is 8001012. PromQL reads a number from no label but `le` of
 * a histogram, so each client becomes one with a single value. A version without three such numbers gives no value:
 * "Connected" of Prysm, or the date of a nightly build.
 */
const VERSION = `(histogram_quantile(1, ${JOINED} or label_replace(${CLIENT}, "le", "+Inf", "", "")) >= 0)`;
const BEHIND = `${VERSION} < bool on (client_name) group_left () max by (client_name) (${VERSION})`;
const AMONG_YOURS = named({ 1: { text: 'behind', color: POOR }, 0: { text: 'newest', color: GOOD } });

export const clients: Section = {
  title: 'Clients and versions',
  panels: [
    table({
      title: 'Active keys by client',
      description:
        'How many of your active keys depend on each client. "validator": the client that has loaded them. "node": the beacon node on the same machine, if there is one. The keys may use another node.',
      span: 10,
      height: 10,
      labels: { chain: CHAIN_COLUMN, process: { name: 'Process', width: 80 }, client_name: { name: 'Client' } },
      values: [
        [KEYS, { name: 'Keys', decimals: 0, width: 70 }],
        [SHARE, { name: 'Share', unit: 'percentunit', decimals: 0, width: 130, gauge: true }],
      ],
      sortBy: 'Share',
    }),
    table({
      title: 'Clients',
      description:
        'Clients and versions on each machine, as reported by the clients. "behind": another of the chosen machines runs a newer version of this client. The first three numbers of a version are compared. An empty cell means that the version does not have them.',
      span: 14,
      height: 10,
      labels: {
        machine: MACHINE_COLUMN,
        chain: CHAIN_COLUMN,
        process: { name: 'Process', width: 80 },
        client_name: { name: 'Client', width: 90 },
        client_version: { name: 'Version', width: 110 },
      },
      values: [
        [BEHIND, { name: 'Among yours', width: 105, mappings: AMONG_YOURS }],
        [SEEN_AGO, { name: 'Seen ago', unit: 's', decimals: 0, width: 80 }],
      ],
      sortBy: 'Among yours',
    }),
  ],
};
