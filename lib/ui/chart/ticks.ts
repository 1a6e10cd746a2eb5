const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
const TIME_STEPS = [
  ...[1, 5, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((days) => days * DAY),
];
/** As many parts an axis is cut into at most. */
const PARTS = 5;

/** At most six round numbers from zero to the highest; whole ones where only these mean something. */
export function valueTicks(highest: number, { isWhole }: { readonly isWhole: boolean }): readonly number[] {
  if (!(highest > 0)) return [0];
  const least = isWhole ? Math.max(highest / PARTS, 1) : highest / PARTS;
  const power = 10 ** Math.floor(Math.log10(least));
  return multiples(
    [power, 2 * power, 5 * power, 10 * power].find((step) => step * PARTS >= highest) ?? highest / PARTS,
    { from: 0, until: highest },
  );
}

/** At most six round times between two. */
export function timeTicks(fromMs: number, untilMs: number): readonly number[] {
  const step = TIME_STEPS.find((size) => size * PARTS >= untilMs - fromMs) ?? (untilMs - fromMs) / PARTS;
  return multiples(step, { from: fromMs, until: untilMs });
}

function multiples(
  step: number,
  { from, until }: { readonly from: number; readonly until: number },
): number[] {
  const first = Math.ceil(from / step);
  const count = Math.floor(until / step) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, place) => (first + place) * step);
}
