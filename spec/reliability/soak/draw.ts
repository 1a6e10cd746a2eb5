import type { Sample } from './sample.ts';

/** One chart of the picture, with one unit for all its lines. */
interface Chart {
  readonly title: string;
  readonly lines: readonly { readonly name: string; readonly color: string; readonly of: keyof Sample }[];
}

const CHARTS: readonly Chart[] = [
  {
    title: 'Memory, MiB',
    lines: [
      { name: 'resident', color: '#1f6feb', of: 'residentMebibytes' },
      { name: 'JavaScript heap', color: '#8250df', of: 'heapMebibytes' },
      { name: 'buffers', color: '#bf8700', of: 'externalMebibytes' },
    ],
  },
  {
    title: 'Longest delay of the event loop between two samples, ms',
    lines: [{ name: 'delay', color: '#bf8700', of: 'loopDelayMs' }],
  },
  {
    title: 'Open file descriptors',
    lines: [{ name: 'descriptors', color: '#1a7f37', of: 'fileDescriptors' }],
  },
  {
    title: 'Failing kubelets; time since the last scrape of healthy ones, 99th percentile, s',
    lines: [
      { name: 'failing', color: '#cf222e', of: 'faultyNodes' },
      { name: 'time', color: '#1f6feb', of: 'healthyAgeSeconds' },
    ],
  },
  {
    title: 'Pods',
    lines: [
      { name: 'running', color: '#6e7781', of: 'runningPods' },
      { name: 'served', color: '#1f6feb', of: 'servedPods' },
    ],
  },
  {
    title: 'Wrong containers, and failed requests in all',
    lines: [
      { name: 'wrong', color: '#cf222e', of: 'wrongContainers' },
      { name: 'failed', color: '#bf8700', of: 'failedRequests' },
    ],
  },
];

const WIDTH = 900;
const LEFT = 60;
const RIGHT = 20;
const CHART_HEIGHT = 150;
const GAP = 50;
const TOP = 60;

/** Draws the samples of a server as one SVG picture: a chart for each unit, one below the other. */
export function drawSoak(title: string, samples: readonly Sample[]): string {
  const lastSeconds = Math.max(1, samples.at(-1)?.atSeconds ?? 1);
  const height = TOP + CHARTS.length * (CHART_HEIGHT + GAP);
  const charts = CHARTS.map((chart, index) =>
    drawChart(chart, samples, { top: TOP + index * (CHART_HEIGHT + GAP), lastSeconds }),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>${title}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="white"/>`,
    text(LEFT, 28, title, 'font-size="16" font-weight="bold"'),
    ...charts,
    '</svg>\n',
  ].join('\n');
}

function drawChart(
  { title, lines }: Chart,
  samples: readonly Sample[],
  { top, lastSeconds }: { readonly top: number; readonly lastSeconds: number },
): string {
  const bottom = top + CHART_HEIGHT;
  const max = niceAbove(Math.max(1, ...samples.flatMap((sample) => lines.map(({ of }) => sample[of]))));
  const x = (seconds: number) => LEFT + (seconds / lastSeconds) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => bottom - (value / max) * CHART_HEIGHT;
  const parts = [text(LEFT, top - 8, title, 'font-weight="bold"')];
  for (const part of [0, 0.5, 1]) {
    const value = max * part;
    parts.push(
      `<path d="M${LEFT} ${y(value)}H${WIDTH - RIGHT}" stroke="#d0d7de"/>`,
      text(LEFT - 6, y(value) + 4, String(value), 'text-anchor="end"'),
    );
  }
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    const minutes = Math.round((lastSeconds * part) / 6) / 10;
    parts.push(text(x(lastSeconds * part), bottom + 16, `${minutes} min`, 'text-anchor="middle"'));
  }
  for (const [index, { name, color, of }] of lines.entries()) {
    const points = samples.map((sample) => `${x(sample.atSeconds).toFixed(1)},${y(sample[of]).toFixed(1)}`);
    parts.push(
      `<polyline points="${points.join(' ')}" fill="none" stroke="${color}" stroke-width="1.5"/>`,
      text(
        WIDTH - RIGHT,
        top - 8 - 14 * (lines.length - 1 - index),
        name,
        `fill="${color}" text-anchor="end"`,
      ),
    );
  }
  return parts.join('\n');
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x}" y="${y}" ${attributes}>${content.replace(/[<&]/g, (c) => (c === '<' ? '&lt;' : '&amp;'))}</text>`;
}

/** The next number of the form 1, 2, 4, 6, 8 or 10 times a power of ten. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 4, 6, 8].find((digit) => digit * power >= value) ?? 10);
}
