import { type Html, type HtmlPart, html } from '../html.ts';
import { type ChartPoint, type ChartScale, fixed, linePath, stepPath } from './line-path.ts';
import { timeTicks, valueTicks } from './ticks.ts';

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
export interface ChartBound {
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
