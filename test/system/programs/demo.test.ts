import { describe, expect, it } from 'vitest';
import { ask } from '../../support/ask.ts';
import { portOf, startExporter, waitFor } from '../../support/program.ts';

const LAST_SEEN = /^beaconchain_machine_last_seen_timestamp_seconds\{.*process="system"\} (\S+)$/gm;
const PROPOSALS = /^beaconchain_watched_proposals_total\{chain="(\w+)",status="(\w+)"\} (\S+)$/gm;
/** Two minutes of pushes may be missing; alerts begin at ten. */
const FRESH_SECONDS = 180;

describe('system/programs/demo', () => {
  it('begins with machines that are all well, so that the first alert is the one that somebody asked for', async () => {
    const port = await portOf(startExporter(['demo', '--web.listen-address=127.0.0.1:0']));
    const seen = await waitFor(async () => {
      const { body } = await ask(port, '/metrics', { headers: { accept: 'text/plain;version=0.0.4' } });
      const times = [...body.toString().matchAll(LAST_SEEN)].map(([, time]) => Number(time));
      expect(times).toHaveLength(5);
      return times;
    });
    expect(Date.now() / 1000 - Math.min(...seen)).toBeLessThan(FRESH_SECONDS);
  });

  it('shows proposals of watched validators on both chains from the start, none of them missed', async () => {
    const port = await portOf(startExporter(['demo', '--web.listen-address=127.0.0.1:0']));
    const proposals = await waitFor(async () => {
      const { body } = await ask(port, '/metrics', { headers: { accept: 'text/plain;version=0.0.4' } });
      const found = [...body.toString().matchAll(PROPOSALS)].map(([, chain, status, value]) => ({
        chain,
        status,
        value: Number(value),
      }));
      const proposed = found.filter(({ status, value }) => status === 'proposed' && value > 0);
      expect(proposed.map(({ chain }) => chain)).toEqual(['mainnet', 'hoodi']);
      return found;
    });
    expect(proposals).toHaveLength(6);
    for (const { status, value } of proposals) if (status !== 'proposed') expect(value).toBe(0);
  });

  it('says on its page that the data are simulated, and leads to no real validator or slot', async () => {
    const port = await portOf(startExporter(['demo', '--web.listen-address=127.0.0.1:0']));
    const page = await waitFor(async () => {
      const text = (await ask(port, '/')).body.toString();
      expect(text).toContain('<h2 id="verdict">Simulated data: Working</h2>');
      expect(text).toMatch(/slot \d+, epoch/);
      return text;
    });
    expect(page).not.toMatch(/href="[^"]*beaconcha\.in/);
    expect(JSON.parse((await ask(port, '/status.json')).body.toString())).toMatchObject({
      version: 1,
      is_simulated: true,
      severity: 'ok',
    });
  });
});
