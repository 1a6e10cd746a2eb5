import { ApiError } from '#lib/kubernetes/client/api-error.ts';

/** What a trigger refers to cannot be read just now, which says nothing of the trigger. */
export class UnreadReference extends Error {
  override readonly name = 'UnreadReference';
}

/** Says that it does not know us, or that it is busy; all else below 500 is about what it was asked for. */
const NOT_ABOUT_THE_OBJECT = [401, 429];

/**
 * Reads of the API server what a trigger refers to.
 *
 * @throws {UnreadReference} where the API server does not respond, or fails; what it says of the object as it is
 */
export async function fetchReference<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    signal.throwIfAborted();
    if (
      cause instanceof ApiError &&
      cause.statusCode < 500 &&
      !NOT_ABOUT_THE_OBJECT.includes(cause.statusCode)
    )
      throw cause;
    throw new UnreadReference('Cannot read what a trigger refers to', { cause });
  }
}
