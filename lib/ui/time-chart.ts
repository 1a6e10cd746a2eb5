import { type Html, type HtmlPart, html } from './html.ts';

/** A line of a chart. */
export interface ChartLine {
  /** Its colour, as the style has it: `replicas`, `asked`, or `load-0` to `load-5`. */
  readonly className: string;
  readonly label: string;
  readonly points: readonly ChartPoint[];
  /** Whether it holds each value until the next. */
  readonly isStepped?: boolean;
}

/** A value that lines are to be seen against, from end to end. */
interface ChartBound {
  readonly value: number;
}

/** What is drawn over time. */
export interface TimeChart {
  readonly title: string;
  readonly lines: readonly ChartLine[];
  readonly bounds: readonly ChartBound[];
  /** What the legend calls the bounds. */
  readonly boundsLabel: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** What is beyond it is drawn at the upper edge. */
  readonly highest: number;
  readonly isWhole: boolean;
  readonly width: number;
  readonly height: number;
  timeText(atMs: number): string;
  valueText(value: number): string;
  /** The style, for a drawing that is a file of its own. */
  readonly style?: HtmlPart;
}

const MARGIN = { left: 56, right: 36, top: 46, bottom: 36 };
/** Of the legend; a line of it is broken where its text, reckoned by its letters, would be wider than the drawing. */
const [LINE_HEIGHT, LETTER_WIDTH, LONGEST_LABEL] = [18, 7, 60];

/** Draws values over time from zero up: title, legend, axes, bounds, lines. */
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
    const short = label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL - 1)}…` : label;
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
    ({ parts }, place) =>
      html`<text class="legend" x="${MARGIN.left}" y="${43 + LINE_HEIGHT * place}">${parts}</text>`,
  );
}

/** Something that was so at a time; `undefined` where that is not known. */
export interface ChartPoint {
  readonly atMs: number;
  readonly value: number | undefined;
}

/** Where times and values are in a drawing. */
interface ChartScale {
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
