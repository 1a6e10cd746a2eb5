import { describeError } from '#lib/telemetry/error-text.ts';
import type { LogFields, Logger } from '#lib/telemetry/logger.ts';

/** Records log lines for specs. */
export class RecordingLogger implements Logger {
  readonly lines: {
    level: 'info' | 'warning' | 'error';
    message: string;
    fields: LogFields;
    verbosity: number;
  }[] = [];

  info(message: string, fields: LogFields = {}, verbosity = 0): void {
    this.lines.push({ level: 'info', message, fields, verbosity });
  }

  warning(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'warning', message, fields, verbosity: 0 });
  }

  error(message: string, error?: unknown, fields: LogFields = {}): void {
    const err = error === undefined ? {} : { err: describeError(error) };
    this.lines.push({ level: 'error', message, fields: { ...fields, ...err }, verbosity: 0 });
  }
}
