import { expect } from 'chai';
import { DEFAULT_HPA_CONFIG } from '#lib/hpa/decision/decision-input.ts';
import {
  averageMeasure,
  ceilReplicas,
  groupPods,
  isWithin,
  MetricFailure,
  proposeByAverage,
  proposeByPods,
  proposeByValue,
  toInt32,
  toInt64,
  tolerancesOf,
  utilizationMeasure,
} from '#lib/hpa/decision/replica-calculator.ts';
import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import { builtPod, builtSamples, NOW_MS } from '#spec/hpa/built-inputs.ts';

/** Proposes replicas for pods a, b, c … with a target of 100 thousandths each. */
function propose(
  values: Readonly<Record<string, number>>,
  pods: readonly ScaledPod[],
  currentReplicas = pods.length,
) {
  return proposeByPods(
    {
      samples: builtSamples(values),
      pods,
      currentReplicas,
      resource: 'cpu',
      tolerances: { scaleDown: 0.1, scaleUp: 0.1 },
      times: { ...DEFAULT_HPA_CONFIG, nowMs: NOW_MS },
    },
    () => averageMeasure(100n),
  );
}

describe('proposeByPods', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => builtPod(name)) as [
    ScaledPod,
    ScaledPod,
    ScaledPod,
    ScaledPod,
  ];
  const pending = (name: string) => builtPod(name, { phase: 'Pending' });

  it('multiplies ready pods by the ratio, and rounds up', () => {
    const proposal = propose({ a: 150, b: 151 }, [a, b]);
    expect(proposal).to.include({ replicas: 3, ratio: 1.5, current: 150n, why: 'off-target' });
    expect(proposal.pods).to.deep.include({ counted: 2, unknown: 0 });
  });

  it('retains the replicas while the ratio is within the tolerance', () => {
    expect(propose({ a: 110, b: 110 }, [a, b], 7)).to.include({ replicas: 7, why: 'within-tolerance' });
  });

  it('assumes the target for missing pods while load falls', () => {
    const proposal = propose({ a: 40, b: 40 }, [a, b, c, d]);
    expect(proposal).to.include({ replicas: 3, ratio: 0.4, why: 'off-target' });
    expect(proposal.pods).to.deep.include({ missing: { count: 2, names: ['c', 'd'] }, assumedRatio: 0.7 });
  });

  it('assumes no usage for missing and unready pods while load rises', () => {
    expect(propose({ a: 300, b: 300 }, [a, b, c, pending('d')])).to.include({
      replicas: 6,
      why: 'off-target',
    });
  });

  it('ignores unready pods while load falls', () => {
    expect(propose({ a: 50, b: 50 }, [a, b, pending('c')])).to.include({ replicas: 1, why: 'off-target' });
  });

  it('stays when the assumptions reverse the direction', () => {
    expect(propose({ a: 150 }, [a, b, c])).to.include({ replicas: 3, why: 'direction-uncertain' });
  });

  it('stays when the number of counted pods reverses the direction', () => {
    expect(propose({ a: 240, b: 240 }, [a, b, pending('c')], 9)).to.include({
      replicas: 9,
      why: 'count-uncertain',
    });
    expect(propose({ a: 40, b: 40 }, [a, b, c, d], 2)).to.include({ replicas: 2, why: 'count-uncertain' });
  });

  it('counts samples of unknown pods in the average', () => {
    const proposal = propose({ a: 200, stranger: 200 }, [a]);
    expect(proposal).to.include({ replicas: 2, ratio: 2 });
    expect(proposal.pods).to.deep.include({ counted: 1, unknown: 1 });
    expect(propose({ a: 300, stranger: 300 }, [a, pending('b')])).to.include({ replicas: 6 });
  });

  it('names the first excluded pods, and counts all', () => {
    const pods = Array.from({ length: 50 }, (_, index) => pending(`p${index}`));
    const { pods: considered } = propose({ a: 100 }, [a, ...pods]);
    expect(considered?.unready.count).to.equal(50);
    expect(considered?.unready.names).to.have.length(20);
  });

  it('fails without pods, and without samples that count', () => {
    expect(() => propose({ a: 1 }, [])).to.throw(MetricFailure, 'no pods returned by selector');
    expect(() => propose({ a: 1 }, [pending('a')])).to.throw(
      'did not receive metrics for targeted pods (pods might be unready)',
    );
  });

  it('rejects more replicas than the maximum', () => {
    expect(() => propose({ a: Number.MAX_SAFE_INTEGER }, [a]))
      .to.throw(MetricFailure, 'the metric proposes 90071992547409.9 replicas')
      .that.includes({ isRefusal: true });
  });
});

const input = (total: bigint, target: bigint) => ({
  total,
  target,
  tolerances: { scaleDown: 0.1, scaleUp: 0.1 },
});

