import { expect, it } from 'vitest';
import { MISTAKEN } from './mistaken-configs.ts';
import { refusal, withConfig } from './with-config.ts';

it.each(Object.entries(MISTAKEN))('config/mistakes: reports every mistake in %s', async (_, { text, lines }) => {
  const told = await refusal(withConfig(text));
  expect(told).toEqual(lines.map((line) => `config.yaml${line}`));
});
