import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { RULE_FILES } from '../deploy/grafana/src/rules.ts';

/** Writes deploy/kubernetes/prometheusrule.yaml: the rules of both files as the Prometheus Operator takes them. */

const FILE = join(import.meta.dirname, '../deploy/kubernetes/prometheusrule.yaml');

export function prometheusRule(): string {
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'beaconchain-exporter', labels: { 'app.kubernetes.io/name': 'beaconchain-exporter' } },
    spec: { groups: RULE_FILES.flatMap((file) => parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 }).groups) },
  };
  return `# Made from the rules in ../prometheus: node scripts/prometheus-rule.ts\n${stringify(manifest, { lineWidth: 120, aliasDuplicateObjects: false })}`;
}

if (import.meta.main) {
  writeFileSync(FILE, prometheusRule());
}
