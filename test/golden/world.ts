import { drawnBlock } from '../../src/sandbox/chain-world.ts';
import { addMachine, silence } from '../../src/sandbox/machines.ts';
import { Sandbox } from '../../src/sandbox/world.ts';
import type { Entry } from '../../src/scheduler/entry.ts';
import type { Source } from '../../src/sources/source.ts';
import { changeRecords, machineIn } from '../simulation/service/fleet.ts';
import { failed } from '../support/answers/fake-api.ts';
import { slotAt } from '../support/answers/slot-rows.ts';
import { type Fault, learn } from '../support/runs/learn.ts';
import { MINUTE, NOW } from '../support/time/timing.ts';

/** A name with all that a label value must survive. */
export const ODD_NAME = 'rack "7"\\Zürich\n机器 <b>{x="y"}</b> # EOF';
/** The validator of the list of mainnet, and one on that of hoodi. */
const OWN = { mainnet: 12_345, hoodi: 42 } as const;

const LAST = NOW - 30_000;
const TIMES = [NOW - 75 * MINUTE, NOW - 12 * MINUTE, NOW - 5 * MINUTE, LAST];
/** The last round of slashings of hoodi fails. */
const fault: Fault = (request, now) =>
  request.chain === 'hoodi' && now === LAST ? failed(request, 'timeout') : undefined;

/** A machine with every field, one that became silent, and two chains on which everything happens that is counted. */
function goldenWorld(): Sandbox {
  const watched = { validators: { mainnet: [OWN.mainnet], hoodi: [OWN.hoodi] }, slots: 100 };
  const sandbox = new Sandbox({ seed: 'golden', machines: 0, slotsPerSlashing: Number.POSITIVE_INFINITY, watched });
  const { fleet, chains } = sandbox;
  for (const name of ['node-a', ODD_NAME, 'hoodi-1', 'more-1', 'more-2', 'more-3']) addMachine(fleet, name);
  changeRecords(fleet, 'node-a', (process) => ({
    ...(process !== 'node' && { client_build: 44, exporter_version: '0.1.0' }),
    sync_eth1_fallback_configured: true,
    sync_eth1_fallback_connected: true,
    sync_eth2_fallback_configured: process === 'validator',
    sync_eth2_fallback_connected: false,
  }));
  changeRecords(fleet, ODD_NAME, (_, time) => ({ timestamp: time + 10 * MINUTE }));
  silence(machineIn(fleet, 'hoodi-1'), NOW - 70 * MINUTE);
  for (const chain of ['mainnet', 'hoodi'] as const) {
    const world = chains[chain];
    const proposer = OWN[chain];
    const slot = (minutesAgo: number): number => slotAt(chain, NOW - minutesAgo * MINUTE);
    world.silences.push({ validator: proposer, from: NOW - 60 * MINUTE, until: Number.POSITIVE_INFINITY });
    world.changes.push({ validator: proposer, at: NOW - 60 * MINUTE, to: '0x02' });
    world.blocks.set(slot(50), [{ ...drawnBlock(world, slot(50)), deposits: 31 }]);
    world.slashed.proposer.set(slot(45), [70_000]);
    world.blocks.set(slot(40), [{ ...drawnBlock(world, slot(40)), proposer, isCanonical: false }]);
    world.missed.set(slot(35), proposer);
    world.slashed.attester.set(slot(24), [OWN.mainnet, 70_001]);
  }
  return sandbox;
}

/** What these sources have learned of the world, by the id of the source. */
export function learnGolden(sources: readonly Source[]): Promise<Map<string, Entry>> {
  return learn(sources, goldenWorld(), TIMES, fault);
}
