/** The objects of a list share most of their times. */
const KEPT_TIMES = 1024;

export const kept = new Map<number, string>();

/** A moment as `metav1.Time` has it: RFC 3339, UTC, whole seconds. */
export function formatTime(timeMs: number): string {
  const second = Math.floor(timeMs / 1000);
  let text = kept.get(second);
  if (text === undefined) {
    text = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
    if (kept.size >= KEPT_TIMES) kept.clear();
    kept.set(second, text);
  }
  return text;
}
