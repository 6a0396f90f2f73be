import { expect, it } from 'vitest';
import { DOCUMENT_QUERIES, queriesIn } from '../support/contract/document-queries.ts';
import { unknownNames } from '../support/contract/exposed.ts';
import { mistakesIn, ratedGauges } from '../support/contract/promql.ts';

it('the cookbook has a question above each query', () => {
  const cookbook = DOCUMENT_QUERIES.filter(({ document }) => document === 'queries.md');
  expect(cookbook.length).toBeGreaterThan(30);
  expect(cookbook.filter(({ question, expr }) => question === expr)).toEqual([]);
});

it.each(DOCUMENT_QUERIES)('$document: $question', ({ expr }) => {
  expect(mistakesIn(expr)).toEqual([]);
  expect(ratedGauges(expr)).toEqual([]);
  // A label that Prometheus adds to a pod.
  expect(unknownNames(expr).filter((name) => name !== 'pod')).toEqual([]);
});

it('queries are separated by an empty line, and a comment states whether one can be empty', () => {
  const text = '```promql\n# a\nx\n  + y\n\n# b (empty while none)\nz\n```\n\n```sh\nno\n```\n```promql\nw\n```\n';
  expect(queriesIn(text)).toEqual([
    { question: '# a', expr: 'x\n  + y', isMaybeEmpty: false },
    { question: '# b (empty while none)', expr: 'z', isMaybeEmpty: true },
    { question: 'w', expr: 'w', isMaybeEmpty: false },
  ]);
});
