const [DASH, COLON, LETTER_T, LETTER_Z] = [0x2d, 0x3a, 0x54, 0x5a];
const [DIGIT_0, DIGIT_9] = [0x30, 0x39];

/** The length of `2026-11-21T10:12:34Z`. */
const LENGTH = 20;

const MS_PER_DAY = 86_400_000;

/**
 * Reads an RFC 3339 time in whole seconds of UTC from its ASCII text, as kubelets write nearly all of theirs.
 *
 * @returns milliseconds since the Unix epoch; NaN for what is written in any other way, be it a time or not
 */
export function readUtcTime(text: Uint8Array, start: number, end: number): number {
  if (end - start !== LENGTH || !hasSeparators(text, start)) return Number.NaN;
  const year = readDigits(text, start, 4);
  const [month, day] = [readDigits(text, start + 5, 2), readDigits(text, start + 8, 2)];
  const [hour, minute] = [readDigits(text, start + 11, 2), readDigits(text, start + 14, 2)];
  const second = readDigits(text, start + 17, 2);
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
  if (!isDay || !(hour <= 23 && minute <= 59 && second <= 59)) return Number.NaN;
  return daysSinceEpoch(year, month, day) * MS_PER_DAY + ((hour * 60 + minute) * 60 + second) * 1000;
}

function hasSeparators(text: Uint8Array, start: number): boolean {
  return (
    text[start + 4] === DASH &&
    text[start + 7] === DASH &&
    text[start + 10] === LETTER_T &&
    text[start + 13] === COLON &&
    text[start + 16] === COLON &&
    text[start + 19] === LETTER_Z
  );
}

/** NaN where there is anything else among them. */
function readDigits(text: Uint8Array, start: number, count: number): number {
  let value = 0;
  for (let index = start; index < start + count; index++) {
    const code = text[index] as number;
    if (code < DIGIT_0 || code > DIGIT_9) return Number.NaN;
    value = value * 10 + code - DIGIT_0;
  }
  return value;
}

function daysInMonth(year: number, month: number): number {
  if (month !== 2) return 30 + ((month + Math.floor(month / 8)) % 2);
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/** By the Gregorian calendar, whose years are counted from March here, so that leap days come last. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const marchYear = month > 2 ? year : year - 1;
  const daysOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const leapDays = Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return marchYear * 365 + leapDays + daysOfYear - 719_468;
}
