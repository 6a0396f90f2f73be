import type { PerformanceAnswer } from '../../api/answers/validators.ts';
import { IDENTIFIERS_OF_AGGREGATE, requestTo } from '../../api/endpoints.ts';
import { isFailure } from '../../api/errors.ts';
import { rangesOf } from '../../facts/watch.ts';
import type { UnixMs } from '../../toolkit/lib/time.ts';
import { refusedPart, refusedUntil } from '../refusal.ts';
import { POLLS_PER_PERFORMANCE } from './costs.ts';
import type { ValidatorsOptions } from './options.ts';
import { isStatusOn, type PollContext, type Step } from './part.ts';
import { DUTIES, type Duty, type Outcomes, type Performance, type Validators } from './schema.ts';
import { chunksOf } from './status.ts';

export function isPerformanceDue(options: ValidatorsOptions, value: Validators, now: UnixMs): boolean {
  const { performanceRefusal, pollsSincePerformance, performance } = value;
  const isTurn = performance?.watch !== rangesOf(options.watch) || pollsSincePerformance >= POLLS_PER_PERFORMANCE;
  return isStatusOn(options, value, now) && isTurn && now >= refusedUntil(performanceRefusal);
}

/** Reads the duties and scores of all watched validators. Unless all are read, the next poll tries again. */
export async function readPerformance(context: PollContext, previous: Validators): Promise<Step> {
  const { watch } = context.options;
  const { performanceRefusal: before, ...rest } = previous;
  const [large, small] = IDENTIFIERS_OF_AGGREGATE;
  const isSmall = previous.hasSmallChunks === true;
  const size = isSmall ? small : large;
  try {
    return { value: { ...rest, performance: await readAll(context, size), pollsSincePerformance: 0 } };
  } catch (error) {
    const isTooMany = !isSmall && isFailure(error, 'forbidden');
    if (isTooMany && [...chunksOf(watch, small)].length > 1)
      return readPerformance(context, { ...previous, hasSmallChunks: true });
    const { refusal, failure } = refusedPart(context, 'performance', before, error);
    return { value: { ...rest, ...(refusal && { performanceRefusal: refusal }) }, failure };
  }
}

/** Pure. */
function performanceOf(
  answers: readonly PerformanceAnswer['data'][],
  about: Pick<Performance, 'watch' | 'readAt'>,
): Performance {
  const sum = (duty: Duty, outcome: keyof Outcomes): number =>
    answers.reduce((total, { duties }) => total + duties[duty][outcome], 0);
  const sums = (duty: Duty): Outcomes => ({
    assigned: sum(duty, 'assigned'),
    missed: sum(duty, 'missed'),
    done: sum(duty, 'done'),
  });
  const scores: Performance['scores'] = {};
  for (const score of [...DUTIES, 'total'] as const) {
    const value = meanOf(score, answers);
    if (value !== undefined) scores[score] = value;
  }
  return {
    ...about,
    duties: { attestation: sums('attestation'), proposal: sums('proposal'), sync_committee: sums('sync_committee') },
    scores,
  };
}

/** The mean of a score, weighted by the duties that it is about. */
function meanOf(score: Duty | 'total', answers: readonly PerformanceAnswer['data'][]): number | undefined {
  let [weighted, all] = [0, 0];
  for (const { beaconscore, duties } of answers) {
    const value = beaconscore?.[score];
    if (value == null) continue;
    const about: readonly Duty[] = score === 'total' ? DUTIES : [score];
    const weight = about.reduce((total, duty) => total + duties[duty].assigned, 0) || 1;
    weighted += value * weight;
    all += weight;
  }
  return all > 0 ? weighted / all : undefined;
}

async function readAll({ options, api, signal }: PollContext, size: number): Promise<Performance> {
  const { chain, watch } = options;
  const answers: PerformanceAnswer['data'][] = [];
  for (const chunk of chunksOf(watch, size)) {
    const request = requestTo('validators_performance', { chain, identifiers: chunk });
    try {
      answers.push((await api.request(request, signal)).data);
    } catch (error) {
      // Here a 404 says that the service knows none of them.
      if (!isFailure(error, 'not_found')) throw error;
    }
  }
  return performanceOf(answers, { watch: rangesOf(watch), readAt: api.now() });
}
