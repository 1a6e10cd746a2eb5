import { flag, integer, notNegative, oneOf } from './flag.ts';

/** What is logged, and how. */
export const loggingFlags = {
  loggingFormat: flag('logging-format', oneOf('text', 'json'), {
    default: 'text',
    description: 'How log lines are written: text, or one JSON object a line.',
  }),
  verbosity: flag('v', integer, {
    shorthand: 'v',
    default: 0,
    description: 'How much is logged: 0 for what somebody may act on, up to 10.',
    ruleBrokenBy: notNegative,
  }),
};

/** What is logged. */
export interface LoggingOptions {
  readonly format: 'text' | 'json';
  readonly verbosity: number;
}
