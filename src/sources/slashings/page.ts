import { type Chain, explorerUrl, slotTime } from '../../facts/chain.ts';
import { etherText } from '../../facts/ether.ts';
import { type Watch, watches } from '../../facts/watch.ts';
import { MS_PER_DAY } from '../../toolkit/lib/duration.ts';
import { type Html, html } from '../../toolkit/lib/html.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { count, plural, spaced } from '../../toolkit/lib/words.ts';
import { firingIf } from '../conditions.ts';
import {
  badge,
  type Cell,
  type Linked,
  lines,
  NOT_KNOWN,
  type Notice,
  quiet,
  type Summary,
  someOf,
  type Table,
  time,
} from '../content.ts';
import type { Timing } from '../read.ts';
import { slashedNotices } from '../slashed.ts';
import { shownHead, watchedSlashed } from './metrics.ts';
import type { SlashingsOptions } from './options.ts';
import { isRecent, isUnexpected, lastBlocks } from './own-blocks.ts';
import { isSampled } from './pass.ts';
import type { Slashings } from './state.ts';

export function slashingsPage(options: SlashingsOptions, state: Slashings, timing: Timing, linked: Linked): Summary {
  const { chain, watch, groups } = options;
  const { proposed, missed, orphaned } = state.totals.watchedProposals;
  const proposals = `${count(proposed)} proposed, ${count(missed)} missed`;
  return {
    notices: [
      ...slashedNotices(chain, watchedSlashed(watch, state), timing.now),
      ...missedNotices(options, state, timing.now),
      ...recipientNotices(options, state, timing.now),
    ],
    tables: [
      {
        title: 'Proposals and slashings',
        columns: ['Chain', 'Head', 'Finalized epoch', 'Not yet counted', 'Slashings', 'Watched proposals'],
        rows: [
          [
            chain,
            head(chain, state, timing, linked),
            String(state.finalizedEpoch ?? NOT_KNOWN),
            scanLag(state, timing),
            counted(state),
            groups.length > 0 ? `${proposals}, ${count(orphaned)} orphaned` : '',
          ],
        ],
        size: 1,
        shown: 0,
        brief: groups.length > 0 ? `${chain}: ${proposals}` : '',
        empty: '',
      },
      {
        title: 'Last slashings',
        columns: ['Slot', 'Chain', 'Time', 'Kind', 'Validators'],
        rows: state.recent
          .toReversed()
          .map(({ slot, kind, validators, count: all }) => [
            linked(`${slot}`, explorerUrl(chain, 'slot', slot)),
            chain,
            time(slotTime(chain, slot) * 1000, timing.now),
            spaced(kind),
            validatorList(watch, validators, all),
          ]),
        size: state.recent.length,
        shown: 0,
        empty: 'None seen since the exporter first started.',
      },
      ...blockTables(options, state, timing.now, linked),
    ],
  };
}

function missedNotices({ chain, watch }: SlashingsOptions, { missedProposals }: Slashings, now: UnixMs): Notice[] {
  const missed = missedProposals.filter(
    ([validator, slot]) => watches(watch, validator) && now - slotTime(chain, slot) * 1000 < MS_PER_DAY,
  );
  const validators = missed.map(([validator]) => validator).sort((a, b) => a - b);
  return firingIf('BeaconchainWatchedProposalMissed', validators, chain);
}

/** As in the alert rule. */
function recipientNotices(options: SlashingsOptions, state: Slashings, now: UnixMs): Notice[] {
  if (!options.readsOwnBlocks) return [];
  const blocks = lastBlocks(options, state).filter((one) => isUnexpected(options, one) && isRecent(options, one, now));
  const validators = new Set(blocks.map(({ validator }) => validator));
  return firingIf('BeaconchainFeeRecipientUnexpected', [...validators], options.chain);
}

const NO_LIST = 'not checked: validators.fee_recipients can name your addresses';

/** The last blocks of watched validators, the newest first. */
function blockTables(options: SlashingsOptions, state: Slashings, now: UnixMs, linked: Linked): Table[] {
  const { chain, feeRecipients, readsOwnBlocks } = options;
  if (!readsOwnBlocks) return [];
  const blocks = lastBlocks(options, state).toReversed();
  return [
    {
      title: 'Last blocks',
      columns: ['Slot', 'Chain', 'Time', 'Validator', 'Earned', 'Paid to', 'How'],
      rows: blocks.map((block, i) => {
        const { slot, validator, kind, wei, recipient } = block;
        const address = recipient ?? 'not known';
        const unjudged = i === 0 && feeRecipients.length === 0 ? [quiet(NO_LIST)] : [];
        return [
          linked(`${slot}`, explorerUrl(chain, 'slot', slot)),
          chain,
          time(slotTime(chain, slot) * 1000, now),
          linked(`${validator}`, explorerUrl(chain, 'validator', validator)),
          wei === null ? 'not known' : etherText(wei),
          lines(isUnexpected(options, block) ? badge('bad', `${address} unexpected`) : address, ...unjudged),
          kind === 'mev' ? 'MEV, from the builder' : 'fees of its transactions',
        ];
      }),
      size: blocks.length,
      shown: 0,
      empty: `No block of a watched validator has been counted yet.${feeRecipients.length === 0 ? ` Recipients are ${NO_LIST}.` : ''}`,
    },
  ];
}

function head(chain: Chain, state: Slashings, timing: Timing, linked: Linked): Cell {
  const shown = shownHead(chain, state, timing);
  if (!shown && timing.of('head') === undefined) return 'not read: the budget does not allow head passes';
  if (!shown) return state.head ? 'not read recently' : NOT_KNOWN;
  const { slot, epoch } = shown;
  return lines(
    html`${linked(`slot ${slot}`, explorerUrl(chain, 'slot', slot))}, epoch ${epoch}`,
    time(slotTime(chain, slot) * 1000, timing.now),
  );
}

const SAMPLED =
  'the budget allows reading only some finalized epochs; slashings and proposals in the others are not counted';

function scanLag({ finalizedEpoch, scannedEpoch, totals }: Slashings, timing: Timing): Cell {
  if (finalizedEpoch === undefined || scannedEpoch === undefined) return NOT_KNOWN;
  const lag = finalizedEpoch - scannedEpoch;
  const skipped = totals.skippedEpochs > 0 ? [quiet(`${plural(totals.skippedEpochs, 'epoch')} skipped so far`)] : [];
  return lines(lag > 0 ? plural(lag, 'epoch') : 'none', ...skipped, ...(isSampled(timing) ? [quiet(SAMPLED)] : []));
}

function counted({ totals }: Slashings): Cell {
  const { attesterSlashings, proposerSlashings, slashedValidators } = totals;
  const all = Object.values(attesterSlashings).reduce((sum, one) => sum + one, 0);
  return lines(
    `${plural(all, 'attester slashing')}, ${plural(slashedValidators, 'validator')}`,
    plural(proposerSlashings, 'proposer slashing'),
  );
}

function validatorList(watch: Watch, validators: readonly number[], all: number): Html {
  const named = validators.map((one) => (watches(watch, one) ? badge('bad', `${one} watched`) : `${one}`));
  return someOf(named, all);
}
