/** Also bounds circular chains of causes. */
const MAX_DEPTH = 5;

/** Joins the messages of an error and its causes; skips a message that an earlier one contains. */
export function describeError(error: unknown): string {
  const messages: string[] = [];
  let current = error;
  for (let depth = 0; depth < MAX_DEPTH && current !== undefined && current !== null; depth++) {
    const message = current instanceof Error ? current.message || current.name : String(current);
    if (!messages.some((earlier) => earlier.includes(message))) messages.push(message);
    current = current instanceof Error ? current.cause : undefined;
  }
  return messages.join(': ');
}

/** Returns the message of a thrown value without its causes, for use within a sentence. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Wraps thrown values that are not errors. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Returns the code of an error, such as `ECONNREFUSED`. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined;
}
