import type { Endpoint } from '../../../src/api/endpoints.ts';
import type { Question } from '../../../src/sources/probe.ts';
import { sourcesOf } from '../../../src/sources/registry.ts';
import { defaultConfig } from '../../support/runs/default-config.ts';

export const NOW = 1_790_769_700_000;

/** The questions of all sources about mainnet and the account, with this many watched validators. */
export function questionsIn(slots?: unknown, watched = 99): readonly Question[] {
  const defaults = defaultConfig();
  const watch = { mainnet: [{ first: 1, last: watched }], hoodi: [] };
  const sources = sourcesOf({ ...defaults, validators: { ...defaults.validators, watch } });
  const all = ({ next, ...question }: Question): Question[] => [question, ...(next?.(slots) ?? []).flatMap(all)];
  return sources.flatMap(({ more }) => more?.probe?.questions(() => NOW).flatMap(all) ?? []);
}

export function questionTo(endpoint: Endpoint, slots?: unknown, watched?: number): Question {
  const question = questionsIn(slots, watched).find(({ request }) => request.endpoint === endpoint);
  if (!question) throw new TypeError(endpoint);
  return question;
}
