import { expect, it } from 'vitest';
import { calmWorld } from './calm.ts';
import { run } from './run.ts';
import { failureOf } from './seeds.ts';

it('a story whose event needs a machine that was left out does not fail, so that shrinking goes on without it', async () => {
  const events = [{ at: 500, kind: 'silence', what: { name: 'left-out' } }];
  const story = { seed: 1, start: Date.UTC(2026, 1, 27), lengthMs: 1_000, setting: calmWorld(), events };
  await expect(run(story)).rejects.toThrow('no machine is called left-out');
  await expect(failureOf(story)).resolves.toBeUndefined();
});
