import { refuse } from '../objects/refusal.ts';

const UNIT_MS = { y: 31_536_000_000, w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Milliseconds of a duration as Prometheus writes it, such as `1h30m`, of which the schema has checked the form. */
function durationMs(text: string): number {
  let sumMs = 0;
  for (const [, amount = '', unit = ''] of text.matchAll(/(\d+)(ms|[ywdhms])/gy))
    sumMs += Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return sumMs;
}

/** @throws {Refusal} for a timeout above the interval, which Prometheus refuses */
export function checkTimeout(timeout: string | undefined, interval: string): void {
  if (!timeout || durationMs(timeout) <= durationMs(interval)) return;
  refuse(`scrapeTimeout "${timeout}" greater than scrapeInterval "${interval}"`);
}