describe('proposeByValue', () => {
  const pods = [
    builtPod('a'),
    builtPod('b', { isDeleting: true }),
    builtPod('c', { ready: { status: 'False', changedAtMs: 0 } }),
    builtPod('d', { phase: 'Succeeded' }),
  ];

  it('multiplies running, ready pods, including those being deleted', () => {
    const proposal = proposeByValue(input(150n, 100n), { specReplicas: 4, pods });
    expect(proposal).to.include({ replicas: 3, readyPods: 2, ratio: 1.5, current: 150n });
  });

  it('needs no pods within the tolerance or at zero replicas', () => {
    expect(proposeByValue(input(109n, 100n), { specReplicas: 4, pods: [] })).to.include({ replicas: 4 });
    expect(proposeByValue(input(209n, 100n), { specReplicas: 0, pods: [] })).to.include({ replicas: 3 });
    expect(() => proposeByValue(input(209n, 100n), { specReplicas: 4, pods: [] })).to.throw(
      MetricFailure,
      'unable to calculate ready pods: no pods returned by selector while calculating replica count',
    );
  });

  it('caps replicas at the maximum, except from zero', () => {
    const [ready, large] = [[builtPod('a')], input(3n * 10n ** 9n, 1n)];
    const proposal = proposeByValue(large, { specReplicas: 1, pods: ready });
    expect(proposal).to.include({ replicas: 2 ** 31 - 1, readyPods: 1 });

    expect(() => proposeByValue(large, { specReplicas: 0, pods: [] }))
      .to.throw(MetricFailure, 'the metric proposes 3000000000 replicas')
      .that.includes({ isRefusal: true });
  });
});

describe('proposeByAverage', () => {
  it('divides the value by its target, and shows the average rounded up', () => {
    const proposal = proposeByAverage(input(250n, 100n), { statusReplicas: 4, isCapped: false });
    expect(proposal).to.include({ replicas: 3, current: 63n, ratio: 0.625 });
  });

  it('retains the replicas while the average is within the tolerance', () => {
    const proposal = proposeByAverage(input(330n, 100n), { statusReplicas: 3, isCapped: false });
    expect(proposal).to.include({ replicas: 3, why: 'within-tolerance' });
  });

  it('shows the largest integer as the average of an overflowed sum', () => {
    const largest = input(2n ** 63n - 1n, 1000n);
    for (const statusReplicas of [0, 1, 3])
      expect(proposeByAverage(largest, { statusReplicas, isCapped: true })).to.include({
        ...{ current: 2n ** 63n - 1n, replicas: 2 ** 31 - 1 },
      });
    const below = proposeByAverage(input(2n ** 62n, 1000n), { statusReplicas: 2, isCapped: true });
    expect(below.current).to.equal(2n ** 61n);
  });

  it('has no average without replicas', () => {
    for (const total of [0n, 250n]) {
      const proposal = proposeByAverage(input(total, 100n), { statusReplicas: 0, isCapped: false });
      expect(proposal).to.include({ replicas: total === 0n ? 0 : 3, current: undefined });
    }
  });

  it('caps an external metric at the maximum, and rejects it for an object', () => {
    const large = input(3n * 10n ** 9n, 1n);
    expect(proposeByAverage(large, { statusReplicas: 1, isCapped: true }).replicas).to.equal(2 ** 31 - 1);
    expect(() => proposeByAverage(large, { statusReplicas: 1, isCapped: false })).to.throw(MetricFailure);
    expect(() =>
      proposeByAverage(input(-3n * 10n ** 9n, 1n), { statusReplicas: 1, isCapped: true }),
    ).to.throw(MetricFailure);
  });
});

const ago = (seconds: number) => NOW_MS - seconds * 1000;
const TIMES = { nowMs: NOW_MS, cpuInitializationPeriodMs: 300_000, initialReadinessDelayMs: 30_000 };

/** The group of a pod with a sample of the 30 s that ended 20 s ago. */
function groupOf(pod: Partial<ScaledPod>, resource: string | undefined = 'cpu'): string {
  const { readyCount, ...groups } = groupPods([builtPod('a', pod)], builtSamples({ a: 1 }), {
    resource,
    times: TIMES,
  });
  const [group] = Object.entries(groups).find(([, names]) => names.length > 0) ?? ['ready'];
  expect(readyCount).to.equal(group === 'ready' ? 1 : 0);
  return group;
}

