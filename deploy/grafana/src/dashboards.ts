import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { chain } from './chain.ts';
import { exporter } from './exporter.ts';
import { fleet } from './fleet.ts';
import { machine } from './machine.ts';
import { networkReturns } from './returns.ts';
import { validators } from './validators.ts';

/** Every dashboard, in reading order. */
export function dashboards(): Dashboard[] {
  return [fleet(), machine(), validators(), networkReturns(), chain(), exporter()];
}
