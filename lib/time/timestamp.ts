/** Objects of a list share most of their times. */
const MAX_CACHED = 1024;

const cached = new Map<number, string>();

/** Formats a time as `metav1.Time`: RFC 3339, UTC, whole seconds. */
export function formatTimestamp(timeMs: number): string {
  const second = Math.floor(timeMs / 1000);
  let text = cached.get(second);
  if (text === undefined) {
    text = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
    if (cached.size >= MAX_CACHED) cached.clear();
    cached.set(second, text);
  }
  return text;
}
