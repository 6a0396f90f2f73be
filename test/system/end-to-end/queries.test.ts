import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DOCUMENT_QUERIES } from '../../support/document-queries.ts';
import { temporaryFolder } from '../../support/files.ts';
import { portOf, startExporter, waitFor } from '../../support/program.ts';
import { startPrometheus } from '../../support/prometheus.ts';
import { areMissing, PROMETHEUS, PROMTOOL } from '../../support/tools.ts';
import { history } from './history.ts';

/** The demo's own, with polls so frequent that a few seconds show how requests go. */
const CONFIG = `
chains: {mainnet: {}, hoodi: {}}
machines: {interval: 2s, chain: mainnet, chain_rules: [{match: "hoodi-*", chain: hoodi}]}
validators: {watch: {mainnet: ["12340-12349"], hoodi: ["500-504"]}}
`;

describe.skipIf(areMissing(PROMETHEUS, PROMTOOL))('system/end-to-end/queries', () => {
  it('on a real Prometheus that scrapes the demo every query of the docs has numbers, unless its comment says when not', async () => {
    const config = join(temporaryFolder(), 'config.yaml');
    writeFileSync(config, CONFIG);
    const demo = startExporter(['demo', `--config.file=${config}`, '--web.listen-address=127.0.0.1:0']);
    const port = await portOf(demo);
    const labels = { job: 'demo', instance: `127.0.0.1:${port}` };
    const past = await history({ end: Date.now(), hours: 3, days: 4, labels, more: [] });
    const prometheus = await startPrometheus({ demo: port }, { history: past });
    // Rates need two scrapes, and the first comes five seconds after the start.
    const requested = 'increase(beaconchain_api_requests_total{endpoint="machine_metrics"}[1m]) > 1';
    await waitFor(async () => expect(await prometheus.query(requested)).toHaveLength(1));
    const validators = 'beaconchain_source_up{source="validators"} == 1';
    await waitFor(async () => expect(await prometheus.query(validators)).toHaveLength(2));

    const wrong: string[] = [];
    for (const { document, question, expr, isMaybeEmpty } of DOCUMENT_QUERIES) {
      const values = (await prometheus.query(expr)).map(({ value }) => Number(value[1]));
      if (values.length === 0 && !isMaybeEmpty) wrong.push(`${document}, ${question}: empty`);
      if (values.some((value) => !Number.isFinite(value))) wrong.push(`${document}, ${question}: ${values}`);
    }
    expect(wrong).toEqual([]);
  });
});
