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

/** The message of what was thrown, without its causes: where the caller puts it into a sentence. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** What was thrown as an Error, for what takes nothing else. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The code of an error of Node or of a library, such as `ECONNREFUSED`. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined;
}
