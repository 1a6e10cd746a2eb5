import { describeError } from '#lib/telemetry/error-text.ts';
import { printable } from '#lib/telemetry/printable.ts';

const MAX_LENGTH = 500;

/**
 * Formats the error of a source for conditions and events: on one line, at most 500 characters, without the user
 * information of URLs.
 *
 * @param error without secrets
 */
export function failureText(error: Error): string {
  const text = printable(describeError(error).replaceAll(/\/\/[^/@\s]*@/g, '//…@'));
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1).toWellFormed()}…` : text;
}
