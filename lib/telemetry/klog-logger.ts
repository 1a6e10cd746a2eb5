import { getCallSites } from 'node:util';
import type { Clock } from '#lib/time/clock.ts';
import { describeError } from './error-text.ts';
import type { LogFields, Logger } from './logger.ts';
import { printable } from './printable.ts';

/** klog's text, or the JSON of Kubernetes' component-base. */
export type LoggingFormat = 'text' | 'json';

interface KlogLoggerOptions {
  readonly clock: Clock;
  readonly format: LoggingFormat;
  /** Lines of a higher verbosity are dropped. */
  readonly verbosity: number;
  readonly processId: number;
  /** Receives one line, including its line feed. */
  readonly write: (line: string) => void;
}

type Severity = 'I' | 'W' | 'E';

interface Line {
  readonly severity: Severity;
  readonly message: string;
  readonly fields: LogFields;
  readonly verbosity?: number;
}

/**
 * Writes lines that log pipelines for Kubernetes components can parse: klog's text (`I1121 08:46:53.741746    1432
 * file.ts:205] "Message" key="value"`) or component-base's JSON.
 */
export class KlogLogger implements Logger {
  readonly #options: KlogLoggerOptions;

  constructor(options: KlogLoggerOptions) {
    this.#options = options;
  }

  info(message: string, fields: LogFields = {}, verbosity = 0): void {
    if (verbosity <= this.#options.verbosity) this.#write({ severity: 'I', message, fields, verbosity });
  }

  warning(message: string, fields: LogFields = {}): void {
    this.#write({ severity: 'W', message, fields });
  }

  error(message: string, error?: unknown, fields: LogFields = {}): void {
    const err = error === undefined ? {} : { err: describeError(error) };
    this.#write({ severity: 'E', message, fields: { ...err, ...fields } });
  }

  #write(line: Line): void {
    const caller = findCaller();
    const text = this.#options.format === 'json' ? this.#json(line, caller) : this.#text(line, caller);
    this.#options.write(`${printable(text)}\n`); // JSON does not escape all control characters
  }

  #text({ severity, message, fields }: Line, caller: string): string {
    const stamp = new Date(this.#options.clock.nowMs()).toISOString();
    const [, month, day, time] = /-(\d\d)-(\d\d)T([\d:.]+)Z$/.exec(stamp) ?? [];
    const processId = String(this.#options.processId).padStart(7);
    const pairs = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
    return `${severity}${month}${day} ${time}000 ${processId} ${caller}] ${JSON.stringify(message)}${pairs.join('')}`;
  }

  #json({ severity, message, fields, verbosity }: Line, caller: string): string {
    const level = severity === 'I' ? { v: verbosity ?? 0 } : severity === 'W' ? { level: 'warning' } : {};
    return JSON.stringify({ ts: this.#options.clock.nowMs(), caller, msg: message, ...level, ...fields });
  }
}

/** Stack frames up to the caller: this function, `#write` and the logger's method. */
const CALL_DEPTH = 4;

/** @returns `file:line` of the caller of the logger */
function findCaller(): string {
  const site = getCallSites(CALL_DEPTH).at(-1);
  return site ? `${site.scriptName.replace(/^.*\//, '')}:${site.lineNumber}` : 'unknown:0';
}
