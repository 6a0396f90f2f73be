/** The values of /status.json: plain values with names in snake_case that include their unit. */
export type Plain = string | number | boolean | null | readonly Plain[] | PlainObject;
export interface PlainObject {
  readonly [name: string]: Plain;
}

/** JSON knows neither undefined nor Infinity. */
export function plainNumber(value: number | null | undefined): number | null {
  return value == null || !Number.isFinite(value) ? null : value;
}
