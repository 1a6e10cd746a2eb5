/** Details of one event. Keys are camelCase nouns, as in Kubernetes' structured logs. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Takes the events of components. Each line is one event that an operator may act on. */
export interface Logger {
  /** @param verbosity logged at `-v=verbosity` and above; 0 is always logged */
  info(message: string, fields?: LogFields, verbosity?: number): void;
  warning(message: string, fields?: LogFields): void;
  /** @param error logged as the field `err`: its message and those of its causes */
  error(message: string, error?: unknown, fields?: LogFields): void;
}
