import { expect } from 'chai';
import { type PlayedDecision, playScenario } from '#lib/hpa/explain/play.ts';
import { parseScenario } from '#lib/hpa/explain/scenario.ts';
import { timelineSvg } from '#lib/hpa/explain/timeline.ts';
import { SCENARIO } from './built-scenario.ts';

const play = (text: string): PlayedDecision[] => [...playScenario(parseScenario(text))];
const changesOf = (decisions: readonly PlayedDecision[]) =>
  decisions
    .filter(({ replicasBefore, replicasAfter }) => replicasBefore !== replicasAfter)
    .map(({ atMs, replicasAfter }) => [atMs / 1000, replicasAfter]);

describe('playScenario', () => {
  it('scales up at once, and down after the window', () => {
    // 400m over 4 pods are 100 % of their requests. The last recommendation of 8 was at 4m45s.
    expect(changesOf(play(SCENARIO))).to.deep.equal([
      [60, 8],
      [600, 2],
    ]);
  });

  it('decides every period', () => {
    const decisions = play(SCENARIO);
    expect(decisions).to.have.length(61);
    expect(decisions[1]?.atMs).to.equal(15_000);
    expect(decisions[5]).to.deep.include({ replicasBefore: 8, readyPods: 4 });
    expect(decisions[6]).to.deep.include({ replicasBefore: 8, readyPods: 8 });
  });

  it('applies policies and windows of behavior', () => {
    const behavior = `maxReplicas: 20
    behavior:
      scaleUp: { policies: [{ type: Pods, value: 1, periodSeconds: 60 }] }
      scaleDown: { stabilizationWindowSeconds: 0, policies: [{ type: Percent, value: 50, periodSeconds: 60 }] }`;
    const changes = changesOf(play(SCENARIO.replace('maxReplicas: 20', behavior)));
    expect(changes.slice(0, 3)).to.deep.equal([
      [60, 5],
      [120, 6],
      [180, 7],
    ]);
    expect(changes.at(-1)?.[1]).to.equal(2);
  });

  it('scales down step by step with the limit of the controller', () => {
    const limited = `scaleDownLimitFactor: 0.5\n${SCENARIO}`;
    expect(changesOf(play(limited))).to.deep.equal([
      [60, 8],
      [600, 4],
      [615, 2],
    ]);
    expect(changesOf(play(`scaleDownLimitMinimum: 3\n${limited}`)).at(-1)).to.deep.equal([615, 3]);
  });

  it('reads the CPU of pods and of a container in one HPA', () => {
    const container =
      '{ name: cpu, container: proxy, target: { type: Utilization, averageUtilization: 90 } }';
    const text = SCENARIO.replace(
      /(- type: Resource\n.*\n)/,
      `$1      - { type: ContainerResource, containerResource: ${container} }\n`,
    );
    expect(changesOf(play(text))).to.deep.equal([
      [60, 8],
      [600, 2],
    ]);
  });

  it('scales ready pods by the ratio of a metric to its target', () => {
    const metric =
      '{ type: External, external: { metric: { name: cpu }, target: { type: Value, value: 100m } } }';
    const text = SCENARIO.replace(/- type: Resource\n.*\n/, `- ${metric}\n`);
    // Twice the value: of four pods, then of the eight that are ready.
    expect(changesOf(play(text.replace('  - { at: 1m, cpu: 400m }\n', ''))).slice(0, 2)).to.deep.equal([
      [0, 8],
      [30, 16],
    ]);
  });

  it('stays while a metric is missing', () => {
    const decisions = play(SCENARIO.replace('{ at: 1m, cpu: 400m }', '{ at: 1m }'));
    expect(decisions[5]?.outcome.explanation.step).to.equal('metrics-missing');
    expect(decisions[5]?.replicasAfter).to.equal(4);
  });

  it('plays metrics of every kind', () => {
    const target = 'target: { type: AverageValue, averageValue: 50m }';
    const metrics = [
      `type: ContainerResource, containerResource: { name: cpu, container: app, ${target} }`,
      `type: Pods, pods: { metric: { name: cpu }, ${target} }`,
      `type: External, external: { metric: { name: cpu }, ${target} }`,
      `type: Object, object: { metric: { name: cpu }, describedObject: { kind: Service, name: web }, ${target} }`,
    ];
    for (const metric of metrics) {
      const text = SCENARIO.replace(/- type: Resource\n.*\n/, `- { ${metric} }\n`);
      expect(changesOf(play(text))[0], metric).to.deep.equal([60, 8]);
    }
  });
});

describe('timelineSvg', () => {
  const options = { title: 'default/web <&">', minReplicas: 2, maxReplicas: 20 };

  it('draws steps within its frame, and escapes text', () => {
    const svg = timelineSvg(play(SCENARIO), options);
    expect(svg).to.match(/^<svg [^>]*viewBox="0 0 960 360"/);
    expect(svg).to.include('default/web &lt;&amp;&quot;&gt;');
    const [, path = ''] = /class="replicas" d="([^"]*)"/.exec(svg) ?? [];
    expect(path).to.match(/^M56 [\d.]+(H[\d.]+|V[\d.]+)+$/);
    for (const [, x] of path.matchAll(/H([\d.]+)/g)) expect(Number(x)).to.be.within(56, 924);
    for (const [, y] of path.matchAll(/V([\d.]+)/g)) expect(Number(y)).to.be.within(64, 324);
    expect(svg).to.include('prefers-color-scheme: dark');
  });

  it('marks round times and numbers', () => {
    const svg = timelineSvg(play(SCENARIO), options);
    const labels = [...svg.matchAll(/<text x="[^>]*>([^<]*)</g)].map(([, label]) => label);
    expect(labels).to.deep.equal(['0', '2', '4', '6', '8', '0s', '5m', '10m', '15m']);
  });

  it('leaves a gap while metrics are missing', () => {
    const svg = timelineSvg(play(SCENARIO.replace('{ at: 1m, cpu: 400m }', '{ at: 1m }')), options);
    const [, path = ''] = /class="proposed" d="([^"]*)"/.exec(svg) ?? [];
    expect(path.match(/M/g)).to.have.length(2);
  });

  it('draws an empty chart without decisions', () => {
    expect(timelineSvg([], options)).to.include('<path class="replicas" d=""/>');
  });
});
