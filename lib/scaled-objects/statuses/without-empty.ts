/**
 * A status without its empty fields, which mean the same as those that are not there. Kubernetes 1.20 makes null of an
 * empty text that is applied again, and then refuses it.
 */
export function withoutEmpty<T extends object>(status: T): T {
  const kept = Object.entries(status).flatMap(([field, value]) => {
    if (isEmpty(value)) return [];
    const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value);
    return [[field, isPlain ? withoutEmpty(value) : value]];
  });
  return Object.fromEntries(kept) as T;
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === undefined || value === null) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
