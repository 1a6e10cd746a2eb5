/** A command line that cannot be used; the message is one line that names flag, value and rule. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
}
