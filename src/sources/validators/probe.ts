import { type ApiRequest, IDENTIFIERS_OF_AGGREGATE, PAGE_SIZE, requestTo } from '../../api/endpoints.ts';
import { sizeOf } from '../../facts/groups.ts';
import { type Identifier, indicesOf, nameOf } from '../../facts/watch.ts';
import { visible } from '../../toolkit/lib/text.ts';
import { plural } from '../../toolkit/lib/words.ts';
import { listAt, valueAt } from '../../toolkit/yaml/value-at.ts';
import type { Answered, Probing } from '../probe.ts';
import { openKeys } from '../watched-keys.ts';
import type { ValidatorsOptions } from './options.ts';

/** The status and the sums of the first watched validators, and the members of the sync committee. */
export function validatorsProbing(options: ValidatorsOptions): Probing {
  const { chain, watch, status, rewards, syncCommittee } = options;
  const [, ofAllPlans] = IDENTIFIERS_OF_AGGREGATE;
  const some = indicesOf(watch).take(ofAllPlans).toArray();
  const sumsOf = (identifiers: readonly number[]): { request: ApiRequest }[] => [
    { request: requestTo('validators_performance', { chain, identifiers }) },
    ...(rewards ? [{ request: requestTo('validators_rewards', { chain, identifiers }) }] : []),
  ];
  // Without an index in the configuration, those of the answer.
  const next = (answer: unknown) => {
    const found = rowsOf(answer).flatMap(({ index }) => (typeof index === 'number' ? index : []));
    return some.length === 0 && found.length > 0 ? sumsOf(found) : [];
  };
  const questions = [
    ...(syncCommittee ? [{ request: requestTo('sync_committee_members', { chain, period: 'latest' }) }] : []),
    ...(status ? [{ request: requestTo('validators', { chain, identifiers: askedOf(options) }), next }] : []),
    ...(status && some.length > 0 ? sumsOf(some) : []),
  ];
  return { questions: () => questions, found: (answers) => foundIn(options, answers) };
}

/** Keys first: what is found of them is the news. */
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

/** Nothing if an answer that can be read in full is missing. */
function foundIn(options: ValidatorsOptions, answers: readonly Answered[]): string[] {
  const { chain, groups, keys, onlyAsked } = options;
  const answer = answers.find(({ endpoint }) => endpoint === 'validators');
  if (!answer || answer.failure || answer.unreadable > 0 || valueAt(answer.result, ['paging', 'next_cursor']))
    return [];
  const rows = rowsOf(answer.result);
  const asked = askedOf(options).map((one) => ({
    one,
    row: rows.find(({ index, key }) => one === index || one === key),
    mayBeElsewhere: keys?.anywhere.has(String(one)),
  }));
  const unknown = asked.filter(({ row, mayBeElsewhere }) => !row && !mayBeElsewhere).map(({ one }) => nameOf(one));
  const result = unknown.length === 0 ? 'knows all of these' : `does not know ${unknown.join(', ')}`;
  const all = groups.reduce((sum, one) => sum + sizeOf(one), onlyAsked?.size ?? 0);
  const said = asked.flatMap(({ one, row, mayBeElsewhere }) => {
    if (typeof one === 'number' || (!row && !mayBeElsewhere)) return [];
    const what = row ? `${row.index ?? 'without an index'} (${row.status})` : 'not on this chain';
    return `${nameOf(one)} is ${visible(what)}`;
  });
  const left = Math.max(0, openKeys(options).length - PAGE_SIZE);
  return [
    `Validators of ${chain}: asked for ${asked.length} of ${all} watched ones, the service ${result}.`,
    ...(said.length > 0 ? [`Public keys of ${chain}: ${said.join(', ')}.`] : []),
    ...(left > 0
      ? [`Warning: ${plural(left, 'public key')} of ${chain} not requested: serve finds their indices.`]
      : []),
  ];
}
