import { describeError } from '#lib/telemetry/error-text.ts';

/** What a promise is rejected with, as logs write it. */
export async function errorOf(promise: Promise<unknown>): Promise<string> {
  return await promise.then(
    () => 'no error',
    (error: unknown) => describeError(error),
  );
}
