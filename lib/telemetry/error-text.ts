/** Also bounds circular chains of causes. */
const DEEPEST_CAUSE = 5;

/** Joins the messages of an error and its causes; skips a message that an earlier one contains. */
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
