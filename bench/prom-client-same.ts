/** A program that only serves the series of another one from prom-client. Started with their URL; tells its port. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

const LINE = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/gm;
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g;

const registry = new Registry();
collectDefaultMetrics({ register: registry });
const gauges = new Map<string, Gauge>();
const lines = (await (await fetch(process.argv[2] ?? '')).text()).matchAll(LINE);
for (const [, name = '', list = '', value] of lines) {
  const labels = Object.fromEntries([...list.matchAll(LABEL)].map(([, label = '', text = '']) => [label, text]));
  if (registry.getSingleMetric(name) && !gauges.has(name)) continue;
  const gauge = gauges.get(name) ?? new Gauge({ name, help: name, labelNames: Object.keys(labels), registers: [] });
  if (!gauges.has(name)) registry.registerMetric(gauge);
  gauges.set(name, gauge);
  gauge.set(labels, Number(value));
}

const server = createServer(async (_, response) => response.end(await registry.metrics()));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
process.send?.((server.address() as AddressInfo).port);
