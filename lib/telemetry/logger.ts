/** Facts of one event; the keys are camelCase nouns, as in Kubernetes' structured logs. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Where components report events. Every line is one event that somebody may act on. */
export interface Logger {
  /** @param verbosity the line appears at `-v=verbosity` and above; 0, the default, always */
  info(message: string, fields?: LogFields, verbosity?: number): void;
  warning(message: string, fields?: LogFields): void;
  /** @param error its message and those of its causes become the field `err` */
  error(message: string, error?: unknown, fields?: LogFields): void;
}

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
