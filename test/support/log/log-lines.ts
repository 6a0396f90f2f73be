import { type Logger, pino } from 'pino';

/** A logger that logs all levels, and its lines, parsed. */
export function logLines(): { log: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'debug', base: null, timestamp: false, formatters: { level: (level) => ({ level }) } },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  return { log, lines };
}
