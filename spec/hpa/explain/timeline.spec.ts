import { expect } from 'chai';
import { playScenario } from '#lib/hpa/explain/play.ts';
import { parseScenario } from '#lib/hpa/explain/scenario.ts';
import { timelineSvg, timelineTable } from '#lib/hpa/explain/timeline.ts';
import { SCENARIO } from './built-scenario.ts';

describe('timelineSvg', () => {
  const draw = (text: string) => {
    const { hpa, ...scenario } = parseScenario(text);
    const { minReplicas = 1, maxReplicas } = hpa.spec;
    return timelineSvg([...playScenario({ hpa, ...scenario })], { title: 'web', minReplicas, maxReplicas });
  };

  it('draws replicas, proposals and bounds over hours, for light and dark pages', () => {
    const text = SCENARIO.replace('15m', '3h').replace('maxReplicas: 20', 'maxReplicas: 10');
    const [before = '', style = '', after = ''] = draw(text).split(/<style>|<\/style>\n/);
    expect(`${before}${after}`).to.equal(DRAWING);
    expect(style.replace(/\s+/g, ' ').trim()).to.equal(STYLE.replace(/\s+/g, ' ').trim());
  });

  it('labels times within an hour, and half hours', () => {
    const timesOf = (duration: string) =>
      [...draw(SCENARIO.replace('15m', duration)).matchAll(/text-anchor="middle">([^<]*)</g)].map(
        ([, time]) => time,
      );
    expect(timesOf('1m')).to.deep.equal(['0s', '15s', '30s', '45s', '1m']);
    expect(timesOf('2h')).to.deep.equal(['0s', '30m', '1h', '1h30m', '2h']);
  });
});

const DRAWING = `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 960 360" role="img" aria-label="web">
<rect class="page" width="960" height="360"/>
<text class="title" x="56" y="22">web</text>
<text class="legend" x="56" y="43"><tspan class="is-replicas">replicas</tspan> · <tspan class="is-proposed">proposed by metrics</tspan> · <tspan class="is-bound">bounds</tspan></text>
<line class="grid" x1="56" x2="924" y1="324" y2="324"/><text x="48" y="324" dy="4" text-anchor="end">0</text>
<line class="grid" x1="56" x2="924" y1="272" y2="272"/><text x="48" y="272" dy="4" text-anchor="end">2</text>
<line class="grid" x1="56" x2="924" y1="220" y2="220"/><text x="48" y="220" dy="4" text-anchor="end">4</text>
<line class="grid" x1="56" x2="924" y1="168" y2="168"/><text x="48" y="168" dy="4" text-anchor="end">6</text>
<line class="grid" x1="56" x2="924" y1="116" y2="116"/><text x="48" y="116" dy="4" text-anchor="end">8</text>
<line class="grid" x1="56" x2="924" y1="64" y2="64"/><text x="48" y="64" dy="4" text-anchor="end">10</text>
<text x="56" y="344" text-anchor="middle">0s</text>
<text x="345.3" y="344" text-anchor="middle">1h</text>
<text x="634.7" y="344" text-anchor="middle">2h</text>
<text x="924" y="344" text-anchor="middle">3h</text>
<line class="bound" x1="56" x2="924" y1="272" y2="272"/><line class="bound" x1="56" x2="924" y1="64" y2="64"/>
<path class="replicas" d="M56 220H60.8V116H104.2V272H924"/>
<path class="proposed" d="M56 220H60.8V116H80.1V272H924"/>
</svg>`;

const STYLE = `:root { color-scheme: light dark }
text { font: 12px system-ui, sans-serif; fill: #57606a } .title { font-size: 14px; fill: #1f2328 }
.page { fill: #fff } .grid { stroke: #d8dee4 } .bound { stroke: #8c959f; stroke-dasharray: 2 4 }
path { fill: none; stroke-width: 2; stroke-linecap: round } .replicas { stroke: #0969da } .proposed { stroke: #bc4c00; stroke-dasharray: 2 6 }
.is-replicas { fill: #0969da } .is-proposed { fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 } .title { fill: #f0f6fc } .page { fill: #0d1117 } .grid { stroke: #30363d } .bound { stroke: #656c76 }
.replicas { stroke: #58a6ff } .proposed { stroke: #ffa657 } .is-replicas { fill: #58a6ff } .is-proposed { fill: #ffa657 }
}
`;

const tableOf = (text: string) => timelineTable(playScenario(parseScenario(text)));

