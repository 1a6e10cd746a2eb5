import { type Html, type HtmlPart, html } from './html.ts';

export interface ChartLine {
  /** CSS class with its color: `replicas`, `proposed`, or `load-0` to `load-5`. */
  readonly className: string;
  readonly label: string;
  readonly points: readonly ChartPoint[];
  /** Whether each value applies until the next point. */
  readonly isStepped?: boolean;
}

/** A horizontal line for comparison. */
interface ChartBound {
  readonly value: number;
}

export interface TimeChart {
  readonly title: string;
  readonly lines: readonly ChartLine[];
  readonly bounds: readonly ChartBound[];
  /** Label of the bounds in the legend. */
  readonly boundsLabel: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Upper end of the value axis; greater values are drawn at it. */
  readonly highest: number;
  readonly isWhole: boolean;
  readonly width: number;
  readonly height: number;
  timeText(atMs: number): string;
  valueText(value: number): string;
  /** CSS, for a drawing in a file of its own. */
  readonly style?: HtmlPart;
}

const MARGIN = { left: 56, right: 36, top: 46, bottom: 36 };
/**
 * Of the legend. A row wraps where its text, estimated by its number of letters, exceeds the width of the drawing. The
 * width is that of the large letters in which a page shows a drawing that is scaled down to the width of a phone.
 */
const [LINE_HEIGHT, LETTER_WIDTH, MAX_LABEL_LENGTH] = [18, 10, 50];

/** Renders an SVG of values over time, with a value axis from zero. */
export function timeChart(chart: TimeChart): Html {
  const { title, width, height, fromMs, untilMs, highest, style } = chart;
  const legend = legendLines(chart);
  const top = MARGIN.top + LINE_HEIGHT * legend.length;
  const [right, bottom] = [width - MARGIN.right, height - MARGIN.bottom];
  const spanMs = Math.max(untilMs - fromMs, 1);
  const scale: ChartScale = {
    x: (atMs) => MARGIN.left + ((right - MARGIN.left) * (atMs - fromMs)) / spanMs,
    y: (value) => bottom - ((bottom - top) * Math.min(Math.max(value, 0), highest)) / highest,
  };
  const across = (className: string, value: number) =>
    html`<line class="${className}" x1="${MARGIN.left}" x2="${right}" y1="${fixed(scale.y(value))}" y2="${fixed(scale.y(value))}"/>`;
  const values = valueTicks(highest, chart).map(
    (value) =>
      html`${across('grid', value)}<text x="${MARGIN.left - 8}" y="${fixed(scale.y(value))}" dy="4" text-anchor="end">${chart.valueText(value)}</text>
`,
  );
  const times = timeTicks(fromMs, untilMs).map(
    (atMs) =>
      html`<text x="${fixed(scale.x(atMs))}" y="${bottom + 20}" text-anchor="middle">${chart.timeText(atMs)}</text>
`,
  );
  return html`<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">
${style}<rect class="page" width="${width}" height="${height}"/>
<text class="title" x="${MARGIN.left}" y="22">${title}</text>
${legend}
${values}${times}${chart.bounds.filter(({ value }) => value <= highest).map(({ value }) => across('bound', value))}
${chart.lines.map(({ className, points, isStepped }) => html`<path class="${className}" d="${(isStepped ? stepPath : linePath)(points, scale)}"/>\n`)}</svg>`;
}

