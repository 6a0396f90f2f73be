import { expect, it } from 'vitest';
import { calmWorld } from './calm.ts';
import { USUAL } from './exporter-setting.ts';
import { calmSetting } from './service/setting.ts';
import { tell, timeOf } from './tell.ts';

it.each([
  [0, '+0d 00:00:00.000'],
  [93_784_500, '+1d 02:03:04.500'],
  [59_999, '+0d 00:00:59.999'],
  [59_999.7, '+0d 00:00:59.999'],
  [40 * 86_400_000, '+40d 00:00:00.000'],
])('tells %d ms after the start as %s', (ms, text) => {
  expect(timeOf(ms)).toBe(text);
});

it('tells a story', () => {
  const story = {
    seed: 42,
    start: Date.UTC(2026, 1, 27),
    lengthMs: 3_600_000,
    setting: calmWorld({ service: calmSetting({ plan: { perSecond: 1 } }), exporter: { ...USUAL, replicas: 2 } }),
    events: [
      { at: 1_000, kind: 'kill', what: { process: 'a' } },
      { at: 61_500, kind: 'clock', what: { ms: -5_000 } },
      { at: 62_001, kind: 'after the failure', what: {} },
    ],
  };
  const failure = { check: 'counters never step back', message: 'slots_total fell from 64 to 32', at: 62_000 };
  expect(tell(story, failure, ({ kind, what }) => `${kind} ${JSON.stringify(what)}`)).toBe(
    `Seed 42, from 2026-02-27T00:00:00.000Z, 0d 01:00:00.000 of trouble, service.plan {"perSecond":1}, exporter.replicas 2
+0d 00:00:01.000  kill {"process":"a"}
+0d 00:01:01.500  clock {"ms":-5000}
+0d 00:01:02.000  FAILED counters never step back: slots_total fell from 64 to 32
npm run simulate -- --seeds=1 --seed=42
`,
  );
});
