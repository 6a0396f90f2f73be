import { describe, expect, it } from 'vitest';
import { STATES_BY_PART } from './rare-states.ts';
import { RARE_STATES, type RareState, Reached, tellMissing } from './sometimes.ts';

describe('the rare states', () => {
  it('are at least 45, each of one part', () => {
    const names = Object.values(STATES_BY_PART).flatMap((states) => Object.keys(states));
    expect(names.length).toBeGreaterThanOrEqual(45);
    expect(Object.keys(RARE_STATES)).toEqual(names);
  });

  it.each(Object.entries(RARE_STATES))('say how they are detected: %s', (_name, how) => {
    expect(how).toMatch(/^[A-Za-z].*\.$/);
  });
});

describe('what was reached', () => {
  it('counts, adds up, and says what is missing', () => {
    const [first, second] = [new Reached(), new Reached()];
    first.note('a short write');
    first.note('a short write');
    second.note('a short write');
    second.note('a renewal while closed');
    first.merge(second);
    expect(first.of('a short write')).toBe(3);
    expect(first.of('a renewal while closed')).toBe(1);
    expect(second.of('a short write')).toBe(1);
    expect(first.missing()).toHaveLength(Object.keys(RARE_STATES).length - 2);
    expect(first.missing()).not.toContain('a short write');
  });

  it('misses nothing when everything was reached', () => {
    const reached = new Reached();
    reached.noteAll(Object.keys(RARE_STATES) as RareState[]);
    expect(reached.missing()).toEqual([]);
    expect(tellMissing(reached)).toEqual([]);
  });

  it('goes from one process to another', () => {
    const reached = new Reached();
    reached.note('a stretched interval');
    reached.note('a short write', 4);
    const text = JSON.stringify(reached);
    expect(text).toBe('{"a short write":4,"a stretched interval":1}');
    expect(JSON.stringify(Reached.from(JSON.parse(text)))).toBe(text);
    expect(() => Reached.from({ 'a shrot write': 1 })).toThrow('no rare state is called a shrot write');
  });

  it('tells what is missing, which part detects it, and how', () => {
    const lines = tellMissing(new Reached());
    expect(lines[0]).toBe(
      'never reached: a short write (disk): One call wrote fewer bytes than it was given, and the next call wrote more of them.',
    );
    expect(lines.filter((line) => line.includes('(undefined)'))).toEqual([]);
  });

  it('does not compile with a name that is not in the list', () => {
    // @ts-expect-error: a typo.
    new Reached().note('a shrot write');
  });
});
