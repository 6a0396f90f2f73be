import { type Given, timeRange } from './given.ts';

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [time: number, value: string])[];
}

/** Evaluates a query at the end of the time range. */
export async function askInstant(given: Given, query: string): Promise<Series[]> {
  const { result, resultType } = await ask(given, 'query', { query, time: `${given.now / 1000}` });
  if (resultType === 'scalar') return [{ metric: {}, values: [result as never] }];
  return (result as { metric: Series['metric']; value: Series['values'][0] }[]).map(({ metric, value }) => ({
    metric,
    values: [value],
  }));
}

/** Evaluates a query over the time range. Grafana begins at a multiple of the step. @param step Seconds */
export async function askRange(given: Given, query: string, step: number): Promise<Series[]> {
  const { from, to } = timeRange(given);
  const aligned = (ms: number): string => `${Math.floor(ms / 1000 / step) * step}`;
  const span = { start: aligned(from.valueOf()), end: aligned(to.valueOf()), step: `${step}` };
  return (await ask(given, 'query_range', { query, ...span })).result as Series[];
}

async function ask(given: Given, path: string, form: Record<string, string>) {
  const response = await fetch(`${given.prometheus}/api/v1/${path}`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  const { data, error } = (await response.json()) as {
    data: { result: unknown; resultType: string };
    error?: string;
  };
  if (error !== undefined) throw new Error(`${error}: ${form['query']}`);
  return data;
}
