import pino, { type Logger } from 'pino';
import { LineOutput } from './line-output.ts';

export type { Logger };

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** null: pretty on a terminal, else JSON. */
  readonly format: 'json' | 'pretty' | null;
}

/** One line per event on stdout: constant messages, data in fields. */
export async function openLogger({ level, format }: LogOptions, output: LineOutput): Promise<Logger> {
  const isPretty = (format ?? (process.stdout.isTTY ? 'pretty' : 'json')) === 'pretty';
  if (!isPretty) return jsonLogger(level, output);
  const { default: pinoPretty } = await import('pino-pretty');
  return jsonLogger(level, output, pinoPretty.prettyFactory({ translateTime: 'SYS:HH:MM:ss' }));
}

/** @param pretty Formats a line of JSON */
export function jsonLogger(level: LogLevel, output = new LineOutput(1), pretty = (line: string) => line): Logger {
  const settings = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const log = pino(settings, { write: (line: string) => output.write(pretty(line)) });
  output.onRecovery = (lines) => log.warn({ lines }, 'lines of the log were dropped');
  return log;
}
