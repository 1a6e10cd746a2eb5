const MAX_SHOWN_LENGTH = 200;

/** A query as logs, events and pages show it: on one line, and not longer than fits there. */
export function shorten(text: string): string {
  const line = text.slice(0, MAX_SHOWN_LENGTH).replaceAll(/[\r\n\t]/g, ' ');
  return text.length > MAX_SHOWN_LENGTH ? `${line}…` : line;
}
