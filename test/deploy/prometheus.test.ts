import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { RULE_FILES } from '../../deploy/grafana/src/rules.ts';
import { temporaryFolder } from '../support/files/files.ts';
import { areMissing, PROMTOOL, runTool } from '../support/tools/tools.ts';

it
  .skipIf(areMissing(PROMTOOL))
  .each(['deploy/prometheus/prometheus.yaml', 'deploy/prometheus/scrape-tls.yaml', 'deploy/compose/prometheus.yaml'])(
  'Prometheus accepts %s with the rules beside it',
  (file) => {
    const folder = temporaryFolder();
    for (const one of [file, ...RULE_FILES, 'deploy/compose/thresholds.yaml'])
      copyFileSync(one, join(folder, basename(one)));
    const { status, stderr } = runTool(PROMTOOL, ['check', 'config', join(folder, basename(file))]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  },
);
