import { describeError } from '#lib/telemetry/error-text.ts';

/** The error that a promise rejects with, in the form of logs. */
export async function errorOf(promise: Promise<unknown>): Promise<string> {
  return await promise.then(
    () => 'no error',
    (error: unknown) => describeError(error),
  );
}
