import type { Config } from '../../config/config.ts';
import type { Chain } from '../../facts/chain.ts';
import { type Watch, watchedCount } from '../../facts/watch.ts';
import { isMatch, machineName } from '../../sources/machines/options.ts';
import { nearest } from '../../toolkit/lib/nearest.ts';
import { visible } from '../../toolkit/lib/text.ts';
import { cropped } from '../../toolkit/lib/words.ts';
import { valueAt } from '../../toolkit/yaml/value-at.ts';
import type { Reply } from './probe.ts';
import { machinesIn } from './public-report.ts';
import { firstOf, listAt } from './questions.ts';

/** Of a line with names, which may be many and long. */
const MAX_LENGTH = 1_000;

/** Pure. What the answers say of the machines and validators that the configuration names, in lines. */
export function foundIn(config: Config, replies: readonly Reply[]): string[] {
  const ofChains = config.chains.map(({ name }) => validatorsFound(name, config.validators.watch[name], replies));
  return [...machinesFound(config, replies), ...ofChains.filter((line) => line !== undefined)];
}

function machinesFound({ machines, groups }: Config, replies: readonly Reply[]): string[] {
  const answers = replies.filter(({ endpoint }) => endpoint === 'machine_metrics' || endpoint === 'machine_names');
  const read = answers.flatMap(({ result }) => machinesIn({ body: result })).filter((name) => typeof name === 'string');
  const names = [...new Set(read.map(machineName))].sort();
  const found = names.length > 0 ? [`Machines in these answers: ${names.join(', ')}.`] : [];
  // Other machines may be on further pages of the records. Only the list of names is whole.
  const isWhole = answers.some((one) => one.endpoint === 'machine_names' && !one.failure && one.unreadable === 0);
  const lists: readonly (readonly [setting: string, wanted: readonly string[]])[] = [
    ['machines.expected', machines.expected],
    ...groups.map((group) => [`groups.${group.name}.machines`, group.machines] as const),
  ];
  const missing = lists.flatMap(([setting, wanted]) => {
    const others = names.filter((name) => !wanted.includes(name));
    const absent = wanted.filter((one) => !names.some((name) => isMatch(one, name)));
    return absent.map((one) => {
      const near = nearest(one, others);
      return `${setting}: the service lists no machine ${one}${near === undefined ? '' : `, but ${near}`}.`;
    });
  });
  return [...found, ...(isWhole ? missing : [])].map((line) => visible(cropped(line, MAX_LENGTH)));
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
