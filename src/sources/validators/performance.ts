import type { PerformanceAnswer } from '../../api/answers/validators.ts';
import { type ApiRequest, IDENTIFIERS_OF_AGGREGATE, requestTo } from '../../api/endpoints.ts';
import { isFailure } from '../../api/errors.ts';
import { chunksOf, rangesOf } from '../../facts/watch.ts';
import { refused } from '../refusal.ts';
import type { Poll } from '../source.ts';
import type { PollContext } from './options.ts';
import { DUTIES, type Duty, type Outcomes, type Performance, type Validators } from './schema.ts';

/** The figures are sums over 24 hours and change slowly: with the default interval they are read about once an hour. */
export const POLLS_PER_PERFORMANCE = 9;

/** Reads the duties and scores of all watched validators. Unless all are read, the next poll tries again. */
export async function readPerformance(context: PollContext, previous: Validators): Promise<Poll<Validators>> {
  const { chain, watch } = context.options;
  try {
    const { answers, hasSmallChunks } = await readAggregates(context, previous.hasSmallChunks, (identifiers) =>
      requestTo('validators_performance', { chain, identifiers }),
    );
    const about = { watch: rangesOf(watch), readAt: context.api.now() };
    const performance = performanceOf(
      answers.map(({ data }) => data),
      about,
    );
    const read = { performance, hasSmallChunks, pollsSincePerformance: 0, performanceRefusal: undefined };
    return { value: { ...previous, ...read } };
  } catch (error) {
    const { refusal, failure } = refused(context, 'performance', previous.performanceRefusal, error);
    return { value: { ...previous, performanceRefusal: refusal }, failure };
  }
}

/**
 * The answers of an aggregate about all watched validators. If the plan refuses 100 identifiers at once, all are read in
 * small chunks.
 */
async function readAggregates<A>(
  context: PollContext,
  hasSmallChunks: boolean | undefined,
  requestOf: (identifiers: readonly number[]) => ApiRequest<A>,
): Promise<{ answers: A[]; hasSmallChunks: boolean | undefined }> {
  const { api, options, signal } = context;
  const [large, small] = IDENTIFIERS_OF_AGGREGATE;
  const answers: A[] = [];
  for (const chunk of chunksOf(options.watch, hasSmallChunks ? small : large)) {
    try {
      answers.push(await api.request(requestOf(chunk), signal));
    } catch (error) {
      if (chunk.length > small && isFailure(error, 'forbidden')) return readAggregates(context, true, requestOf);
      // Here a 404 says that the service knows none of them.
      if (!isFailure(error, 'not_found')) throw error;
    }
  }
  return { answers, hasSmallChunks };
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
