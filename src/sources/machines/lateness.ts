import { MS_PER_MINUTE } from '../../toolkit/lib/duration.ts';
import { type Detection, FOR_MS } from '../lateness.ts';
import type { Timing } from '../read.ts';
import { offlineAfter } from './conditions.ts';
import { staleAfter } from './config.ts';
import type { MachinesOptions } from './options.ts';
import { JITTER } from './sweep.ts';

/** How soon the sweeps at this pace show what is wrong with a machine. It pushes once a minute. */
export function detectionsOf(options: MachinesOptions, timing: Timing): Detection[] {
  const sweepMs = (1 + JITTER) * timing.intervalMs;
  // A machine that is silent for almost long enough at one sweep is seen as silent by the next one.
  const silentMs = offlineAfter(timing) * 1000 + sweepMs;
  const isForgotten = options.forgetAfterMs <= silentMs;
  const shownMs = staleAfter(options, timing) - MS_PER_MINUTE;
  const isWithdrawn = shownMs < Math.min(sweepMs, FOR_MS.BeaconchainDiskAlmostFull + MS_PER_MINUTE);
  return [
    {
      alert: 'BeaconchainMachineOffline',
      what: 'a machine is silent',
      afterMs: isForgotten ? 'never: machines.forget_after removes the machine before' : silentMs,
    },
    {
      alert: 'BeaconchainDiskAlmostFull',
      what: 'a disk is almost full',
      afterMs: isWithdrawn ? 'never: machines.stale_after withdraws the value before' : MS_PER_MINUTE + sweepMs,
    },
  ];
}
