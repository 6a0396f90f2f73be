import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/sources/registry.ts';

describe('deploy', () => {
  it.each(['compose/exporter.yaml', 'kubernetes/exporter/config.yaml', 'kubernetes-replicas/config.yaml'])(
    'deploy/%s is a valid configuration',
    async (name) => {
      // Keyless: the key is where the exporter runs, not here.
      const { config } = await loadConfig({ file: `deploy/${name}`, env: { REDIS_PASSWORD: 'x' }, keyless: true });
      expect(config.state.redis?.password).toBe(name.includes('replicas') ? 'x' : undefined);
    },
  );

  it('the image and the packages have the Node of the project', () => {
    const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
    const [, node] = /^ARG NODE=node:([\d.]+)-/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
    const [, packaged] = /^node=(.+)$/m.exec(readFileSync('scripts/package', 'utf8')) ?? [];
    expect([node, packaged]).toEqual([devDependencies.node, devDependencies.node]);
  });

  it('the image and the systemd unit give glibc the same thresholds', () => {
    const [image, unit] = ['Dockerfile', 'deploy/systemd/beaconchain-exporter.service'].map(
      (file) => /GLIBC_TUNABLES=(\S+)/.exec(readFileSync(file, 'utf8'))?.[1],
    );
    expect(image).toMatch(/^glibc\.malloc\./);
    expect(unit).toBe(image);
  });

  it('every base image is pinned by its digest', () => {
    const text = readFileSync('Dockerfile', 'utf8');
    const given = new Map([...text.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [name, value]));
    const stages = [...text.matchAll(/^FROM .* AS (\S+)$/gm)].map(([, stage]) => stage);
    const bases = [...text.matchAll(/^FROM (?:--platform=\S+ )?(\S+)/gm)].map(([, base = '']) =>
      base.replace(/\$\{(\w+)\}/, (_, name) => given.get(name) ?? ''),
    );
    expect(bases.length).toBeGreaterThan(0);
    for (const base of bases.filter((name) => name !== 'scratch' && !stages.includes(name)))
      expect(base).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
  });
});
