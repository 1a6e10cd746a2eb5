import { isRecord } from '../schema/schema.ts';

/**
 * What Kubernetes 1.20 makes of a custom resource that is applied: an empty text becomes null, at every depth, which the schema then
 * refuses unless it is nullable.
 */
export function withEmptyTextsAsNulls(value: unknown): unknown {
  if (value === '') return null;
  if (Array.isArray(value)) return value.map(withEmptyTextsAsNulls);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, withEmptyTextsAsNulls(field)]));
}
