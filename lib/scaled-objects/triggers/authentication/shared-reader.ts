import { ExpiringCache } from '#lib/cache/expiring-cache.ts';
import { LruMap } from '#lib/cache/lru-map.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { AuthenticationReader } from './resolve-authentication.ts';

/** A caching reader for all objects, and one that bypasses the cache. */
export interface SharedReader extends AuthenticationReader {
  /** For objects that have changed, or whose authentications have: their references may have changed as well. */
  readonly fresh: AuthenticationReader;
}

type Read<Value> = (namespace: string, name: string, signal: AbortSignal) => Promise<Value>;
/** Failures are cached, too. */
type Result = { readonly value: unknown } | { readonly error: unknown };

/** Objects that are prepared at the same time share reads; later ones read again. */
const CACHED_MS = 5000;
/** Missing and forbidden objects are read again with exponential backoff. */
const MIN_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;
const MAX_ENTRIES = 1000;
/** Longer data are not cached, so that all entries together take 64 MiB at most. */
const MAX_CACHED_CHARACTERS = 32 * 1024;

/**
 * Reads each Secret, ConfigMap and token once for all objects that refer to it within 5 s. Reads that fail are repeated with
 * exponential backoff.
 */
export function sharedReader(reader: AuthenticationReader, clock: Clock): SharedReader {
  const cache = new ExpiringCache<Result>({ clock, maxEntries: MAX_ENTRIES });
  const failures = new LruMap<string, number>({ max: MAX_ENTRIES });

  function retryAfterMs(key: string, result: Result): number {
    const isMissing = 'error' in result || result.value === undefined;
    if (!isMissing) {
      failures.delete(key);
      return lengthOf(result) <= MAX_CACHED_CHARACTERS ? CACHED_MS : 0;
    }
    const count = failures.peek(key) ?? 0;
    failures.set(key, count + 1);
    return Math.min(MIN_RETRY_MS * 2 ** count, MAX_RETRY_MS);
  }

  function cached<Value>(kind: string, read: Read<Value>, { isFresh }: { isFresh: boolean }): Read<Value> {
    return async (namespace, name, signal) => {
      const key = JSON.stringify([kind, namespace, name]);
      if (isFresh) cache.delete(key);
      const result = await cache.getOrCompute(key, {
        compute: async (leaving): Promise<Result> => {
          try {
            return { value: await read(namespace, name, leaving) };
          } catch (error) {
            leaving.throwIfAborted();
            return { error };
          }
        },
        lifetimeMs: (found) => retryAfterMs(key, found),
        signal: () => signal,
      });
      if ('error' in result) throw result.error;
      return result.value as Value;
    };
  }

  function wrapped(options: { isFresh: boolean }): AuthenticationReader {
    return {
      ...reader,
      secretData: cached('Secret', reader.secretData, options),
      configMapData: cached('ConfigMap', reader.configMapData, options),
      serviceAccountToken: cached('token', reader.serviceAccountToken, options),
    };
  }

  return { ...wrapped({ isFresh: false }), fresh: wrapped({ isFresh: true }) };
}

function lengthOf(result: Result): number {
  if (!('value' in result) || result.value === undefined) return 0;
  if (typeof result.value === 'string') return result.value.length;
  let length = 0;
  for (const [key, value] of Object.entries(result.value as object)) length += key.length + `${value}`.length;
  return length;
}
