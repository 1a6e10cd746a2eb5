import { expect } from 'chai';
import { playScenario } from '#lib/hpa/explain/play.ts';
import { parseScenario } from '#lib/hpa/explain/scenario.ts';
import { highestReplicas, timelineSvg } from '#lib/hpa/explain/timeline-svg.ts';
import { SCENARIO } from './built-scenario.ts';

describe('timelineSvg', () => {
  const draw = (text: string) => {
    const { hpa, ...scenario } = parseScenario(text);
    const { minReplicas = 1, maxReplicas } = hpa.spec;
    return timelineSvg([...playScenario({ hpa, ...scenario })], { title: 'web', minReplicas, maxReplicas });
  };

  it('draws replicas, what metrics ask for and the bounds over hours, in colours for light and dark pages', () => {
    const text = SCENARIO.replace('15m', '3h').replace('maxReplicas: 20', 'maxReplicas: 10');
    const [before = '', style = '', after = ''] = draw(text).split(/<style>|<\/style>\n/);
    expect(`${before}${after}`).to.equal(DRAWING);
    expect(style.replace(/\s+/g, ' ').trim()).to.equal(STYLE.replace(/\s+/g, ' ').trim());
  });

  it('tells times within an hour, and half hours, as people write them', () => {
    const timesOf = (duration: string) =>
      [...draw(SCENARIO.replace('15m', duration)).matchAll(/text-anchor="middle">([^<]*)</g)].map(
        ([, time]) => time,
      );
    expect(timesOf('1m')).to.deep.equal(['0s', '15s', '30s', '45s', '1m']);
    expect(timesOf('2h')).to.deep.equal(['0s', '30m', '1h', '1h30m', '2h']);
  });
});

describe('highestReplicas', () => {
  const highest = (
    replicas: readonly (number | undefined)[],
    asked: readonly (number | undefined)[],
    maxReplicas: number,
  ) => {
    const points = (values: readonly (number | undefined)[]) =>
      values.map((value, atMs) => ({ atMs, value }));
    return highestReplicas({ replicas: points(replicas), asked: points(asked), maxReplicas });
  };

  it('shows the maximum where something comes near it, and of proposals twice that much', () => {
    expect(highest([2, 5, 3], [4], 10)).to.equal(10);
    expect(highest([2, 4, 3], [4], 10)).to.equal(4);
    expect(highest([2], [6, 3], 10)).to.equal(10);
    expect(highest([2], [15, 3], 10)).to.equal(15);
    expect(highest([2], [500, 3], 10)).to.equal(20);
    expect(highest([30], [5], 10)).to.equal(30);
    expect(highest([undefined], [undefined], 10)).to.equal(1);
    expect(highest([], [], 2)).to.equal(2);
  });
});

const DRAWING = `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 960 360" role="img" aria-label="web">
<rect class="page" width="960" height="360"/>
<text class="title" x="56" y="22">web</text>
<text class="legend" x="56" y="43"><tspan class="is-replicas">replicas</tspan> · <tspan class="is-asked">what metrics ask for</tspan> · <tspan class="is-bound">bounds</tspan></text>
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
<path class="asked" d="M56 220H60.8V116H80.1V272H924"/>
</svg>`;

const STYLE = `:root { color-scheme: light dark }
text { font: 12px system-ui, sans-serif; fill: #57606a } .title { font-size: 14px; fill: #1f2328 }
.page { fill: #fff } .grid { stroke: #d8dee4 } .bound { stroke: #8c959f; stroke-dasharray: 2 4 }
path { fill: none; stroke-width: 2; stroke-linecap: round } .replicas { stroke: #0969da } .asked { stroke: #bc4c00; stroke-dasharray: 2 6 }
.is-replicas { fill: #0969da } .is-asked { fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 } .title { fill: #f0f6fc } .page { fill: #0d1117 } .grid { stroke: #30363d } .bound { stroke: #656c76 }
.replicas { stroke: #58a6ff } .asked { stroke: #ffa657 } .is-replicas { fill: #58a6ff } .is-asked { fill: #ffa657 }
}
`;
