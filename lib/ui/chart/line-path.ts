/** Something that was so at a time; `undefined` where that is not known. */
export interface ChartPoint {
  readonly atMs: number;
  readonly value: number | undefined;
}

/** Where times and values are in a drawing. */
export interface ChartScale {
  x(atMs: number): number;
  y(value: number): number;
}

/** The path of a line that holds each value until the next; a gap where there is none. */
export function stepPath(points: readonly ChartPoint[], { x, y }: ChartScale): string {
  const parts: string[] = [];
  let before: number | undefined;
  let drawnToMs: number | undefined;
  for (const [place, { atMs, value }] of points.entries()) {
    const isLast = place === points.length - 1;
    if (before !== undefined && (value !== before || isLast) && atMs !== drawnToMs) {
      parts.push(`H${fixed(x(atMs))}`);
      drawnToMs = atMs;
    }
    if (value !== undefined && value !== before) {
      parts.push(before === undefined ? `M${fixed(x(atMs))} ${fixed(y(value))}` : `V${fixed(y(value))}`);
      if (before === undefined && isAlone(points, place)) parts.push('h0.1');
      drawnToMs = atMs;
    }
    before = value;
  }
  return parts.join('');
}

/** The path of a line from each value to the next; a gap where there is none, and a dot for one that stands alone. */
export function linePath(points: readonly ChartPoint[], { x, y }: ChartScale): string {
  return points
    .map(({ atMs, value }, place) => {
      if (value === undefined) return '';
      const isJoined = points[place - 1]?.value !== undefined;
      const dot = !isJoined && isAlone(points, place) ? 'h0.1' : '';
      return `${isJoined ? 'L' : 'M'}${fixed(x(atMs))} ${fixed(y(value))}${dot}`;
    })
    .join('');
}

function isAlone(points: readonly ChartPoint[], place: number): boolean {
  return points[place + 1]?.value === undefined;
}

/** A place in a drawing, to a tenth of its unit. */
export function fixed(value: number): string {
  return `${Math.round(value * 10) / 10}`;
}
