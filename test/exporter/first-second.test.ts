import { expect, it } from 'vitest';
import { FaultWorld } from '../support/faults/fault-world.ts';

it('a start sends nothing in its first second, which another process may have used up', async () => {
  const { clock, service } = await FaultWorld.start({});
  await clock.advance(1_000);
  expect(service.requests).toHaveLength(0);
  await clock.advance(1_000);
  expect(service.requests).not.toHaveLength(0);
});
