import type { Config } from '../../config/config.ts';
import type { Chain } from '../../facts/chain.ts';
import { type Watch, watchedCount } from '../../facts/watch.ts';
import { isMatch, machineName } from '../../sources/machines/options.ts';
import { nearest } from '../../toolkit/lib/nearest.ts';
import { visible } from '../../toolkit/lib/text.ts';
import { cropped } from '../../toolkit/lib/words.ts';
import { valueAt } from '../../toolkit/yaml/value-at.ts';
import type { Reply } from './probe.ts';
import { firstOf, listAt } from './questions.ts';

const MAX_LISTED = 20;
const MAX_NAME_LENGTH = 60;

/** Pure. What the answers say of the machines and validators that the configuration names, in lines. */
export function foundIn(config: Config, replies: readonly Reply[]): string[] {
  const ofChains = config.chains.map(({ name }) => validatorsFound(name, config.validators.watch[name], replies));
  return [...machinesFound(config, replies), ...ofChains.filter((line) => line !== undefined)];
}

function machinesFound({ machines, groups }: Config, replies: readonly Reply[]): string[] {
  const records = replies.find(({ endpoint }) => endpoint === 'machine_metrics');
  const list = replies.find(({ endpoint }) => endpoint === 'machine_names');
  const ofRecords = ['system', 'validator', 'node'].flatMap((process) =>
    listAt(records?.result, `data.${process}_metrics`).map((record) => valueAt(record, ['machine'])),
  );
  const all = [...listAt(list?.result, 'data'), ...ofRecords].filter((name) => typeof name === 'string');
  const names = [...new Set(all.map(machineName))].sort();
  // The records are only those of the first page.
  const isWhole = list !== undefined && !list.failure && list.unreadable === 0;
  const settings = [
    ...(['expected', 'include'] as const).map((key) => ({ setting: `machines.${key}`, own: machines[key] })),
    ...groups.map((group) => ({ setting: `groups.${group.name}.machines`, own: group.machines })),
  ];
  const missing = settings.flatMap(({ setting, own }) => {
    const others = names.filter((name) => !own.includes(name));
    return own
      .filter((wanted) => !names.some((name) => isMatch(wanted, name)))
      .map((wanted) => `${setting}: none of these machines is ${shown(wanted)}${hint(nearest(wanted, others))}.`);
  });
  const isAny = isWhole || names.length > 0;
  return [...(isAny ? [`Machines in these answers: ${listed(names)}.`] : []), ...(isWhole ? missing : [])];
}

function hint(near: string | undefined): string {
  return near === undefined ? '' : `, but one is ${shown(near)}`;
}

/** Undefined if an answer that can be read as a whole is missing. */
function validatorsFound(chain: Chain, watch: Watch, replies: readonly Reply[]): string | undefined {
  const reply = replies.find((one) => one.endpoint === 'validators' && one.chain === chain);
  if (!reply || reply.failure || reply.unreadable > 0 || valueAt(reply.result, ['paging', 'next_cursor'])) return;
  const known = listAt(reply.result, 'data').map((row) => valueAt(row, ['validator', 'index']));
  const asked = firstOf(watch);
  const unknown = asked.filter((index) => !known.includes(index));
  const result = unknown.length === 0 ? 'knows all of these' : `does not know ${unknown.join(', ')}`;
  return `Validators of ${chain}: asked for ${asked.length} of ${watchedCount(watch)} watched ones, the service ${result}.`;
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const rest = names.length - MAX_LISTED;
  return `${names.slice(0, MAX_LISTED).map(shown).join(', ')}${rest > 0 ? ` and ${rest} others` : ''}`;
}

function shown(name: string): string {
  return visible(cropped(name, MAX_NAME_LENGTH));
}