describe('timelineTable', () => {
  it('has a row per minute, and one for each change of the scale or its cause', () => {
    expect(tableOf(SCENARIO)).to.equal(
      `time   load      ready  proposed  replicas  why
0s     cpu 200m  4/4    4         4         within-tolerance
1m0s   cpu 400m  4/4    8         4 → 8     as proposed
1m15s  cpu 400m  4/8    8         8         within-tolerance
2m0s   cpu 400m  8/8    8         8         within-tolerance
3m0s   cpu 400m  8/8    8         8         within-tolerance
4m0s   cpu 400m  8/8    8         8         within-tolerance
5m0s   cpu 80m   8/8    2         8         ScaleDownStabilized
6m0s   cpu 80m   8/8    2         8         ScaleDownStabilized
7m0s   cpu 80m   8/8    2         8         ScaleDownStabilized
8m0s   cpu 80m   8/8    2         8         ScaleDownStabilized
9m0s   cpu 80m   8/8    2         8         ScaleDownStabilized
10m0s  cpu 80m   8/8    2         8 → 2     as proposed
11m0s  cpu 80m   2/2    2         2         as proposed
12m0s  cpu 80m   2/2    2         2         as proposed
13m0s  cpu 80m   2/2    2         2         as proposed
14m0s  cpu 80m   2/2    2         2         as proposed
15m0s  cpu 80m   2/2    2         2         as proposed`,
    );
  });

  it('shows the proposal of each metric, and each reason once', () => {
    const queue =
      '- { type: External, external: { metric: { name: queue }, target: { type: AverageValue, averageValue: "10" } } }';
    const text = SCENARIO.replace('replicas: 4', 'replicas: 4\nsyncPeriod: 30s')
      .replace(/- type: Resource\n.*\n/, `$&      ${queue}\n`)
      .replace('duration: 15m', 'duration: 6m')
      .replace('maxReplicas: 20', 'maxReplicas: 9')
      .replace('at: 1m, cpu: 400m', 'at: 1m, cpu: 400m, queue: 95')
      .replace('at: 5m, cpu: 80m', 'at: 5m, queue: 200');
    expect(tableOf(text)).to.equal(
      `time   load                ready  proposed  replicas  why
0s     cpu 200m            4/4    4, ?      4         FailedGetExternalMetric
1m0s   cpu 400m, queue 95  4/4    8, 10     4 → 8     ScaleUpLimit
1m30s  cpu 400m, queue 95  8/8    8, 10     8 → 9     TooManyReplicas
2m0s   cpu 400m, queue 95  9/9    8, 9      9         ScaleDownStabilized, TooManyReplicas
3m0s   cpu 400m, queue 95  9/9    8, 9      9         ScaleDownStabilized, TooManyReplicas
4m0s   cpu 400m, queue 95  9/9    8, 9      9         ScaleDownStabilized, TooManyReplicas
5m0s   queue 200           9/9    ?, 20     9         TooManyReplicas, FailedGetResourceMetric
6m0s   queue 200           9/9    ?, 20     9         TooManyReplicas, FailedGetResourceMetric`,
    );
  });

  it('has a row for each change of the scale, even if only the number differs', () => {
    const text = SCENARIO.replace('at: 1m, cpu: 400m', 'at: 1m, cpu: 2').replace(
      'minReplicas: 2',
      'minReplicas: 2\n    behavior: { scaleUp: { policies: [{ type: Pods, value: 1, periodSeconds: 15 }] } }',
    );
    const rows = tableOf(text).split('\n').slice(2, 7);
    expect(rows.map((row) => row.replace(/ .*? (\S+ → \S+) +/, ' $1 '))).to.deep.equal([
      '1m0s 4 → 5 ScaleUpLimit',
      '1m15s 5 → 6 ScaleUpLimit',
      '1m30s 6 → 7 ScaleUpLimit',
      '1m45s 7 → 8 ScaleUpLimit',
      '2m0s 8 → 9 ScaleUpLimit',
    ]);
  });

  it('shows steps before metrics', () => {
    const rows = (replicas: number) =>
      tableOf(SCENARIO.replace('replicas: 4', `replicas: ${replicas}`))
        .split('\n')
        .slice(1, 4);
    expect(rows(0)[0]).to.equal('0s     cpu 200m  0/0              0         switched-off');
    expect(rows(30).slice(0, 2)).to.deep.equal([
      '0s     cpu 200m  30/30            30 → 20   above-max',
      '15s    cpu 200m  20/20  4         20        ScaleDownStabilized, TooManyReplicas',
    ]);
    expect(rows(1)).to.deep.equal([
      '0s     cpu 200m  1/1              1 → 2     below-min',
      '15s    cpu 200m  1/2    4         2 → 4     as proposed',
      '30s    cpu 200m  2/4    4         4         direction-uncertain',
    ]);
  });
});
