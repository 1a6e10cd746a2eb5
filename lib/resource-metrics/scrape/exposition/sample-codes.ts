const [TAB, CARRIAGE_RETURN, SPACE, DIGIT_9, COLON, UNDERSCORE] = [0x09, 0x0d, 0x20, 0x39, 0x3a, 0x5f];
const [LOWER_A, LOWER_Z, LOWER_CASE] = [0x61, 0x7a, 0x20];
export const DIGIT_0 = 0x30;

/** Whether a byte may stand in the name of a series or a label; a digit may not be the first. */
export function isNameCode(code: number | undefined): boolean {
  if (code === undefined) return false;
  const lower = code | LOWER_CASE;
  return (lower >= LOWER_A && lower <= LOWER_Z) || code === UNDERSCORE || code === COLON || isDigit(code);
}

export function isDigit(code: number | undefined): code is number {
  return code !== undefined && code >= DIGIT_0 && code <= DIGIT_9;
}

/** Whether a byte may stand between the parts of a line. */
export function isSpace(code: number | undefined): boolean {
  return code === SPACE || code === TAB || code === CARRIAGE_RETURN;
}
