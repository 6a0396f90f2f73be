import { type ApiRequest, IDENTIFIERS_OF_AGGREGATE, PAGE_SIZE, requestTo } from '../../api/endpoints.ts';
import { epochAt } from '../../facts/chain.ts';
import { sizeOf } from '../../facts/groups.ts';
import { type Identifier, indicesOf, nameOf } from '../../facts/watch.ts';
import { visible } from '../../toolkit/lib/text.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { listAt, valueAt } from '../../toolkit/yaml/value-at.ts';
import type { Answered, Probing } from '../probe.ts';
import { openKeys } from '../watched-keys.ts';
import type { ValidatorsOptions } from './options.ts';

/** With usual finality, the epoch so many before the current one is final. */
const FINAL_EPOCHS = 5;

/** The status, the sums and an epoch of the first watched validators, and the members of the sync committee. */
export function validatorsProbing(options: ValidatorsOptions): Probing {
  const { chain, watch, status, rewards, syncCommittee, epochs } = options;
  const [, ofAllPlans] = IDENTIFIERS_OF_AGGREGATE;
  const some = indicesOf(watch).take(ofAllPlans).toArray();
  const asked = (identifiers: readonly number[], now: UnixMs): { request: ApiRequest }[] => {
    const sums: ApiRequest[] = [
      ...(status ? [requestTo('validators_performance', { chain, identifiers })] : []),
      ...(status && rewards ? [requestTo('validators_rewards', { chain, identifiers })] : []),
    ];
    const epoch = Math.max(0, epochAt(chain, now) - FINAL_EPOCHS);
    const one = { chain, identifiers: identifiers.slice(0, PAGE_SIZE), epoch, priority: 'background' } as const;
    const lists: ApiRequest[] =
      epochs === false
        ? []
        : [requestTo('validators_performance_list', one), requestTo('validators_rewards_list', one)];
    return [...sums, ...lists].map((request) => ({ request }));
  };
  const questions = (now: () => UnixMs) => [
    ...(syncCommittee ? [{ request: requestTo('sync_committee_members', { chain, period: 'latest' }) }] : []),
    ...(status
      ? [
          {
            request: requestTo('validators', { chain, identifiers: askedOf(options) }),
            // Without an index in the configuration, the indices of the response.
            next: (answer: unknown) => {
              const found = rowsOf(answer).flatMap(({ index }) => (typeof index === 'number' ? index : []));
              return some.length === 0 && found.length > 0 ? asked(found, now()) : [];
            },
          },
        ]
      : []),
    ...(some.length > 0 ? asked(some, now()) : []),
  ];
  return { questions, found: (answers) => foundIn(options, answers) };
}

/** Keys first, because the user does not know their indices. */
function askedOf(options: ValidatorsOptions): Identifier[] {
  return [...openKeys(options), ...indicesOf(options.watch).take(PAGE_SIZE)].slice(0, PAGE_SIZE);
}

function rowsOf(answer: unknown) {
  return listAt(answer, 'data').map((row) => ({
    index: valueAt(row, ['validator', 'index']),
    key: String(valueAt(row, ['validator', 'public_key'])).toLowerCase(),
    status: valueAt(row, ['status']),
  }));
}

/** Empty unless every response is fully readable. */
function foundIn(options: ValidatorsOptions, answers: readonly Answered[]): string[] {
  const { chain, groups } = options;
  const answer = answers.find(({ endpoint }) => endpoint === 'validators');
  if (!answer || answer.failure || answer.unreadable > 0 || valueAt(answer.result, ['paging', 'next_cursor']))
    return [];
  const rows = rowsOf(answer.result);
  const asked = askedOf(options).map((one) => ({
    one,
    row: rows.find(({ index, key }) => one === index || one === key),
  }));
  const unknown = asked.filter(({ row }) => !row).map(({ one }) => nameOf(one));
  const result = unknown.length === 0 ? 'knows all of these' : `does not know ${unknown.join(', ')}`;
  const all = groups.reduce((sum, one) => sum + sizeOf(one), 0);
  const said = asked.flatMap(({ one, row }) =>
    row && typeof one === 'string'
      ? `${nameOf(one)} is ${visible(`${row.index ?? 'without an index'} (${row.status})`)}`
      : [],
  );
  return [
    `Validators of ${chain}: asked for ${asked.length} of ${all} watched ones, the service ${result}.`,
    ...(said.length > 0 ? [`Public keys of ${chain}: ${said.join(', ')}.`] : []),
  ];
}
