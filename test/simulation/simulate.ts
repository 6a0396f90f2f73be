import { parseArgs } from 'node:util';
import { drawStory } from './draw.ts';
import { simplerEvents, tellEvent } from './events/index.ts';
import { type Outcome, run } from './run.ts';
import { shrink } from './shrink.ts';
import { tell } from './tell.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    days: { type: 'string' },
    'until-failure': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    log: { type: 'boolean', default: false },
    'no-shrink': { type: 'boolean', default: false },
  },
});

const [count, first] = [Number(values.seeds), Number(values.seed)];
const days = values.days === undefined ? undefined : Number(values.days);
// Most errors of a run are part of it. Their traces would take a tenth of the time.
Error.stackTraceLimit = values.log ? 10 : 0;
let failures = 0;
let requests = 0;
const began = performance.now();
for (let seed = first; seed < first + count; seed += 1) {
  const story = drawStory(seed, days);
  const at = performance.now();
  const outcome = await run(story);
  requests += outcome.requests;
  const ms = Math.round(performance.now() - at);
  if (values.log && count < 50)
    console.error(
      `seed ${seed}: ${ms} ms, ${outcome.requests} requests, ${outcome.scrapes} scrapes, ${(story.lengthMs / 3_600_000).toFixed(1)} h, ${story.events.length} events`,
    );
  if (!outcome.failure) continue;
  failures += 1;
  if (values.json) console.log(JSON.stringify({ seed, ...outcome.failure }));
  else await report(seed, outcome);
  if (values['until-failure']) break;
}
if (!values.json)
  console.log(
    `${count} seeds, ${failures} failed, ${requests} requests, ${Math.round((performance.now() - began) / 1000)} s`,
  );
process.exit(failures > 0 ? 1 : 0);

async function report(seed: number, outcome: Outcome): Promise<void> {
  const story = drawStory(seed, days);
  if (values['no-shrink'] || !outcome.failure) {
    console.log(tell(story, outcome.failure ?? { check: '', message: '', at: 0 }, tellEvent));
  } else {
    const shrunk = await shrink(story, async (one) => (await run(one)).failure, {
      simplerSettings: () => [],
      simplerEvents,
      maxRuns: 150,
    });
    console.log(tell(shrunk.story, shrunk.failure, tellEvent));
    if (values.log) console.log((await run(shrunk.story)).log.slice(-60).join('\n'));
  }
}
