import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';

/** Writes deploy/kubernetes/prometheusrule.yaml: the alert rules as the Prometheus Operator takes them. */

const DEPLOY = join(import.meta.dirname, '../deploy');
const FILE = join(DEPLOY, 'kubernetes/prometheusrule.yaml');

export function prometheusRule(rules: string): string {
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'beaconchain-exporter', labels: { 'app.kubernetes.io/name': 'beaconchain-exporter' } },
    spec: parse(rules),
  };
  return `# Made from ../prometheus/rules.yaml: node scripts/prometheus-rule.ts\n${stringify(manifest, { lineWidth: 120 })}`;
}

if (import.meta.main) {
  writeFileSync(FILE, prometheusRule(readFileSync(join(DEPLOY, 'prometheus/rules.yaml'), 'utf8')));
}
