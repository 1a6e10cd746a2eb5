/** Writes a moment as Kubernetes writes the times of objects: RFC 3339, whole seconds. */
export function objectTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
