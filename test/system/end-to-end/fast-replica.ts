import { startDaemon } from '../../../src/commands/serve.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { openSharedState } from '../../../src/exporter/state.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { jsonLogger } from '../../../src/lib/log.ts';
import type { LeaseTimings } from '../../../src/replica/lease.ts';

/** Runs `serve` with a wrong wall clock and a shorter lease. */
const [file = '', options = '{}'] = process.argv.slice(2);
const { skewMs, timings }: { skewMs: number; timings?: LeaseTimings } = JSON.parse(options);
const clock = { ...systemClock, now: () => systemClock.now() + skewMs };
const read = async () => {
  const { config, key = '' } = await loadConfig({ file, env: process.env });
  return { config, key };
};
const { config, key } = await read();
const log = jsonLogger('debug');
if (!config.state.redis) throw new TypeError('expected state.redis');
const replica = await openSharedState(config.state.redis, clock, log, { timings });
const daemon = await startDaemon({
  config,
  key,
  readAgain: read,
  log,
  documents: replica,
  replica,
  processMetrics: false,
  access: undefined,
});
process.once('SIGTERM', () => daemon.stop());
