import { MINUTE, SECOND } from '../../support/timing.ts';
import type { Plan } from '../service/setting.ts';
import type { World } from '../world.ts';
import type { Check } from './check.ts';
import { type Moment, momentsIn, pacedIn, type Spell, type Told, undisturbed } from './spells.ts';

/** The steady part of a spell. Before it the program learns. At the end of a quota single requests matter. */
const STEADY = [0.4, 0.9] as const;
const FEWEST_GAPS = 3;
const MET_WITHIN = 0.05;
/** More tolerance for few polls, because polls differ by whole requests. */
const ODD_POLL = 0.25;
/** Requests by which one sweep takes longer than another, because a finalized pass of a chain falls into it. */
const PASS_REQUESTS = 2;
/** In a steady state the intervals told differ by less. */
const STEADY_RATIO = 1.25;

/** In a steady state the mean time between two polls is the interval told, within 5 % (behaviour 7). */
export function intervalsMet(): Check {
  return undisturbed('pace: the mean time between polls is the interval told', (spell) => {
    const steady = momentsIn(spell, STEADY);
    const from = steady[0]?.ownAt ?? 0;
    for (const id of pacedIn(steady)) {
      const begun = toldOf(id, steady).filter(({ lastAt }) => lastAt >= from);
      const wrong = unmet(id, begun, spell);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  });
}

function toldOf(id: string, moments: readonly Moment[]): Told[] {
  return moments.flatMap(({ sources }) => sources.get(id) ?? []);
}

function unmet(id: string, told: readonly Told[], { exporter, plan }: Spell): string | undefined {
  const [first, last] = [told[0], told.at(-1)];
  if (!first || !last || told.some(({ waits, isUp }) => waits || !isUp)) return undefined;
  const gaps = last.attempts - first.attempts;
  if (gaps < FEWEST_GAPS) return undefined;
  const intervals = told.map(({ intervalMs }) => intervalMs);
  if (Math.max(...intervals) > STEADY_RATIO * Math.min(...intervals)) return undefined;
  const met = (last.lastAt - first.lastAt) / gaps;
  const mean = intervals.reduce((sum, one) => sum + one, 0) / intervals.length;
  const perSecond = plan.perSecond * exporter.utilization;
  const passMs = (exporter.chains.length * PASS_REQUESTS * SECOND) / perSecond;
  const odd = Math.max(ODD_POLL / (gaps + 1), passMs / mean / gaps);
  if (Math.abs(met / mean - 1) <= MET_WITHIN + odd) return undefined;
  return `${id}: told ${mean / SECOND} s, met ${met / SECOND} s in ${gaps} polls`;
}

/** The share of the rate that must be used. Latency leaves some of it idle. */
const USED = 0.9;
const MAX_LATENCY_MS = 400;
/** In less time a single request matters. */
const MIN_SPELL_MS = 2 * MINUTE;
const FEWEST_MOMENTS = 5;

/** Where the rate is what stretches the intervals, at least 90 % of it is used (behaviour 7). */
export function rateUsed(): Check {
  return undisturbed('pace: no request is left unsent where the rate is too low', (spell, world) => {
    const { exporter, plan } = spell;
    if (hasQuota(plan) || !isKnown(world)) return undefined;
    if (world.story.setting.network.latency.high > MAX_LATENCY_MS) return undefined;
    const late = momentsIn(spell, [STEADY[0], 1]);
    const isStretched = late.every(
      ({ sources }) => (sources.get('machines')?.intervalMs ?? 0) > 1_020 * exporter.intervals.machines,
    );
    const [from, to] = [late[0]?.at ?? 0, spell.end];
    if (!isStretched || late.length < FEWEST_MOMENTS || to - from < MIN_SPELL_MS) return undefined;
    const sent = spell.sent.filter(({ at }) => at >= from).length;
    // The spell may begin and end in the middle of a sweep.
    const allowed = ((to - from) / SECOND) * plan.perSecond * exporter.utilization;
    if (sent >= USED * allowed - perSweep(spell)) return undefined;
    return `only ${((100 * sent) / allowed).toFixed(1)} % of the rate is used`;
  });
}

function hasQuota({ perMonth, perHour }: Plan): boolean {
  return perMonth !== undefined || perHour !== undefined;
}

/** Whether the answers tell all limits, and the whole account has one of each. */
export function isKnown({ service }: World): boolean {
  const { headers, buckets } = service.setting;
  return headers.sent === 'all' && headers.without.length === 0 && buckets === 'one';
}

/** After this part of the spell the program stretches a quota. */
const BEGUN = 0.1;
const SPENT = 0.97;
/** A quota up to this may be that of a trial, which ends after 30 days. */
const TRIAL = 1_000;
const BEFORE_MS = 2 * MINUTE;

/** Where the quota is what stretches the intervals, at least 97 % of the share is spent when the month ends (behaviour 9). */
export function quotaSpent(): Check {
  return undisturbed('pace: no quota is left at the end of the month', (spell, world) => {
    const { exporter } = spell;
    const { perMonth, perHour } = spell.plan;
    const isWhole = spell.since <= world.story.start + MINUTE && isEndOfMonth(spell.end);
    if (perMonth === undefined || perMonth <= TRIAL || perHour !== undefined || !isWhole || !isKnown(world))
      return undefined;
    const isStretched = momentsIn(spell, [BEGUN, 1]).every(
      ({ sources }) => (sources.get('machines')?.intervalMs ?? 0) > 1_020 * exporter.intervals.machines,
    );
    if (!isStretched) return undefined;
    const allowed = Math.floor(perMonth * exporter.utilization);
    const spent = spell.sent.filter(({ head }) => head?.status === 200).length;
    // The rest may be too small for one more poll of each source.
    const least = SPENT * allowed - 2 - 1.3 * perSweep(spell);
    return spent >= least ? undefined : `only ${spent} of ${allowed} requests are spent`;
  });
}

/** The requests of a sweep, on average. */
function perSweep({ moments, sent }: Spell): number {
  const attempts = (moment: Moment | undefined): number => moment?.sources.get('machines')?.attempts ?? 0;
  const sweeps = attempts(moments.at(-1)) - attempts(moments[0]) + 1;
  return sent.filter(({ endpoint }) => endpoint === 'machine_metrics').length / sweeps;
}

function isEndOfMonth(at: number): boolean {
  return new Date(at).getUTCMonth() !== new Date(at + BEFORE_MS).getUTCMonth();
}
