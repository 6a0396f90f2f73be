import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { seriesValue } from '../support/exposition/exposition-text.ts';
import type { Respond } from '../support/faults/fault-server.ts';
import { startService } from '../support/faults/service.ts';
import { scrape } from '../support/network/ask.ts';
import { BackfillRuns, FAST, KEY } from '../support/programs/backfill.ts';
import { portOf, startServe, waitFor } from '../support/programs/program.ts';
import { startRedis } from '../support/tools/redis.ts';
import { areMissing, REDIS } from '../support/tools/tools.ts';

const MACHINES = ['--source=machines', '--start=-1h'] as const;

async function leader(port: number): Promise<number | undefined> {
  return seriesValue(await scrape(port), 'beaconchain_exporter_leader', {});
}

it.skipIf(areMissing(REDIS))(
  'a backfill is refused while a replica leads, and holds the lease while it runs',
  async () => {
    // The service answers no request from this one on.
    let from = Number.POSITIVE_INFINITY;
    let seen = 0;
    const request: Respond = () => {
      seen += 1;
      return seen >= from ? 'silence' : undefined;
    };
    const api = await startService(KEY, { ...FAST, request });
    const redis = await startRedis();
    const runs = new BackfillRuns(api);
    const config = readFileSync(runs.config, 'utf8').replace(/^state: .*$/m, `state: {redis: {url: "${redis.url}"}}`);
    writeFileSync(runs.config, config);
    const first = startServe(config, KEY);
    const port = await portOf(first);
    await waitFor(async () => expect(await leader(port)).toBe(1));
    const refused = runs.start(...MACHINES);
    expect(await refused.ended).toMatchObject({ code: 1 });
    expect(refused.stderr).toMatch(/^state\.redis: a replica leads: stop it first/m);
    await first.stop();

    const { length: asked } = api.requests;
    from = asked + 10;
    const running = runs.start(...MACHINES);
    await waitFor(() => expect(api.requests.length).toBe(asked + 10));
    expect(running.stderr).toMatch(/^The backfill ends at .*, because the exporter first started at /m);
    const second = startServe(config, KEY);
    expect(await leader(await portOf(second))).toBe(0);
    await running.stop('SIGINT');
    from = Number.POSITIVE_INFINITY;
    await second.stop();
    await runs.run(...MACHINES, '--resume');
    expect(readFileSync(runs.output, 'utf8')).toMatch(/# EOF\n$/);
  },
);
