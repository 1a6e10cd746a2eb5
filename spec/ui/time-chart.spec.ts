import { expect } from 'chai';
import { linePath, stepPath, type TimeChart, timeChart, timeTicks, valueTicks } from '#lib/ui/time-chart.ts';

const POINTS = [
  { atMs: 0, value: 1 },
  { atMs: 10, value: 1 },
  { atMs: 20, value: 4 },
  { atMs: 30, value: undefined },
  { atMs: 40, value: 2 },
];
const SCALE = { x: (atMs: number) => atMs, y: (value: number) => 100 - value };
const CHART: TimeChart = {
  ...{ title: 'A <title>', boundsLabel: 'bounds', bounds: [{ value: 2 }, { value: 99 }] },
  lines: [{ className: 'replicas', label: 'replicas', points: POINTS }],
  ...{ fromMs: 0, untilMs: 40, highest: 3, isWhole: true, width: 600, height: 260 },
  timeText: (atMs) => `${atMs} ms`,
  valueText: String,
};

describe('stepPath', () => {
  it('retains each value until the next, with gaps for missing values', () => {
    expect(stepPath(POINTS, SCALE)).to.equal('M0 99H20V96H30M40 98h0.1');
    expect(stepPath([], SCALE)).to.equal('');
    expect(stepPath(POINTS.slice(0, 2), SCALE)).to.equal('M0 99H10');
  });
});

describe('linePath', () => {
  it('connects values, with dots for isolated ones', () => {
    expect(linePath(POINTS, SCALE)).to.equal('M0 99L10 99L20 96M40 98h0.1');
  });
});

describe('valueTicks', () => {
  it('returns a few round values', () => {
    for (const highest of [0, 0.3, 1, 3, 7, 12, 99, 150, 1001, 123_456, 2 ** 31]) {
      const ticks = valueTicks(highest, { isWhole: true });
      expect(ticks.length, `${highest}`).to.be.within(1, 6);
      expect(ticks.every(Number.isInteger), `${highest}`).to.equal(true);
      expect(Math.max(...ticks), `${highest}`).to.be.at.most(highest);
    }
    expect(valueTicks(0.3, { isWhole: false })).to.have.length.within(3, 6);
  });
});

describe('timeTicks', () => {
  it('returns a few round times from any start', () => {
    const from = Date.UTC(2026, 0, 1, 11, 59, 59);
    for (const spanMs of [0, 1, 999, 15_000, 750_000, 86_400_000, 4e10]) {
      const ticks = timeTicks(from, from + spanMs);
      expect(ticks.length, `${spanMs}`).to.be.at.most(6);
      for (const tick of ticks) expect(tick).to.be.within(from, from + spanMs);
    }
    expect(timeTicks(from, from + 240_000)[0]).to.equal(Date.UTC(2026, 0, 1, 12));
  });
});

describe('timeChart', () => {
  it('draws greater values at the upper edge, and leaves out bounds above it', () => {
    const svg = `${timeChart(CHART)}`;
    expect(svg.match(/class="bound"/g)).to.have.lengthOf(1);
    expect(svg).to.include('A &lt;title&gt;').and.not.to.include('<title>');
    const [, path = ''] = /class="replicas" d="([^"]*)"/.exec(svg) ?? [];
    for (const [, , y] of path.matchAll(/([ML])[\d.]+ ([\d.]+)/g)) expect(Number(y)).to.be.within(64, 224);
  });

  it('wraps the legend and shortens labels', () => {
    const lines = Array.from({ length: 6 }, (_, index) => ({
      ...{ className: `load-${index}`, points: [] },
      label: `a metric with a name of some length, ${index} ${'x'.repeat(index * 40)}`,
    }));
    const svg = `${timeChart({ ...CHART, lines })}`;
    const rows = [...svg.matchAll(/<text class="legend" x="56" y="(\d+)">(.*?)<\/text>/g)];
    expect(rows.length).to.be.greaterThan(3);
    expect(new Set(rows.map(([, y]) => y)).size).to.equal(rows.length);
    for (const [, , row = ''] of rows) expect(row.replace(/<[^>]*>/g, '').length).to.be.at.most(80);
  });
});