describe('groupPods', () => {
  it('ignores deleted and failed pods, also pending ones without a sample', () => {
    expect(groupOf({ isDeleting: true, phase: 'Pending' })).to.equal('ignored');
    expect(groupOf({ phase: 'Failed' })).to.equal('ignored');
  });

  it('treats pending pods as unready for all resources', () => {
    expect(groupOf({ phase: 'Pending' })).to.equal('unready');
    expect(groupOf({ phase: 'Pending' }, undefined)).to.equal('unready');
  });

  it('reports pods without a sample as missing', () => {
    const pods = ['a', 'b'].map((name) => builtPod(name));
    expect(groupPods(pods, builtSamples({ b: 1 }), { resource: 'cpu', times: TIMES })).to.deep.equal({
      ...{ readyCount: 1, unready: [], missing: ['a'], ignored: [] },
    });
  });

  it('counts long-ready pods, and succeeded ones', () => {
    expect(groupOf({})).to.equal('ready');
    expect(groupOf({ phase: 'Succeeded' })).to.equal('ready');
  });

  it('checks readiness for CPU only', () => {
    const young = { startedAtMs: ago(10), ready: { status: 'False', changedAtMs: ago(5) } };
    expect(groupOf(young)).to.equal('unready');
    expect(groupOf(young, 'memory')).to.equal('ready');
    expect(groupOf({ ready: undefined })).to.equal('unready');
    expect(groupOf({ startedAtMs: undefined })).to.equal('unready');
  });

  it('requires a whole window since the readiness changed while a pod may initialize', () => {
    const since = (seconds: number) => ({
      startedAtMs: ago(299),
      ready: { status: 'True', changedAtMs: ago(seconds) },
    });
    expect(groupOf(since(49))).to.equal('unready');
    expect(groupOf(since(50))).to.equal('ready');
    expect(groupOf({ ...since(49), startedAtMs: ago(300) })).to.equal('ready');
  });

  it('excludes later only pods that were never ready', () => {
    const since = (seconds: number) => ({
      startedAtMs: ago(1000),
      ready: { status: 'False', changedAtMs: ago(seconds) },
    });
    expect(groupOf(since(971))).to.equal('unready');
    expect(groupOf(since(970))).to.equal('ready');
    expect(groupOf({ ...since(971), ready: { status: 'Unknown', changedAtMs: ago(971) } })).to.equal('ready');
  });

  it('handles samples from the future, long ago, and with negative windows', () => {
    const grouped = (takenAtMs: number, windowMs: number, pod: Partial<ScaledPod>) => {
      const samples = new Map([['a', { thousandths: 1n, takenAtMs, windowMs }]]);
      const { readyCount, ...groups } = groupPods([builtPod('a', pod)], samples, {
        resource: 'cpu',
        times: TIMES,
      });
      const count = Object.values(groups).reduce((sum, names) => sum + names.length, readyCount);
      expect(count, 'in one group').to.equal(1);
      return readyCount === 1;
    };
    const young = { startedAtMs: ago(60), ready: { status: 'True', changedAtMs: ago(50) } };
    const old = { startedAtMs: ago(3600), ready: { status: 'True', changedAtMs: ago(3500) } };
    const [earliest, latest] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')];
    const whole = [earliest, ago(3600), NOW_MS, NOW_MS + 3_600_000, latest];
    // A pod that is no longer initializing counts, for any sample time; a young one counts if a window fits.
    expect(whole.map((takenAtMs) => grouped(takenAtMs, 30_000, old))).to.deep.equal(whole.map(() => true));
    expect(whole.map((takenAtMs) => grouped(takenAtMs, 30_000, young))).to.deep.equal([
      false,
      false,
      true,
      true,
      true,
    ]);
    expect(grouped(NOW_MS, 86_400_000_000, young), 'a window of years').to.equal(false);
    expect(grouped(ago(55), -30_000, young), 'a window that runs backwards').to.equal(true);
  });
});

describe('averageMeasure', () => {
  const values = (...amounts: number[]) =>
    new Map(amounts.map((amount, pod) => [`web-${pod}`, BigInt(amount)]));

  it('truncates the average to whole thousandths before comparing', () => {
    expect(averageMeasure(10n).measure(values(10, 11, 12, 12))).to.deep.equal({ ratio: 1.1, average: 11n });
    expect(averageMeasure(10n).measure(values(-10, -11))).to.deep.equal({ ratio: -1, average: -10n });
  });

  it('assumes the target when scaling down, nothing when scaling up, and excludes the pod at exactly the target', () => {
    expect(averageMeasure(10n).assumedOfMissing('a', 0.99)).to.equal(10n);
    expect(averageMeasure(10n).assumedOfMissing('a', 1)).to.equal(undefined);
    expect(averageMeasure(10n).assumedOfMissing('a', 2)).to.equal(0n);
  });
});

const byPod = (values: Readonly<Record<string, number | bigint>>) =>
  new Map(Object.entries(values).map(([pod, value]) => [pod, BigInt(value)]));

