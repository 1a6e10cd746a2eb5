/**
 * Refuses texts that a client sends before the server has shown that it is of the expected system: memcached, for example,
 * ignores what it does not understand, and carries out each line that is a command of its own.
 *
 * @throws an Error that does not contain the texts
 */
export function rejectLineBreaks(what: string, texts: readonly string[]): void {
  if (texts.some((text) => /[\r\n\0]/.test(text))) throw new Error(`${what} must not contain a line break`);
}
