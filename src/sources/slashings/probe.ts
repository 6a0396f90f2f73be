import { requestTo } from '../../api/endpoints.ts';
import { epochAt, SLOTS_PER_EPOCH } from '../../facts/chain.ts';
import { isObject } from '../../toolkit/lib/is-object.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { listAt } from '../../toolkit/yaml/value-at.ts';
import type { Probing, Question } from '../probe.ts';
import { isPlausibleRowAt } from './blocks.ts';
import type { SlashingsOptions } from './options.ts';

/** The slots at the head, and the slashings and the earnings of one of them. */
export function slashingsProbing(options: SlashingsOptions): Probing {
  const { chain } = options;
  return {
    questions: (now) => [
      {
        request: requestTo('epoch_slots', { chain, epoch: 'latest', priority: 'head_pass' }),
        isPlausible: (row) => isPlausibleRowAt(chain, now())(row),
        next: (slots) => slashingsQuestions(options, slots, now()),
      },
    ],
  };
}

/** The slashings of a slot, and what its block earned. Prefers a slot that announces slashings. */
function slashingsQuestions(options: SlashingsOptions, slots: unknown, now: UnixMs): Question[] {
  const { chain, readsProposerNames, readsOwnBlocks } = options;
  const rows = listAt(slots, 'data').filter(isObject);
  const slotOf = (kind: 'attester' | 'proposer'): number => {
    const announcing = rows.find((row) => Number(row[`${kind}slashingscount`]) > 0);
    const slot = (announcing ?? rows.findLast(({ status }) => status === '1'))?.['slot'];
    // Without a response, the last slot of the epoch before.
    return Number.isSafeInteger(slot) ? Number(slot) : epochAt(chain, now) * SLOTS_PER_EPOCH - 1;
  };
  const number = rows
    .map((row) => row['exec_block_number'])
    .findLast((one) => Number.isSafeInteger(one) && Number(one) > 0);
  return [
    requestTo('attester_slashings', { chain, slot: slotOf('attester') }),
    ...(readsProposerNames ? [requestTo('proposer_slashings', { chain, slot: slotOf('proposer') })] : []),
    // Without a response, the first block of the chain.
    ...(readsOwnBlocks ? [requestTo('block_rewards', { chain, number: Number(number ?? 1) })] : []),
  ].map((request) => ({ request }));
}
