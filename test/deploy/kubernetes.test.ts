import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { prometheusRule } from '../../scripts/prometheus-rule.ts';
import { temporaryFolder } from '../support/files/files.ts';
import { areMissing, KUBECTL, outputOf } from '../support/tools/tools.ts';

interface Manifest {
  readonly kind: string;
  readonly [field: string]: unknown;
}

const FOLDER = 'deploy/kubernetes';
const NAME = 'beaconchain-exporter';

function build(folder: string): Manifest[] {
  // YAML 1.1, as Kubernetes reads it.
  return parseAllDocuments(outputOf(KUBECTL, ['kustomize', folder]), { version: '1.1' }).map(
    (document): Manifest => document.toJS(),
  );
}

function withComponent(...folders: [folder: string, component: string]): Manifest[] {
  const overlay = temporaryFolder();
  const [resource, component] = folders.map((path) => relative(realpathSync(overlay), path));
  writeFileSync(join(overlay, 'kustomization.yaml'), `resources: [${resource}]\ncomponents: [${component}]\n`);
  return build(overlay);
}

// biome-ignore lint/suspicious/noExplicitAny: a field of any kind of manifest
function find(manifests: readonly Manifest[], kind: string): any {
  return manifests.find((manifest) => manifest.kind === kind);
}

