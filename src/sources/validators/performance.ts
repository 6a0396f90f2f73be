import { RequestFailed } from '../../api/errors.ts';
import type { UnixMs } from '../../lib/time.ts';
import { refusedUntil } from '../refusal.ts';
import { IDENTIFIERS_OF_PERFORMANCE, POLLS_PER_PERFORMANCE } from './costs.ts';
import type { ValidatorsOptions } from './options.ts';
import { isStatusOn, type PollContext, refused, type Step } from './part.ts';
import { DUTIES, type Duty, type Outcomes, type Performance, PerformanceAnswer, type Validators } from './schema.ts';
import { chunksOf } from './status.ts';

export function isPerformanceDue(options: ValidatorsOptions, value: Validators, now: UnixMs): boolean {
  const { performanceRefusal, pollsSincePerformance, performance } = value;
  const isTurn = performance === undefined || pollsSincePerformance >= POLLS_PER_PERFORMANCE;
  return isStatusOn(options, value, now) && isTurn && now >= refusedUntil(performanceRefusal, options.operatorAt);
}

/** Reads the duties and scores of all watched validators. What is known stays unless every request was answered. */
export async function readPerformance(context: PollContext, previous: Validators): Promise<Step> {
  const { operatorAt, watch } = context.options;
  const { performanceRefusal: before, ...rest } = previous;
  const value = { ...rest, pollsSincePerformance: 0 };
  const [large, small] = IDENTIFIERS_OF_PERFORMANCE;
  const isSmall = previous.smallChunksSince === operatorAt;
  try {
    const performance = await readAll(context, isSmall ? small : large);
    return { value: { ...value, performance } };
  } catch (error) {
    const isTooMany = !isSmall && error instanceof RequestFailed && error.reason === 'forbidden';
    if (isTooMany && [...chunksOf(watch, small)].length > 1) {
      const step = await readPerformance(context, { ...previous, smallChunksSince: operatorAt });
      return { ...step, oneTimeRequests: 1 };
    }
    const { refusal, failure } = refused(context, 'performance', before, error);
    return { value: { ...value, ...(refusal && { performanceRefusal: refusal }) }, failure };
  }
}

/** Pure. */
export function performanceOf(answers: readonly PerformanceAnswer['data'][], readAt: UnixMs): Performance {
  const parts = answers.map(({ beaconscore, duties }) => ({ scores: beaconscore, outcomes: outcomesOf(duties) }));
  const sum = (duty: Duty, outcome: keyof Outcomes): number =>
    parts.reduce((total, { outcomes }) => total + outcomes[duty][outcome], 0);
  const sums = (duty: Duty): Outcomes => ({
    assigned: sum(duty, 'assigned'),
    missed: sum(duty, 'missed'),
    done: sum(duty, 'done'),
  });
  /** The mean of a score, weighted by the duties that it is about. */
  const mean = (score: Duty | 'total'): number | undefined => {
    let [weighted, all] = [0, 0];
    for (const { scores, outcomes } of parts) {
      const value = scores?.[score];
      if (value == null) continue;
      const about: readonly Duty[] = score === 'total' ? DUTIES : [score];
      const weight = about.reduce((total, duty) => total + outcomes[duty].assigned, 0) || 1;
      weighted += value * weight;
      all += weight;
    }
    return all > 0 ? weighted / all : undefined;
  };
  const scores: Performance['scores'] = {};
  for (const score of [...DUTIES, 'total'] as const) {
    const value = mean(score);
    if (value !== undefined) scores[score] = value;
  }
  return {
    readAt,
    duties: { attestation: sums('attestation'), proposal: sums('proposal'), sync_committee: sums('sync_committee') },
    scores,
  };
}

async function readAll({ options, api, now, signal }: PollContext, size: number): Promise<Performance> {
  const { chain, watch } = options;
  const path = '/api/v2/ethereum/validators/performance-aggregate';
  const answers: PerformanceAnswer['data'][] = [];
  for (const chunk of chunksOf(watch, size)) {
    const body = { chain, validator_identifiers: chunk, range: { evaluation_window: '24h' } };
    const request = { endpoint: 'validators_performance', priority: 'validators', path, body } as const;
    try {
      answers.push((await api.request(request, PerformanceAnswer, signal)).data);
    } catch (error) {
      // Here a 404 says that the service knows none of them.
      if (!(error instanceof RequestFailed) || error.reason !== 'not_found') throw error;
    }
  }
  return performanceOf(answers, now);
}

function outcomesOf(duties: PerformanceAnswer['data']['duties']): Record<Duty, Outcomes> {
  const { attestation, proposal, sync_committee: sync } = duties ?? {};
  const outcomes = (
    duty: { assigned?: number | null | undefined; missed?: number | null | undefined } | null | undefined,
    done: number | null | undefined,
  ): Outcomes => ({ assigned: duty?.assigned ?? 0, missed: duty?.missed ?? 0, done: done ?? 0 });
  return {
    attestation: outcomes(attestation, attestation?.included),
    proposal: outcomes(proposal, proposal?.successful),
    sync_committee: outcomes(sync, sync?.successful),
  };
}
