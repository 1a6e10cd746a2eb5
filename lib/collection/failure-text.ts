import { describeError } from '#lib/telemetry/error-text.ts';
import { printable } from '#lib/telemetry/printable.ts';

const MAX_LENGTH = 500;

/**
 * Writes why a source gives no value as conditions and events of other objects may show it: on one line, at most 500
 * characters, without what URLs say of users.
 *
 * @param error of a source, which has removed its secrets
 */
export function failureText(error: Error): string {
  const text = printable(describeError(error).replaceAll(/\/\/[^/@\s]*@/g, '//…@'));
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1).toWellFormed()}…` : text;
}