describe.skipIf(areMissing(KUBECTL))('deploy/kubernetes', () => {
  const manifests = build(FOLDER);
  const one = (kind: string) => find(manifests, kind);

  it('has all objects, with and without the operator', () => {
    const kinds = ['ConfigMap', 'Deployment', 'NetworkPolicy', 'PersistentVolumeClaim', 'Service'];
    const kindsOf = (all: Manifest[]): string[] => all.map(({ kind }) => kind).sort();
    expect(kindsOf(manifests)).toEqual([...kinds, 'PrometheusRule', 'ServiceMonitor'].sort());
    expect(kindsOf(build(join(FOLDER, 'exporter')))).toEqual(kinds);
  });

  it('its rules are those of Prometheus (else: node scripts/prometheus-rule.ts)', () => {
    expect(readFileSync(join(FOLDER, 'prometheusrule.yaml'), 'utf8')).toBe(prometheusRule());
  });

  it('the links of its alerts lead to the port of the service, as port-forward opens it', () => {
    const [{ port }] = one('Service').spec.ports;
    for (const folder of ['kubernetes/exporter', 'kubernetes-replicas']) {
      const { web } = parse(readFileSync(join('deploy', folder, 'config.yaml'), 'utf8'));
      expect([folder, web.external_url]).toEqual([folder, `http://localhost:${port}`]);
    }
  });

  it('service, monitor and policy select the pod and its port', () => {
    const { metadata, spec } = one('Deployment').spec.template;
    const [port] = spec.containers[0].ports;
    expect(one('Deployment').spec.selector.matchLabels).toEqual(metadata.labels);
    expect(one('Service').spec.selector).toEqual(metadata.labels);
    expect(one('Service').spec.ports).toEqual([{ name: port.name, port: port.containerPort, targetPort: port.name }]);
    expect(one('ServiceMonitor').spec.selector.matchLabels).toEqual(one('Service').metadata.labels);
    expect(one('ServiceMonitor').spec.endpoints[0].port).toBe(port.name);
    expect(one('NetworkPolicy').spec.podSelector.matchLabels).toEqual(metadata.labels);
    expect(one('NetworkPolicy').spec.ingress[0].ports).toEqual([{ port: port.name }]);
    // A policy can see the port of the DNS pods, which is 5353 on OpenShift.
    const dns = [53, 5353].flatMap((one) => ['UDP', 'TCP'].map((protocol) => ({ port: one, protocol })));
    expect(one('NetworkPolicy').spec.egress[0].ports).toEqual(dns);
  });

  it('the pod runs the image of this version as its user, and mounts existing objects', () => {
    const { spec } = one('Deployment').spec.template;
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    const user = /^USER (\d+):(\d+)$/m.exec(readFileSync('Dockerfile', 'utf8'));
    expect(spec.containers[0].image).toBe(`${NAME}:${version}`);
    expect([spec.securityContext.runAsUser, spec.securityContext.runAsGroup].map(String)).toEqual(user?.slice(1));
    const [config, , state] = spec.volumes;
    expect(config.configMap.name).toBe(one('ConfigMap').metadata.name);
    expect(state.persistentVolumeClaim.claimName).toBe(one('PersistentVolumeClaim').metadata.name);
  });

  it('its dashboards are ConfigMaps for the sidecar of Grafana, small enough for kubectl', () => {
    const dashboards = build('deploy/grafana');
    const files = readdirSync('deploy/grafana/dashboards');
    expect(dashboards).toHaveLength(files.length);
    for (const [i, name] of files.entries()) {
      const text = readFileSync(join('deploy/grafana/dashboards', name), 'utf8');
      expect(dashboards[i]).toMatchObject({ data: { [name]: text }, metadata: { labels: { grafana_dashboard: '1' } } });
      // `kubectl apply` keeps the whole object in an annotation, which may have 256 KiB.
      expect(JSON.stringify(text).length).toBeLessThan(250_000);
    }
  });

  it.each([FOLDER, `${FOLDER}-replicas`])(
    'a PodMonitor in place of the ServiceMonitor of %s gives the same series',
    (folder) => {
      const built = withComponent(folder, `${folder}/pod-monitor`);
      expect(find(built, 'ServiceMonitor')).toBeUndefined();
      const before = find(build(folder), 'ServiceMonitor');
      const { spec, metadata } = find(built, 'PodMonitor');
      // Of the labels that are left, the operator sets `service` for a ServiceMonitor only.
      const service = { action: 'replace', targetLabel: 'service', replacement: find(built, 'Service').metadata.name };
      const [endpoint] = before.spec.endpoints;
      expect(spec.podMetricsEndpoints).toEqual([{ ...endpoint, relabelings: [...endpoint.relabelings, service] }]);
      expect(metadata).toEqual(before.metadata);
      const pod = find(built, 'Deployment').spec.template;
      expect(pod.metadata.labels).toMatchObject(spec.selector.matchLabels);
      expect(pod.metadata.labels[spec.jobLabel]).toBe(NAME);
      expect(pod.spec.containers[0].ports[0].name).toBe(spec.podMetricsEndpoints[0].port);
    },
  );

  it('with a password, the probes and the monitor log in', () => {
    const built = withComponent(FOLDER, `${FOLDER}/password`);
    const [{ livenessProbe, readinessProbe }] = find(built, 'Deployment').spec.template.spec.containers;
    const headers = [{ name: 'Authorization', value: `Basic ${btoa('probe:PASSWORD')}` }];
    expect([livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.httpHeaders)).toEqual([headers, headers]);
    expect(find(built, 'ServiceMonitor').spec.endpoints[0].basicAuth.password.name).toBe('beaconchain-web');
  });

  it('replicas need no volume, reach Redis, and have their own series', () => {
    const replicas = build(`${FOLDER}-replicas`);
    const of = (kind: string) => find(replicas, kind);
    expect(of('PersistentVolumeClaim')).toBeUndefined();
    const { spec } = of('Deployment');
    expect(spec.replicas).toBe(2);
    // A drain takes one of them at a time.
    expect(of('PodDisruptionBudget').spec.maxUnavailable).toBe(1);
    expect(of('PodDisruptionBudget').spec.selector).toEqual(spec.selector);
    const names = (list: { name: string }[]): string[] => list.map(({ name }) => name);
    expect(names(spec.template.spec.volumes)).toEqual(['config', 'api-key']);
    expect(names(spec.template.spec.containers[0].volumeMounts)).toEqual(['config', 'api-key']);
    expect(of('NetworkPolicy').spec.egress.at(-1)).toEqual({ ports: [{ port: 6379, protocol: 'TCP' }] });
    expect(JSON.stringify(of('ServiceMonitor').spec.endpoints)).toContain('__meta_kubernetes_pod_name');
    expect(of('ConfigMap').data['config.yaml']).toBe(readFileSync(`${FOLDER}-replicas/config.yaml`, 'utf8'));
  });
});
