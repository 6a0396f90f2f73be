import * as z from 'zod';
import type { PerformanceAnswer } from '../api/answers/validators.ts';
import type { Chain } from '../facts/chain.ts';
import type { Family, Labels, Sample } from '../toolkit/exposition/family.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { percent, relative } from '../toolkit/lib/words.ts';
import type { Table } from './content.ts';
import { family } from './families.ts';
import { meanOf, sumOfAll } from './sums.ts';

export const DUTIES = ['attestation', 'proposal', 'sync_committee'] as const;
type Duty = (typeof DUTIES)[number];
const SCORES = ['total', ...DUTIES] as const;
export const VOTES = ['head', 'source', 'target'] as const;
const OUTCOMES = ['assigned', 'missed', 'done'] as const;

const NonNegative = z.number().nonnegative();
/** An outcome is absent unless known for all validators. */
const Outcomes = z.partialRecord(z.enum(OUTCOMES), NonNegative);

/** What some validators, or all of a chain, did in the last 24 hours. Persisted. */
export const Performance = z.object({
  duties: z.object({ attestation: Outcomes, proposal: Outcomes, sync_committee: Outcomes }),
  /** From 0 to 1. Absent if no validator had the duty, or the value is outside. */
  scores: z.partialRecord(z.enum(SCORES), z.number()),
  /** Correct votes. Absent unless known for all validators. */
  votes: z.partialRecord(z.enum(VOTES), NonNegative),
  /** The mean of the included attestations, in slots beyond the next one. */
  inclusionDelay: NonNegative.exactOptional(),
  /** The same without slots that had no block, whose delay is not the validator's. */
  ownDelay: NonNegative.exactOptional(),
});
export type Performance = z.infer<typeof Performance>;

type Answer = PerformanceAnswer['data'];

export function performanceOf(answers: readonly Answer[]): Performance {
  // If the service has none of the validators, no duty was assigned.
  const sums = (duty: Duty): z.infer<typeof Outcomes> =>
    present(OUTCOMES.map((outcome) => [outcome, answers.length === 0 ? 0 : total(answers, duty, outcome)] as const));
  const attesting = answers.filter(({ duties }) => duties.attestation.assigned !== 0);
  const correct = (vote: (typeof VOTES)[number]): number | undefined =>
    sumOfAll(attesting.map(({ duties }) => duties.attestation[`correct_${vote}`]));
  const delay = (field: 'avg_inclusion_delay' | 'avg_inclusion_delay_excluding_missed_slots'): number | undefined =>
    meanOf(answers.map(({ duties: { attestation } }) => [attestation[field], attestation.done] as const));
  const inclusionDelay = delay('avg_inclusion_delay');
  const ownDelay = delay('avg_inclusion_delay_excluding_missed_slots');
  return {
    duties: { attestation: sums('attestation'), proposal: sums('proposal'), sync_committee: sums('sync_committee') },
    scores: present(SCORES.map((score) => [score, scoreOf(answers, score)] as const)),
    votes: present(VOTES.map((vote) => [vote, correct(vote)] as const)),
    ...(inclusionDelay !== undefined && { inclusionDelay }),
    ...(ownDelay !== undefined && { ownDelay }),
  };
}

function total(answers: readonly Answer[], duty: Duty, outcome: (typeof OUTCOMES)[number]): number | undefined {
  return sumOfAll(answers.map(({ duties }) => duties[duty][outcome]));
}

/** The mean, weighted by the duties of each response. A score outside 0 to 1 is no score: the service marks so a duty that nobody had. */
function scoreOf(answers: readonly Answer[], score: (typeof SCORES)[number]): number | undefined {
  const about: readonly Duty[] = score === 'total' ? DUTIES : [score];
  return meanOf(
    answers.map(({ beaconscore, duties }) => {
      const { [score]: value } = beaconscore ?? {};
      const isScore = value != null && value >= 0 && value <= 1;
      return [isScore ? value : undefined, sumOfAll(about.map((duty) => duties[duty].assigned))] as const;
    }),
  );
}

function present<K extends string>(values: readonly (readonly [K, number | undefined])[]): { [key in K]?: number } {
  const known = values.filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [key in K]?: number };
}

/** One row of the table that compares you with the network. Empty without an attestation. */
export function attestationTable(
  chain: Chain,
  who: string,
  known: readonly { readonly sums: Performance; readonly at: UnixMs }[],
  now: UnixMs,
): Table[] {
  const sum = (outcome: 'assigned' | 'done') => sumOfAll(known.map(({ sums }) => sums.duties.attestation[outcome]));
  const [assigned, done] = [sum('assigned'), sum('done')];
  if (!assigned || done === undefined) return [];
  const oldest = Math.min(...known.map(({ at }) => at));
  const said = `${who} attested ${percent(done / assigned, 2)} (${relative(oldest, now)})`;
  const columns = ['Chain', 'Attestations of 24 hours'];
  const folded = { size: 1, shown: 0, brief: `${chain}: ${said}`, empty: '' };
  return [{ title: 'You and the network', columns, rows: [[chain, said]], ...folded }];
}

export function performanceFamilies(
  prefix: string,
  whose: string,
  shown: readonly { labels: Labels; duties: { sums: Performance; until: UnixMs } | undefined }[],
): Family[] {
  const each = (samplesOf: (performance: Performance, labels: Labels) => Sample[]): Sample[] =>
    shown.flatMap(({ labels, duties }) =>
      duties ? samplesOf(duties.sums, labels).map((one) => ({ ...one, until: duties.until })) : [],
    );
  const by = (label: string, values: Readonly<Record<string, number>>, labels: Labels): Sample[] =>
    Object.entries(values).map(([key, value]) => ({ labels: { ...labels, [label]: key }, value }));
  return [
    family(
      `${prefix}_score_ratio`,
      `BeaconScore of ${whose} over the last 24 hours, 1 = 100 %; absent without a duty (data.beaconscore)`,
      each(({ scores }, labels) => by('duty', scores, labels)),
    ),
    family(
      `${prefix}_duties`,
      `Duties of ${whose} in the last 24 hours (data.duties)`,
      each(({ duties }, labels) => DUTIES.flatMap((duty) => by('status', duties[duty], { ...labels, duty }))),
    ),
    family(
      `${prefix}_votes`,
      `Correct votes in the attestations of ${whose} in the last 24 hours (data.duties.attestation.correct_*)`,
      each(({ votes }, labels) => by('vote', votes, labels)),
    ),
    family(
      `${prefix}_inclusion_delay_slots`,
      `Mean inclusion delay of attestations of ${whose} in the last 24 hours, in slots; 0 is the best (data.duties.attestation.avg_inclusion_delay)`,
      each(({ inclusionDelay: value }, labels) => (value === undefined ? [] : [{ labels, value }])),
    ),
    family(
      `${prefix}_inclusion_delay_excluding_missed_slots`,
      `Mean inclusion delay of attestations of ${whose} in the last 24 hours, in slots, without slots that had no block (data.duties.attestation.avg_inclusion_delay_excluding_missed_slots)`,
      each(({ ownDelay: value }, labels) => (value === undefined ? [] : [{ labels, value }])),
    ),
  ];
}
