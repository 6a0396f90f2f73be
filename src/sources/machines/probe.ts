import { ENDPOINTS, requestTo } from '../../api/endpoints.ts';
import { isObject } from '../../toolkit/lib/is-object.ts';
import { nearest } from '../../toolkit/lib/nearest.ts';
import { visible } from '../../toolkit/lib/text.ts';
import { cropped } from '../../toolkit/lib/words.ts';
import { listAt } from '../../toolkit/yaml/value-at.ts';
import type { Answered, Probing, Question } from '../probe.ts';
import { isMatch, type MachinesOptions, machineName } from './options.ts';

const LOOK_BACK_SECONDS = 3_600;
/** The longest line, because names may be many and long. */
const MAX_LENGTH = 1_000;

/** Asks for the names of all machines, and for their newest records in the last hour. */
export function machinesProbing(options: MachinesOptions): Probing {
  const { expected, include, exclude } = options;
  return {
    // The list of names does not depend on the time, and its response shows whether our clock is right.
    questions: (now) => [
      { request: requestTo('machine_names', {}), next: () => [recordsQuestion(Math.floor(now() / 1000))] },
    ],
    found: (answers) => foundIn(options, answers),
    names: (bodies) => [...expected, ...include, ...exclude, ...bodies.flatMap(namesIn)],
  };
}

function recordsQuestion(end: number): Question {
  return { request: requestTo('machine_metrics', { range: { start: end - LOOK_BACK_SECONDS, end } }) };
}

/** The names in the list of names, or in records. */
function namesIn(body: unknown): unknown[] {
  const items = ['data', ...Object.keys(ENDPOINTS.machine_metrics.records)].flatMap((path) => listAt(body, path));
  return items.map((item) => (isObject(item) ? item['machine'] : item));
}

function foundIn({ expected, groups }: MachinesOptions, answers: readonly Answered[]): string[] {
  const read = answers.flatMap(({ result }) => namesIn(result)).filter((name) => typeof name === 'string');
  const names = [...new Set(read.map(machineName))].sort();
  const found = names.length > 0 ? [`Machines in these answers: ${names.join(', ')}.`] : [];
  // Only the list of names is complete: other machines may be on further pages of the records.
  const isWhole = answers.some((one) => one.endpoint === 'machine_names' && !one.failure && one.unreadable === 0);
  const lists: readonly (readonly [setting: string, wanted: readonly string[]])[] = [
    ['machines.expected', expected],
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
