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