function legendLines({ lines, bounds, boundsLabel, width }: TimeChart): readonly Html[] {
  const entries = [
    ...lines.map(({ className, label }) => ({ className, label })),
    ...(bounds.length > 0 ? [{ className: 'bound', label: boundsLabel }] : []),
  ];
  const rows: { letters: number; parts: Html[] }[] = [];
  for (const { className, label } of entries) {
    const short = label.length > MAX_LABEL_LENGTH ? `${label.slice(0, MAX_LABEL_LENGTH - 1)}…` : label;
    const entry = html`<tspan class="is-${className}">${short}</tspan>`;
    const row = rows.at(-1);
    const letters = (row?.letters ?? 0) + short.length + 3;
    if (row && letters * LETTER_WIDTH <= width - MARGIN.left) {
      row.parts.push(html` · ${entry}`);
      row.letters = letters;
    } else {
      rows.push({ letters: short.length, parts: [entry] });
    }
  }
  return rows.map(
    ({ parts }, index) =>
      html`<text class="legend" x="${MARGIN.left}" y="${43 + LINE_HEIGHT * index}">${parts}</text>`,
  );
}

/** A value at a time; `undefined` where it is not available. */
export interface ChartPoint {
  readonly atMs: number;
  readonly value: number | undefined;
}

/** Maps times and values to coordinates. */
interface ChartScale {
  x(atMs: number): number;
  y(value: number): number;
}

/** Returns the SVG path of a stepped line, with gaps for missing values. */
export function stepPath(points: readonly ChartPoint[], { x, y }: ChartScale): string {
  const parts: string[] = [];
  let before: number | undefined;
  let drawnToMs: number | undefined;
  for (const [index, { atMs, value }] of points.entries()) {
    const isLast = index === points.length - 1;
    if (before !== undefined && (value !== before || isLast) && atMs !== drawnToMs) {
      parts.push(`H${fixed(x(atMs))}`);
      drawnToMs = atMs;
    }
    if (value !== undefined && value !== before) {
      parts.push(before === undefined ? `M${fixed(x(atMs))} ${fixed(y(value))}` : `V${fixed(y(value))}`);
      if (before === undefined && isLastBeforeGap(points, index)) parts.push('h0.1');
      drawnToMs = atMs;
    }
    before = value;
  }
  return parts.join('');
}

/** Returns the SVG path of a line, with gaps for missing values and dots for isolated ones. */
export function linePath(points: readonly ChartPoint[], { x, y }: ChartScale): string {
  return points
    .map(({ atMs, value }, index) => {
      if (value === undefined) return '';
      const isJoined = points[index - 1]?.value !== undefined;
      const dot = !isJoined && isLastBeforeGap(points, index) ? 'h0.1' : '';
      return `${isJoined ? 'L' : 'M'}${fixed(x(atMs))} ${fixed(y(value))}${dot}`;
    })
    .join('');
}

function isLastBeforeGap(points: readonly ChartPoint[], index: number): boolean {
  return points[index + 1]?.value === undefined;
}

/** Formats a coordinate to a tenth of a unit. */
function fixed(value: number): string {
  return `${Math.round(value * 10) / 10}`;
}

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
const TIME_STEPS = [
  ...[1, 5, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((days) => days * DAY),
];
const MAX_PARTS = 5;

/** Returns at most six round values from zero to `highest`; integers if `isWhole`. */
export function valueTicks(highest: number, { isWhole }: { readonly isWhole: boolean }): readonly number[] {
  if (!(highest > 0)) return [0];
  const minStep = isWhole ? Math.max(highest / MAX_PARTS, 1) : highest / MAX_PARTS;
  const power = 10 ** Math.floor(Math.log10(minStep));
  return multiples(
    [power, 2 * power, 5 * power, 10 * power].find((step) => step * MAX_PARTS >= highest) ??
      highest / MAX_PARTS,
    { from: 0, until: highest },
  );
}

/** Returns at most six round times in a range. */
export function timeTicks(fromMs: number, untilMs: number): readonly number[] {
  const step =
    TIME_STEPS.find((size) => size * MAX_PARTS >= untilMs - fromMs) ?? (untilMs - fromMs) / MAX_PARTS;
  return multiples(step, { from: fromMs, until: untilMs });
}

function multiples(
  step: number,
  { from, until }: { readonly from: number; readonly until: number },
): number[] {
  const first = Math.ceil(from / step);
  const count = Math.floor(until / step) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, index) => (first + index) * step);
}
