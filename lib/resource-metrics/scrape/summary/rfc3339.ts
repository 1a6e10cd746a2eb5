/** As Go writes and reads it: with a zone, and with capitals. A longer fraction is no time that anybody measures. */
const RFC_3339 =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Every month has as many days. */
const SHORTEST_MONTH_DAYS = 28;

/**
 * Reads a time as RFC 3339 has it.
 *
 * @returns milliseconds since the Unix epoch; NaN for what is written in any other way
 */
export function parseRfc3339(text: string): number {
  if (!RFC_3339.test(text)) return Number.NaN;
  const day = Number(text.slice(8, 10));
  const isDay = day <= SHORTEST_MONTH_DAYS || day <= daysOfMonth(text);
  return isDay ? Date.parse(text) : Number.NaN;
}

function daysOfMonth(text: string): number {
  const nextMonth = new Date(`${text.slice(0, 7)}-01T00:00:00Z`);
  nextMonth.setUTCMonth(nextMonth.getUTCMonth() + 1, 0);
  return nextMonth.getUTCDate();
}
