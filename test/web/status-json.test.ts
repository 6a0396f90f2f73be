import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { statusOf } from '../../src/web/status.ts';
import type { StatusInput } from '../../src/web/status-input.ts';
import { jsonPieces } from '../../src/web/status-json.ts';
import { modelOf } from '../../src/web/status-model.ts';
import { knownIn, STATES } from '../support/status-states.ts';
import { HOUR, NOW } from '../support/timing.ts';

const Time = z.number().nullable();

/** The fields that docs/status.md names. Others may come, none of these may go. */
const Status = z.object({
  version: z.literal(1),
  exporter_version: z.string(),
  is_simulated: z.boolean(),
  timestamp_seconds: z.number(),
  start_timestamp_seconds: z.number(),
  severity: z.enum(['critical', 'warning', 'info', 'ok']),
  headline: z.string(),
  notices: z.array(
    z.strictObject({
      severity: z.enum(['critical', 'warning', 'info', 'ok']),
      alert: z.string().nullable(),
      text: z.string(),
    }),
  ),
  sources: z.array(
    z.strictObject({
      source: z.string(),
      chain: z.string().nullable(),
      is_up: z.boolean(),
      state: z.string(),
      failures_in_a_row: z.number(),
      last_attempt_timestamp_seconds: Time,
      last_success_timestamp_seconds: Time,
      next_attempt_timestamp_seconds: Time,
      quota_wait_end_timestamp_seconds: Time,
      interval_seconds: z.number(),
      configured_interval_seconds: z.number(),
      planned_requests_per_day: z.number(),
      last_error: z.object({ timestamp_seconds: z.number(), reason: z.string() }).nullable(),
    }),
  ),
  chains: z.array(z.record(z.string(), z.unknown())),
  budget: z.array(z.record(z.string(), z.unknown())),
  machines: z.array(
    z.looseObject({ machine: z.string(), chain: z.string(), alerts: z.array(z.string()), is_fresh: z.boolean() }),
  ),
});

function jsonOf(input: StatusInput): z.infer<typeof Status> {
  return Status.parse(JSON.parse([...jsonPieces(modelOf(input, NOW))].join('')));
}

/** All names of fields, however deep. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...namesIn(inner)]);
}

const SEVERITIES = { bad: 'critical', warning: 'warning', neutral: 'info', good: 'ok' };

describe('web/status-json', () => {
  it.each(STATES)('says what the page says (%s)', (state) => {
    const json = jsonOf(knownIn(state));
    const page = statusOf(knownIn(state), NOW, false);
    expect([json.severity, json.headline]).toEqual([SEVERITIES[page.verdict.tone], page.verdict.text]);
    expect(json.notices).toEqual(
      page.notices.map(({ tone, text, alert = null }) => ({ severity: SEVERITIES[tone], alert, text })),
    );
    const machines = page.tables.filter(({ title }) => title.startsWith('Machines'));
    expect(json.machines).toHaveLength(machines.reduce((sum, { size }) => sum + size, 0));
    expect(json.sources).toHaveLength(page.tables.find(({ title }) => title === 'Sources')?.size ?? 0);
    expect(json.budget).toHaveLength(Object.keys(knownIn(state).ledger.buckets).length);
  });

  it.each(STATES)('has names in snake_case, and no value that JSON cannot hold (%s)', (state) => {
    for (const name of namesIn(jsonOf(knownIn(state)))) expect(name).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
  });

  it('has machines with their alerts, the worst first, and their figures', () => {
    const [first, second, third] = jsonOf(knownIn('silent')).machines;
    expect(first).toEqual({
      machine: 'quiet-1',
      chain: 'mainnet',
      alerts: ['MachineOffline'],
      is_fresh: false,
      system_last_seen_timestamp_seconds: (NOW - 5 * HOUR) / 1000,
      validator_last_seen_timestamp_seconds: first?.['validator_last_seen_timestamp_seconds'],
      node_last_seen_timestamp_seconds: (NOW - 5 * HOUR) / 1000,
      is_synced: null,
      is_execution_connected: null,
      head_slot: null,
      peers: null,
      validators: null,
      validators_active: null,
      disk_free_ratio: null,
      memory_used_ratio: null,
    });
    expect(second).toMatchObject({ machine: 'never-1', alerts: ['MachineNeverSeen'], is_fresh: false });
    expect(third).toMatchObject({ alerts: [], is_fresh: true, is_synced: true });
    expect(third?.['disk_free_ratio']).toBeGreaterThan(0);
  });

  it('has what all sources know of a chain in one object', () => {
    const [mainnet, hoodi] = jsonOf(knownIn('silent')).chains;
    expect(mainnet).toMatchObject({
      chain: 'mainnet',
      head_slot: 15_328_801,
      finalized_epoch: 479_023,
      watched_validators_slashed: [12_345],
      sync_committee_period: 1_871,
      daily_return_day: 2_128,
    });
    expect(hoodi).toMatchObject({ chain: 'hoodi', sync_committee_period: 493 });
  });

  it('has no next attempt of a source that waits for the operator, and no requests', () => {
    const { sources, budget } = jsonOf(knownIn('revoked'));
    for (const source of sources) expect(source.next_attempt_timestamp_seconds).toBeNull();
    expect(budget[0]).toMatchObject({ planned_requests_per_day: 0, allowed_requests_per_day: 0 });
  });

  it('has the quota of the month', () => {
    const { budget } = jsonOf(knownIn('stretched'));
    expect(budget[0]).toMatchObject({
      bucket: 'default',
      windows: [{ window: 'month', limit_requests: 1_000, used_requests: 358, remaining_requests: 596 }],
    });
  });
});
