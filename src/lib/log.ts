import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';

export type { Logger };

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** null: pretty on a terminal, else JSON. */
  readonly format: 'json' | 'pretty' | null;
}

/** One line per event on stdout: constant messages, data in fields. */
export function createLogger(options: LogOptions): Logger {
  const format = options.format ?? (process.stdout.isTTY ? 'pretty' : 'json');
  const settings = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  // Synchronous, so that the last lines before an exit are not lost.
  if (format === 'pretty') return pino(settings, pretty({ sync: true, translateTime: 'SYS:HH:MM:ss' }));
  return pino(settings, pino.destination({ dest: 1, sync: true }));
}
