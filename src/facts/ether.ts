import { BASE_UNITS } from '../toolkit/exposition/encode.ts';

export const METRIC_UNITS: readonly string[] = [...BASE_UNITS, 'ether', 'wei'];

/** With the digits of what one validator misses in a day. */
export function etherText(wei: string): string {
  return `${etherOf(wei).toLocaleString('en-GB', { maximumFractionDigits: 5 })} ETH`;
}

const WEI_DIGITS = 18;

/**
 * Wei (decimal string) to ether, correctly rounded to the nearest double. Moving the decimal point in the text leaves only
 * the rounding of the parser; parsing first and dividing by 1e18 would round twice.
 */
export function etherOf(wei: string): number {
  const sign = wei.startsWith('-') ? '-' : '';
  const digits = wei.slice(sign.length).padStart(WEI_DIGITS + 1, '0');
  return Number(`${sign}${digits.slice(0, -WEI_DIGITS)}.${digits.slice(-WEI_DIGITS)}`);
}
