/** Where the page links the documentation, and in it what to do about an alert. */
export const DOCUMENTATION = { home: './docs/', alerts: './docs/alerts' } as const;

/** What to do about an alert. */
export function runbookUrl(alert: string): string {
  return `${DOCUMENTATION.alerts}#${alert.toLowerCase()}`;
}