describe('utilizationMeasure', () => {
  const requests = byPod({ a: 100, b: 200, c: 50 });

  it('divides usage by requests, and rounds percent down', () => {
    expect(utilizationMeasure(requests, 50).measure(byPod({ a: 100, b: 101 }))).to.deep.equal({
      ...{ ratio: 67 / 50, average: 100n, utilization: 67 },
    });
  });

  it('excludes unknown pods', () => {
    expect(utilizationMeasure(requests, 50).measure(byPod({ a: 10, stranger: 9999 }))).to.deep.equal({
      ...{ ratio: 0.2, average: 10n, utilization: 10 },
    });
  });

  it('fails without requests', () => {
    const failure = 'no metrics returned matched known pods';
    expect(() => utilizationMeasure(requests, 50).measure(byPod({ x: 1 }))).to.throw(MetricFailure, failure);
    expect(() => utilizationMeasure(byPod({ a: 0 }), 50).measure(byPod({ a: 1 }))).to.throw(failure);
  });

  it('wraps at 64 and 32 bits', () => {
    const many = utilizationMeasure(byPod({ a: 1 }), 100).measure(byPod({ a: 2 ** 31 }));
    expect(many.utilization).to.equal(0); // 2^31 * 100 is a multiple of 2^32
    const more = utilizationMeasure(byPod({ a: 2n ** 40n }), 100).measure(byPod({ a: 2n ** 62n }));
    expect(more.utilization).to.equal(0); // 2^62 * 100 is a multiple of 2^64
  });

  it('assumes the request, or the target beyond it, when scaling down, and nothing when scaling up', () => {
    expect(utilizationMeasure(requests, 50).assumedOfMissing('b', 0.9)).to.equal(200n);
    expect(utilizationMeasure(requests, 150).assumedOfMissing('c', 0.9)).to.equal(75n);
    expect(utilizationMeasure(requests, 50).assumedOfMissing('b', 1.1)).to.equal(0n);
    expect(utilizationMeasure(requests, 50).assumedOfMissing('b', 1)).to.equal(undefined);
  });
});

describe('tolerancesOf', () => {
  const behavior = { scaleUp: { tolerance: '50m' }, scaleDown: {} };

  it('returns those of the controller if the feature gate is off', () => {
    const config = { ...DEFAULT_HPA_CONFIG, configurableTolerance: false };
    expect(tolerancesOf(behavior, config)).to.deep.equal({ scaleDown: 0.1, scaleUp: 0.1 });
  });

  it('returns those of the HPA for each direction that has one', () => {
    const config = DEFAULT_HPA_CONFIG;
    expect(tolerancesOf(behavior, config)).to.deep.equal({ scaleDown: 0.1, scaleUp: 0.05 });
    expect(tolerancesOf(undefined, config)).to.deep.equal({ scaleDown: 0.1, scaleUp: 0.1 });
    const rules = (tolerance: string) => tolerancesOf({ scaleUp: { tolerance } }, config).scaleUp;
    expect(rules('2')).to.equal(2);
    expect(rules('0')).to.equal(0);
    expect(rules('0.25')).to.equal(0.25);
    expect(rules('35m')).to.equal(35 * 0.001); // which is not 0.035
  });
});

describe('isWithin', () => {
  it('includes the bounds, and excludes NaN', () => {
    const tolerances = { scaleDown: 0.5, scaleUp: 0.25 };
    for (const ratio of [0.5, 1, 1.25]) expect(isWithin(ratio, tolerances), `${ratio}`).to.equal(true);
    for (const ratio of [0.499, 1.251, Number.NaN]) expect(isWithin(ratio, tolerances)).to.equal(false);
  });
});

const MAX_REPLICAS = 2_147_483_647;

describe('toInt64 and toInt32', () => {
  it('wrap around', () => {
    expect(toInt64(2n ** 63n)).to.equal(-(2n ** 63n));
    expect(toInt64(-5n)).to.equal(-5n);
    expect(toInt32(2n ** 31n)).to.equal(-(2 ** 31));
    expect(toInt32(2n ** 32n + 7n)).to.equal(7);
  });
});

describe('ceilReplicas', () => {
  it('rounds up, without a negative zero', () => {
    expect(ceilReplicas(2.000001)).to.equal(3);
    expect(ceilReplicas(-2.5)).to.equal(-2);
    expect(Object.is(ceilReplicas(-0.5), 0)).to.equal(true);
  });

  it('returns undefined beyond 32 bits', () => {
    expect(ceilReplicas(MAX_REPLICAS)).to.equal(MAX_REPLICAS);
    expect(ceilReplicas(-MAX_REPLICAS - 1)).to.equal(-MAX_REPLICAS - 1);
    for (const replicas of [MAX_REPLICAS + 0.5, -MAX_REPLICAS - 2, Infinity, -Infinity, Number.NaN]) {
      expect(ceilReplicas(replicas), `${replicas}`).to.equal(undefined);
    }
  });
});
