import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PodMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Service } from 'kubernetes-models/v1/Service';
import { temporaryFolder } from '../support/files.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly [field: string]: unknown;
}

interface Model {
  validate(): void;
}

/** The kinds that we know to check: how, and where their types are. */
const KINDS: Readonly<Record<string, readonly [module: string, build: (manifest: object) => Model]>> = {
  ConfigMap: ['kubernetes-models/v1', (manifest) => new ConfigMap(manifest)],
  Deployment: ['kubernetes-models/apps/v1', (manifest) => new Deployment(manifest as never)],
  NetworkPolicy: ['kubernetes-models/networking.k8s.io/v1', (manifest) => new NetworkPolicy(manifest)],
  PersistentVolumeClaim: ['kubernetes-models/v1', (manifest) => new PersistentVolumeClaim(manifest)],
  PodDisruptionBudget: ['kubernetes-models/policy/v1', (manifest) => new PodDisruptionBudget(manifest)],
  Service: ['kubernetes-models/v1', (manifest) => new Service(manifest)],
  PodMonitor: [
    '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
    (manifest) => new PodMonitor(manifest as never),
  ],
  PrometheusRule: [
    '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
    (manifest) => new PrometheusRule(manifest as never),
  ],
  ServiceMonitor: [
    '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1',
    (manifest) => new ServiceMonitor(manifest as never),
  ],
};

const MODULES = join(import.meta.dirname, '../../node_modules');
const FLAGS = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'preserve'];

function kindOf({ kind }: Manifest): (typeof KINDS)[string] {
  const known = KINDS[kind];
  if (!known) throw new TypeError(`no schema for ${kind}`);
  return known;
}

/**
 * What the schemas say of values: required fields, types, enums, patterns. They pass unknown fields.
 * @throws with what is wrong.
 */
export function validateValues(manifest: Manifest): void {
  kindOf(manifest)[1](manifest).validate();
}

/** What the compiler says when the manifests are written as literals of their types: it refuses unknown fields. */
export function unknownFields(manifests: readonly Manifest[]): string {
  const file = join(temporaryFolder(), 'manifests.ts');
  const lines = manifests.map((manifest, index) => {
    const [module] = kindOf(manifest);
    const type = `import(${JSON.stringify(join(MODULES, module, `${manifest.kind}.js`))}).I${manifest.kind}`;
    return `export const m${index}: ${type} = ${JSON.stringify(manifest, undefined, 2)};\n`;
  });
  writeFileSync(file, lines.join(''));
  const { status, stdout, error } = spawnSync(join(MODULES, '.bin/tsc'), [...FLAGS, file], { encoding: 'utf8' });
  if (error) throw error;
  return status === 0 ? '' : stdout.replaceAll(file, 'manifests.ts');
}
