import { expect } from 'chai';
import { playScenario } from '#lib/hpa/explain/play.ts';
import { parseScenario } from '#lib/hpa/explain/scenario.ts';
import { timelineTable } from '#lib/hpa/explain/timeline-table.ts';
import { SCENARIO } from './built-scenario.ts';

const tableOf = (text: string) => timelineTable(playScenario(parseScenario(text)));

describe('timelineTable', () => {
  it('has a row a minute, and one where the scale changes or what it comes from', () => {
    expect(tableOf(SCENARIO)).to.equal(
      `time   load      ready  metrics ask for  replicas  why
0s     cpu 200m  4/4    4                4         within-tolerance
1m0s   cpu 400m  4/4    8                4 → 8     as the metrics ask
1m15s  cpu 400m  4/8    8                8         within-tolerance
2m0s   cpu 400m  8/8    8                8         within-tolerance
3m0s   cpu 400m  8/8    8                8         within-tolerance
4m0s   cpu 400m  8/8    8                8         within-tolerance
5m0s   cpu 80m   8/8    2                8         ScaleDownStabilized
6m0s   cpu 80m   8/8    2                8         ScaleDownStabilized
7m0s   cpu 80m   8/8    2                8         ScaleDownStabilized
8m0s   cpu 80m   8/8    2                8         ScaleDownStabilized
9m0s   cpu 80m   8/8    2                8         ScaleDownStabilized
10m0s  cpu 80m   8/8    2                8 → 2     as the metrics ask
11m0s  cpu 80m   2/2    2                2         as the metrics ask
12m0s  cpu 80m   2/2    2                2         as the metrics ask
13m0s  cpu 80m   2/2    2                2         as the metrics ask
14m0s  cpu 80m   2/2    2                2         as the metrics ask
15m0s  cpu 80m   2/2    2                2         as the metrics ask`,
    );
  });

  it('tells of several metrics what each asks for, and each reason once', () => {
    const queue =
      '- { type: External, external: { metric: { name: queue }, target: { type: AverageValue, averageValue: "10" } } }';
    const text = SCENARIO.replace('replicas: 4', 'replicas: 4\nsyncPeriod: 30s')
      .replace(/- type: Resource\n.*\n/, `$&      ${queue}\n`)
      .replace('duration: 15m', 'duration: 6m')
      .replace('maxReplicas: 20', 'maxReplicas: 9')
      .replace('at: 1m, cpu: 400m', 'at: 1m, cpu: 400m, queue: 95')
      .replace('at: 5m, cpu: 80m', 'at: 5m, queue: 200');
    expect(tableOf(text)).to.equal(
      `time   load                ready  metrics ask for  replicas  why
0s     cpu 200m            4/4    4, ?             4         FailedGetExternalMetric
1m0s   cpu 400m, queue 95  4/4    8, 10            4 → 8     ScaleUpLimit
1m30s  cpu 400m, queue 95  8/8    8, 10            8 → 9     TooManyReplicas
2m0s   cpu 400m, queue 95  9/9    8, 9             9         ScaleDownStabilized, TooManyReplicas
3m0s   cpu 400m, queue 95  9/9    8, 9             9         ScaleDownStabilized, TooManyReplicas
4m0s   cpu 400m, queue 95  9/9    8, 9             9         ScaleDownStabilized, TooManyReplicas
5m0s   queue 200           9/9    ?, 20            9         TooManyReplicas, FailedGetResourceMetric
6m0s   queue 200           9/9    ?, 20            9         TooManyReplicas, FailedGetResourceMetric`,
    );
  });

  it('has a row for every change of the scale, of which only the number differs, too', () => {
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

  it('tells what decides before metrics do', () => {
    const rows = (replicas: number) =>
      tableOf(SCENARIO.replace('replicas: 4', `replicas: ${replicas}`))
        .split('\n')
        .slice(1, 4);
    expect(rows(0)[0]).to.equal('0s     cpu 200m  0/0                     0         switched-off');
    expect(rows(30).slice(0, 2)).to.deep.equal([
      '0s     cpu 200m  30/30                   30 → 20   above-max',
      '15s    cpu 200m  20/20  4                20        ScaleDownStabilized, TooManyReplicas',
    ]);
    expect(rows(1)).to.deep.equal([
      '0s     cpu 200m  1/1                     1 → 2     below-min',
      '15s    cpu 200m  1/2    4                2 → 4     as the metrics ask',
      '30s    cpu 200m  2/4    4                4         direction-uncertain',
    ]);
  });
});
