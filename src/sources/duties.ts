import * as z from 'zod';
import type { PerformanceAnswer } from '../api/answers/validators.ts';
import type { Chain } from '../facts/chain.ts';
import type { Family, Labels, Sample } from '../toolkit/exposition/family.ts';
import type { UnixMs } from '../toolkit/lib/time.ts';
import { percent, relative } from '../toolkit/lib/words.ts';
import type { Table } from './content.ts';
import { family } from './families.ts';

export const DUTIES = ['attestation', 'proposal', 'sync_committee'] as const;
type Duty = (typeof DUTIES)[number];
const SCORES = ['total', ...DUTIES] as const;
const VOTES = ['head', 'source', 'target'] as const;
const OUTCOMES = ['assigned', 'missed', 'done'] as const;

const NonNegative = z.number().nonnegative();
const Outcomes = z.object({ assigned: NonNegative, missed: NonNegative, done: NonNegative });

/** What some validators, or all of a chain, did in the last 24 hours. Persisted. */
export const Performance = z.object({
  duties: z.object({ attestation: Outcomes, proposal: Outcomes, sync_committee: Outcomes }),
  /** From 0 to 1. Absent if no validator had the duty, or the service computes something else. */
  scores: z.partialRecord(z.enum(SCORES), z.number()),
  /** How many votes were correct. Absent unless this is known of all validators. */
  votes: z.partialRecord(z.enum(VOTES), NonNegative),
  /** The mean of the included attestations, in slots beyond the next one. */
  inclusionDelay: NonNegative.exactOptional(),
});
export type Performance = z.infer<typeof Performance>;

type Answer = PerformanceAnswer['data'];

export function performanceOf(answers: readonly Answer[]): Performance {
  const sums = (duty: Duty): z.infer<typeof Outcomes> => {
    const sum = (outcome: (typeof OUTCOMES)[number]): number =>
      answers.reduce((total, { duties }) => total + duties[duty][outcome], 0);
    return { assigned: sum('assigned'), missed: sum('missed'), done: sum('done') };
  };
  const attesting = answers.filter(({ duties }) => duties.attestation.assigned > 0);
  const correct = (vote: (typeof VOTES)[number]): number | undefined =>
    allKnown(attesting.map(({ duties }) => duties.attestation[`correct_${vote}`]))?.reduce((sum, one) => sum + one, 0);
  const inclusionDelay = meanOf(
    answers.map(({ duties: { attestation } }): Weighted => [attestation.avg_inclusion_delay, attestation.done]),
  );
  return {
    duties: { attestation: sums('attestation'), proposal: sums('proposal'), sync_committee: sums('sync_committee') },
    scores: present(SCORES.map((score) => [score, scoreOf(answers, score)] as const)),
    votes: present(VOTES.map((vote) => [vote, correct(vote)] as const)),
    ...(inclusionDelay !== undefined && { inclusionDelay }),
  };
}

/** The mean, weighted by the duties of each answer. Penalties can make it negative, which is no ratio. */
function scoreOf(answers: readonly Answer[], score: (typeof SCORES)[number]): number | undefined {
  const about: readonly Duty[] = score === 'total' ? DUTIES : [score];
  const assigned = ({ duties }: Answer): number => about.reduce((total, duty) => total + duties[duty].assigned, 0);
  const mean = meanOf(answers.map((one): Weighted => [one.beaconscore?.[score], assigned(one)]));
  return mean !== undefined && mean >= 0 && mean <= 1 ? mean : undefined;
}

type Weighted = readonly [value: number | null | undefined, weight: number];

/** The weighted mean of the known values. A single value is returned without a rounding error. */
function meanOf(values: readonly Weighted[]): number | undefined {
  const known = values.flatMap(([value, weight]) => (value == null || weight === 0 ? [] : [{ value, weight }]));
  if (known.length <= 1) return known[0]?.value;
  const all = known.reduce((sum, { weight }) => sum + weight, 0);
  return known.reduce((sum, { value, weight }) => sum + value * weight, 0) / all;
}

/** All values. Undefined if there is none, or one of them is not known. */
export function allKnown<T>(values: readonly (T | null | undefined)[]): T[] | undefined {
  const known = values.filter((one) => one != null);
  return known.length > 0 && known.length === values.length ? known : undefined;
}

function present<K extends string>(values: readonly (readonly [K, number | undefined])[]): { [key in K]?: number } {
  const known = values.filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as { [key in K]?: number };
}

/** One row of the table on the status page that compares you with the network. No table without an attestation. */
export function attestationTable(
  chain: Chain,
  who: string,
  performances: readonly Performance[],
  readAt: UnixMs,
  now: UnixMs,
): Table[] {
  const sum = (outcome: 'assigned' | 'done'): number =>
    performances.reduce((total, { duties }) => total + duties.attestation[outcome], 0);
  const assigned = sum('assigned');
  if (assigned === 0) return [];
  const said = `${who} attested ${percent(sum('done') / assigned, 2)} (${relative(readAt, now)})`;
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
      `BeaconScore of ${whose} over the last 24 hours, 1 = 100 %; absent without such a duty (data.beaconscore)`,
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
      `Mean inclusion delay of the attestations of ${whose} in the last 24 hours, in slots beyond the next one: 0 is the best (data.duties.attestation.avg_inclusion_delay)`,
      each(({ inclusionDelay: value }, labels) => (value === undefined ? [] : [{ labels, value }])),
    ),
  ];
}
