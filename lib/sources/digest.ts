import { createHash } from 'node:crypto';

/** Tells values apart that must not be shown: a part of a digest of their JSON. */
export function digestOf(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
