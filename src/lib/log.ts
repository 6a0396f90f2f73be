import pino, { type Logger, type LoggerOptions } from 'pino';

export type { Logger };

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** null: pretty on a terminal, else JSON. */
  readonly format: 'json' | 'pretty' | null;
}

/** One line per event on stdout: constant messages, data in fields. */
export async function openLogger({ level, format }: LogOptions): Promise<Logger> {
  const isPretty = (format ?? (process.stdout.isTTY ? 'pretty' : 'json')) === 'pretty';
  if (!isPretty) return jsonLogger(level);
  const { default: pretty } = await import('pino-pretty');
  return pino(settingsOf(level), pretty({ sync: true, translateTime: 'SYS:HH:MM:ss' }));
}

/** Synchronous, so that the last lines before an exit are not lost. */
export function jsonLogger(level: LogLevel): Logger {
  return pino(settingsOf(level), pino.destination({ dest: 1, sync: true }));
}

function settingsOf(level: LogLevel): LoggerOptions {
  return {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
}
