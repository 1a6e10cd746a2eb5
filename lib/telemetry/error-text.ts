/** Causes further down say nothing new, or go round in a circle. */
const DEEPEST_CAUSE = 5;

/** An error's message followed by those of its causes that say something new. */
export function describeError(error: unknown): string {
  const messages: string[] = [];
  let current = error;
  for (let depth = 0; depth < DEEPEST_CAUSE && current !== undefined && current !== null; depth++) {
    const message = current instanceof Error ? current.message || current.name : String(current);
    if (!messages.some((earlier) => earlier.includes(message))) messages.push(message);
    current = current instanceof Error ? current.cause : undefined;
  }
  return messages.join(': ');
}
