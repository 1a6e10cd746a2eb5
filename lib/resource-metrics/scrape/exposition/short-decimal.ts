import { DIGIT_0, isDigit } from './sample-codes.ts';

export const MINUS = 0x2d;
const [PLUS, POINT, LOWER_E] = [0x2b, 0x2e, 0x65];

/** Those that a double holds exactly. */
const POWERS_OF_TEN: readonly number[] = Array.from({ length: 23 }, (_, power) => 10 ** power);

/**
 * Reads numbers of few digits without making a text of them, as nearly all in an exposition are: a whole number up to 2^53
 * times or by a power of ten up to 10^22. A double holds both exactly, so the one operation rounds as reading the text would.
 */
export class ShortDecimal {
  /** What was read last, and where it ended. */
  value = 0;
  end = 0;

  /**
   * @param start where the number begins
   * @returns `false` where there is another number, or none
   */
  read(bytes: Uint8Array, start: number): boolean {
    let [position, digits, exponent] = [start, 0, 0];
    let code = bytes[position] as number;
    if (!isDigit(code)) return false;
    for (; isDigit(code); code = bytes[++position] as number) digits = digits * 10 + (code - DIGIT_0);
    if (code === POINT) {
      const fraction = ++position;
      for (code = bytes[position] as number; isDigit(code); code = bytes[++position] as number)
        digits = digits * 10 + (code - DIGIT_0);
      exponent = fraction - position;
    }
    if ((code | 0x20) === LOWER_E) {
      const sign = bytes[++position];
      if (sign === PLUS || sign === MINUS) position++;
      const first = position;
      let power = 0;
      for (code = bytes[position] as number; isDigit(code); code = bytes[++position] as number)
        power = power * 10 + (code - DIGIT_0);
      if (position === first) return false;
      exponent += sign === MINUS ? -power : power;
    }
    const power = POWERS_OF_TEN[Math.abs(exponent)];
    if (power === undefined || digits > Number.MAX_SAFE_INTEGER) return false;
    this.value = exponent < 0 ? digits / power : digits * power;
    this.end = position;
    return true;
  }
}
