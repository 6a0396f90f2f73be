import { escapeRegex } from '@grafana/data';
import type { Given } from './given.ts';

/** Replaces the variables of Grafana in a text: `${machine:regex}`, `$__interval`. */
export function interpolate(text: string, given: Given, built: Readonly<Record<string, string>> = {}): string {
  return text.replace(/\$\{(\w+)(?::(\w+))?\}|\$(\w+)/g, (whole, braced?: string, format?: string, plain?: string) => {
    const name = braced ?? plain ?? '';
    const chosen = given.chosen[name];
    if (chosen !== undefined) return format === 'regex' ? escapeRegex(chosen) : chosen;
    const variable = given.dashboard.templating.list.find((one) => one.name === name);
    // Grafana inserts the value of All as it is.
    return built[name] ?? variable?.allValue ?? whole;
  });
}

/** The menus and what is chosen, as above a dashboard. */
export function menus({ dashboard, chosen }: Given): string {
  const choices = dashboard.templating.list.map(({ name, label = name, type }) =>
    type === 'datasource' ? `${label}: prometheus` : `${label}: ${chosen[name] ?? 'All'}`,
  );
  return choices.join('   ');
}
