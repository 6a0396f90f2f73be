import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { TABLE } from '../../../src/commands/flag-table.ts';
import { COMMENTED, DOCUMENTS } from './documents.ts';

const COMPOSE = readFileSync('deploy/compose/compose.yaml', 'utf8');
const VARIABLES = [
  'BEACONCHAIN_API_KEY',
  ...TABLE.map(({ name }) => `BEACONCHAIN_EXPORTER_${name.toUpperCase().replace(/[.-]/g, '_')}`),
  ...[...COMPOSE.matchAll(/\$\{(\w+)/g)].map(([, name]) => name),
];

describe('system/documented-commands/names', () => {
  it.each([...DOCUMENTS, ...COMMENTED])('every variable of ours that %s names is read', (file) => {
    const named = readFileSync(file, 'utf8').match(/\b(?:BEACONCHAIN|GRAFANA)_[A-Z_]*[A-Z]\b/g) ?? [];
    expect(named.filter((name) => !VARIABLES.includes(name))).toEqual([]);
  });

  it.each(DOCUMENTS)('every file of ours that %s names between words is there', (file) => {
    const spans = readFileSync(file, 'utf8').matchAll(/`((?:\.ci|bench|deploy|docs|scripts|src|test)\/[\w./-]*)`/g);
    expect([...spans].map(([, path = '']) => path).filter((path) => !existsSync(path))).toEqual([]);
  });
});
