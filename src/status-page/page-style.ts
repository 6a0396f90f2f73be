import { hash } from 'node:crypto';
import { Html, html } from '../toolkit/lib/html.ts';
import { STATUS_SCRIPT } from './page-script.ts';

/**
 * The shared style of the status page and the documentation. The contrast of text is at least 4.5 : 1, that of graphics
 * 3 : 1, in both colour schemes (WCAG 2.2, AA).
 */
export const BASE_STYLE = `
:root {
  color-scheme: light dark;
  --bg: #fff; --panel: #f5f6f8; --text: #1b1f24; --quiet: #57606a; --line: #d5dae0; --link: #0550ae;
  --good: #116329; --good-bg: #e3f5e7; --warning: #7a4900; --warning-bg: #fff3d1; --bad: #a40e26; --bad-bg: #ffe6e4;
  --neutral: #4b535d; --neutral-bg: #eceff2;
  --track: #e1e5ea; --used: #0969da; --full: #cf222e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #0d1117; --panel: #161b22; --text: #e6edf3; --quiet: #9aa4af; --line: #30363d; --link: #79b8ff;
    --good: #7ee787; --good-bg: #12261a; --warning: #f2cc60; --warning-bg: #2d2407; --bad: #ff9d96; --bad-bg: #3a1418;
    --neutral: #b3bcc6; --neutral-bg: #21262d;
    --track: #2a3038; --used: #388bfd; --full: #f85149;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 80rem; padding: 1rem 1.5rem 3rem; background: var(--bg); color: var(--text);
  font: 0.9375rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
main:focus { outline: none; }
nav ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; list-style: none; margin: 0; padding: 0; }
nav a { display: inline-block; padding: 0.25rem 0; }
summary { cursor: pointer; padding: 0.25rem 0; }
.toc { margin-top: 0.75rem; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 0.5rem; background: var(--bg); padding: 0.5rem 1rem; }
@media (max-width: 48rem) { body { padding: 0.75rem 0.75rem 2rem; } }
@media print { nav, .skip { display: none; } }
`;

export const STATUS_STYLE = `${BASE_STYLE}
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 1.5rem; }
h1 { flex: 1; font-size: 1.375rem; margin: 0; }
h2 { font-size: 1.0625rem; margin: 1.75rem 0 0.5rem; }
summary h2 { display: inline; margin: 0; font-size: 0.9375rem; }
section:has(> details:first-child) { border-bottom: 1px solid var(--line); padding: 0.25rem 0; }
.verdict { margin: 1rem 0 0; padding: 0.75rem 1rem; border-left: 0.375rem solid currentColor; border-radius: 0.25rem; }
.verdict h2 { font-size: 1.25rem; margin: 0; }
.verdict.good, .badge.good { color: var(--good); background: var(--good-bg); }
.verdict.warning, .badge.warning { color: var(--warning); background: var(--warning-bg); }
.verdict.bad, .badge.bad { color: var(--bad); background: var(--bad-bg); }
.verdict.neutral, .badge.neutral { color: var(--neutral); background: var(--neutral-bg); }
.verdict ul { margin: 0.5rem 0 0; padding: 0; list-style: none; color: var(--text); }
.verdict li { margin-top: 0.25rem; overflow-wrap: anywhere; white-space: pre-line; }
.verdict li .badge { background: var(--bg); }
.verdict li a { white-space: nowrap; }
.verdict p { margin: 0.375rem 0 0; color: var(--text); }
.verdict .counts, #stale { font-weight: 600; }
#stale:empty { margin: 0; }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: 0.375rem 1rem 0.375rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: break-word; }
tbody th, small { overflow-wrap: anywhere; }
thead th { color: var(--quiet); font-size: 0.8125rem; font-weight: 600; overflow-wrap: normal; }
tbody th { font-weight: 600; min-width: 7rem; max-width: 16rem; }
small.at { white-space: nowrap; }
small, .note { color: var(--quiet); font-size: 0.8125rem; }
.note { margin: 0.5rem 0 0; }
.badge { display: inline-block; padding: 0 0.5rem; border-radius: 0.75rem; font-size: 0.8125rem; font-weight: 600;
  white-space: nowrap; }
.bar { display: block; width: 9rem; max-width: 100%; height: 0.5rem; margin: 0.375rem 0 0.25rem; border-radius: 0.25rem;
  background: var(--track); }
.bar rect { height: 100%; }
.used { fill: var(--used); }
.full { fill: var(--full); }
@media (max-width: 48rem) {
  h1 { font-size: 1.125rem; }
  .verdict h2 { font-size: 1rem; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
  h2 { margin-top: 1rem; }
  .bar { width: 100%; margin: 0.125rem 0; }
  thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  table, tbody, th, td { display: block; }
  tbody tr { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 0.125rem 0.75rem;
    background: var(--panel); border: 1px solid var(--line); border-radius: 0.375rem; margin-bottom: 0.5rem;
    padding: 0.25rem 0.75rem; font-size: 0.875rem; line-height: 1.3; }
  tbody th, td { padding: 0; border: 0; max-width: none; min-width: 0; }
  tbody th, th + td:last-child, th + td:has(+ td:empty:last-child), th + td:empty + td:last-child,
  td[data-label="Processes"], td[data-label="Last error"] { grid-column: 1 / -1; }
  tbody th:has(+ td[data-label="State"], + td[data-label="Machines"]) { grid-column: 1; }
  td .badge { white-space: normal; }
  td .at, td:empty { display: none; }
  td[data-label]::before { content: attr(data-label) " "; color: var(--quiet); font-size: 0.8125rem; }
  td:has(br)::before { display: block; }
  td[data-label="State"]::before, td[data-label="Processes"]::before { content: none; }
}
`;

const DRAWING =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0969da"/><path d="M3 11l3-4 3 2 4-5" fill="none" stroke="#fff" stroke-width="2"/></svg>';
/** Part of the page, because otherwise browsers request /favicon.ico. */
const ICON = `data:image/svg+xml,${encodeURIComponent(DRAWING)}`;

/** The beginning of every page, up to its style. */
export function pageHead(title: string, style: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<style>${new Html(style)}</style>
</head>
`;
}

/** Only this style is allowed, pictures from `pictures`, and this script if there is one, which may ask the exporter alone. */
export function policyOf(style: string | Buffer, pictures = 'data:', script?: string): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    ...(script ? [`script-src 'sha256-${hash('sha256', script, 'base64')}'`, "connect-src 'self'"] : []),
    `img-src ${pictures}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export const STATUS_POLICY = policyOf(STATUS_STYLE, 'data:', STATUS_SCRIPT);
