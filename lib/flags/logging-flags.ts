import { flag, integer, notNegative, oneOf } from './flag.ts';

export const loggingFlags = {
  loggingFormat: flag('logging-format', oneOf('text', 'json'), {
    default: 'text',
    description: 'Log format: text, or json with one object per line.',
  }),
  verbosity: flag('v', integer, {
    shorthand: 'v',
    default: 0,
    description:
      'Log verbosity: 0 logs only messages that may require an action; 10 and above log all messages.',
    validate: notNegative,
  }),
};

export interface LoggingOptions {
  readonly format: 'text' | 'json';
  readonly verbosity: number;
}
