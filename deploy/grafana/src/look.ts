import { MappingType, type Threshold, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';

const GOOD = 'green';
export const BAD = 'red';
export const POOR = 'orange';

/** Good below this number. */
export function above(value: number, color: string = POOR): Threshold[] {
  return [
    { value: null, color: GOOD },
    { value, color },
  ];
}

/** Good from this number on. */
export function below(value: number, color: string = POOR): Threshold[] {
  return [
    { value: null, color },
    { value, color: GOOD },
  ];
}

/** A dashed line in a chart where an alert begins, whichever side is the bad one. */
export function lineAt(value: number, color: string = POOR): Threshold[] {
  return [
    { value: null, color: 'transparent' },
    { value, color },
  ];
}

export const PLAIN: readonly Threshold[] = [{ value: null, color: 'blue' }];

/** Words for 1 and 0. */
export function words(one: string, zero: string, bad: 'one' | 'zero' | 'neither' = 'zero'): ValueMapping[] {
  const color = (which: 'one' | 'zero'): string => (bad === 'neither' ? 'text' : which === bad ? BAD : GOOD);
  return [
    {
      type: MappingType.ValueToText,
      options: {
        '1': { text: one, color: color('one'), index: 0 },
        '0': { text: zero, color: color('zero'), index: 1 },
      },
    },
  ];
}
