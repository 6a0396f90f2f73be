import { IDENTIFIERS_OF_AGGREGATE, PAGE_SIZE, requestTo } from '../../api/endpoints.ts';
import { indicesOf, type Watch, watchedCount } from '../../facts/watch.ts';
import { listAt, valueAt } from '../../toolkit/yaml/value-at.ts';
import type { Answered, Probing } from '../probe.ts';
import type { ValidatorsOptions } from './options.ts';

/** The status and the sums of the first watched validators, and the members of the sync committee. */
export function validatorsProbing(options: ValidatorsOptions): Probing {
  const { chain, watch, status, rewards, syncCommittee } = options;
  const [, ofAllPlans] = IDENTIFIERS_OF_AGGREGATE;
  const [some, more] = [firstOf(watch, PAGE_SIZE), firstOf(watch, ofAllPlans)];
  const requests = [
    ...(syncCommittee ? [requestTo('sync_committee_members', { chain, period: 'latest' })] : []),
    ...(status ? [requestTo('validators', { chain, identifiers: some })] : []),
    ...(status ? [requestTo('validators_performance', { chain, identifiers: more })] : []),
    ...(rewards ? [requestTo('validators_rewards', { chain, identifiers: more })] : []),
  ];
  return {
    questions: () => requests.map((request) => ({ request })),
    found: (answers) => foundIn(options, answers),
  };
}

function firstOf(watch: Watch, count: number): number[] {
  return indicesOf(watch).take(count).toArray();
}

/** Nothing if an answer that can be read in full is missing. */
function foundIn({ chain, watch }: ValidatorsOptions, answers: readonly Answered[]): string[] {
  const answer = answers.find(({ endpoint }) => endpoint === 'validators');
  if (!answer || answer.failure || answer.unreadable > 0 || valueAt(answer.result, ['paging', 'next_cursor']))
    return [];
  const known = listAt(answer.result, 'data').map((row) => valueAt(row, ['validator', 'index']));
  const asked = firstOf(watch, PAGE_SIZE);
  const unknown = asked.filter((index) => !known.includes(index));
  const result = unknown.length === 0 ? 'knows all of these' : `does not know ${unknown.join(', ')}`;
  return [
    `Validators of ${chain}: asked for ${asked.length} of ${watchedCount(watch)} watched ones, the service ${result}.`,
  ];
}
