import { startDaemon } from '../../../src/commands/serve.ts';
import { STATE_VERSION } from '../../../src/facts/version.ts';
import { loadConfig } from '../../../src/sources/registry.ts';
import { systemClock } from '../../../src/toolkit/lib/clock.ts';
import { LineOutput } from '../../../src/toolkit/lib/line-output.ts';
import { jsonLogger } from '../../../src/toolkit/lib/log.ts';
import { Replica } from '../../../src/toolkit/state/replica.ts';

/** Runs `serve` with a shorter lease. */
const [file = '', timings = ''] = process.argv.slice(2);
const readAgain = async () => {
  const { config, key = '' } = await loadConfig({ file, env: process.env });
  return { config, key };
};
const settings = await readAgain();
const log = jsonLogger('debug');
const { redis } = settings.config.state;
if (!redis) throw new TypeError('expected state.redis');
const replica = await Replica.open(redis, systemClock, log, { version: STATE_VERSION, timings: JSON.parse(timings) });
const start = { flags: { 'web.disable-exporter-metrics': true }, settings, readAgain, access: undefined, log };
const daemon = await startDaemon({ ...start, output: new LineOutput(1), documents: replica, replica });
process.once('SIGTERM', () => daemon.stop());
