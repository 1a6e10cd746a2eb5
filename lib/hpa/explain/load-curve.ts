import { parseThousandths } from '#lib/kubernetes/exact-quantity.ts';
import { parseDurationMs } from '#lib/time/duration.ts';

/** From when on metrics have which values. */
export interface LoadPoint {
  /** Since the start of the scenario. */
  readonly atMs: number;
  /** Quantities by metric; a metric that is not there cannot be read from then on. */
  readonly values: Readonly<Record<string, string>>;
}

/** Tells what holds at a moment: the last point that is not later. Each decision of a scenario asks, so points are halved. */
export function loadAt(points: readonly LoadPoint[], atMs: number): LoadPoint['values'] {
  let [from, until] = [0, points.length];
  while (from < until) {
    const middle = (from + until) >>> 1;
    if ((points[middle]?.atMs ?? 0) <= atMs) from = middle + 1;
    else until = middle;
  }
  return points[from - 1]?.values ?? {};
}

/** So many rows of a table are read at most. */
const MOST_ROWS = 100_000;

/**
 * Reads a load from CSV: a heading `at,METRIC,…`, then rows of a duration and quantities in order of time. An empty cell
 * is a metric that cannot be read.
 *
 * @throws {Error} that names the line
 */
export function parseLoadCsv(text: string): LoadPoint[] {
  const lines = text.split(/\r?\n/);
  if (lines.length > MOST_ROWS) throw new Error(`more than ${MOST_ROWS} lines`);
  const [heading = '', ...rows] = lines;
  const [first, ...names] = heading.split(',').map((name) => name.trim());
  if (first !== 'at' || names.length === 0 || names.includes('')) {
    throw new Error('line 1 is no heading "at,METRIC,…"');
  }
  const points: LoadPoint[] = [];
  rows.forEach((row, place) => {
    if (row.trim() !== '') points.push(pointOf(row, names, place + 2));
  });
  return inOrder(points);
}

/** @throws {Error} when a point is no later than the one before */
export function inOrder(points: readonly LoadPoint[]): LoadPoint[] {
  points.forEach(({ atMs }, place) => {
    const before = points[place - 1];
    if (before && before.atMs >= atMs) {
      throw new Error(`point ${place + 1} is no later than the one before`);
    }
  });
  return [...points];
}

function pointOf(row: string, names: readonly string[], line: number): LoadPoint {
  const [at = '', ...cells] = row.split(',').map((cell) => cell.trim());
  const atMs = parseDurationMs(at);
  if (atMs === undefined || atMs < 0) {
    throw new Error(`line ${line} begins with no duration`);
  }
  if (cells.length > names.length) throw new Error(`line ${line} has too many cells`);
  const values = new Map<string, string>();
  names.forEach((name, place) => {
    const cell = cells[place] ?? '';
    if (cell === '') return;
    try {
      parseThousandths(cell);
    } catch (cause) {
      throw new Error(`line ${line}, ${name}: ${(cause as Error).message}`, { cause });
    }
    values.set(name, cell);
  });
  return { atMs, values: Object.fromEntries(values) };
}
