import { drawnBlock } from '../../src/sandbox/chain-world.ts';
import { addMachine, silence } from '../../src/sandbox/machines.ts';
import { Sandbox } from '../../src/sandbox/world.ts';
import type { Entry } from '../../src/scheduler/entry.ts';
import type { Source } from '../../src/sources/source.ts';
import { changeRecords, machineIn } from '../simulation/service/fleet.ts';
import { failed } from '../support/answers/fake-api.ts';
import { slotAt } from '../support/answers/slot-rows.ts';
import { type Fault, learn } from '../support/runs/learn.ts';
import { HOUR, MINUTE, NOW } from '../support/time/timing.ts';

/** A name with every character that a label value must escape or keep. */
export const ODD_NAME = 'rack "7"\\Zürich\n机器 <b>{x="y"}</b> # EOF';
/** A watched validator, which is slashed. The next one is watched too. */
const OWN = 12_345;

const TIMES = [NOW - 75 * MINUTE, NOW - 12 * MINUTE, NOW - 5 * MINUTE, NOW - 30_000];
/** After the first time the duties of the network cannot be read. */
const fault: Fault = (request, now) =>
  request.endpoint === 'network_performance' && now > NOW - HOUR ? failed(request, 'timeout') : undefined;

/** A machine with every field, one that became silent, and a chain with every event that is counted. */
function goldenWorld(): Sandbox {
  const watched = { validators: { mainnet: [OWN], hoodi: [] }, slots: 100 };
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
  const world = chains.mainnet;
  const slot = (minutesAgo: number): number => slotAt('mainnet', NOW - minutesAgo * MINUTE);
  for (const validator of [OWN, OWN + 1])
    world.silences.push({ validator, from: NOW - 60 * MINUTE, until: Number.POSITIVE_INFINITY });
  world.changes.push({ validator: OWN, at: NOW - 60 * MINUTE, to: '0x02' });
  world.blocks.set(slot(50), [{ ...drawnBlock(world, slot(50)), deposits: 31 }]);
  world.slashed.proposer.set(slot(45), [70_000]);
  world.blocks.set(slot(40), [{ ...drawnBlock(world, slot(40)), proposer: OWN, isCanonical: false }]);
  world.missed.set(slot(35), OWN);
  world.slashed.attester.set(slot(24), [OWN, 70_001]);
  return sandbox;
}

/** What these sources have learned of the world, by the id of the source. */
export function learnGolden(sources: readonly Source[]): Promise<Map<string, Entry>> {
  return learn(sources, goldenWorld(), TIMES, fault);
}
