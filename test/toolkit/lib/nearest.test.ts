import { expect, it } from 'vitest';
import { nearest } from '../../../src/toolkit/lib/nearest.ts';

it.each([
  ['Node-A', ['node-b', 'node-a'], 'node-a'],
  ['node_a', ['node-aa', 'node-a'], 'node-a'],
  ['validator', ['validator_s', 'validators'], 'validator_s'],
  ['chek', ['serve', 'check'], 'check'],
  ['hceck', ['check'], 'check'],
  ['listen_adres', ['listen_address'], 'listen_address'],
  ['lisen_adres', ['listen_address'], undefined],
  ['ab', ['ac'], undefined],
])('lib/nearest means of %j among %j: %j', (typed, names, meant) => {
  expect(nearest(typed, names)).toBe(meant);
});
