import { expect } from 'chai';
import { DEFAULT_HPA_CONFIG } from '#lib/hpa/decision/decision-input.ts';
import { averageMeasure } from '#lib/hpa/proposals/average.ts';
import { MetricFailure } from '#lib/hpa/proposals/metric-failure.ts';
import { proposeByPods } from '#lib/hpa/proposals/proposal-by-pods.ts';
import type { ScaledPod } from '#lib/kubernetes/objects/pod.ts';
import { builtPod, builtSamples, NOW_MS } from '../built-world.ts';

/** Proposes for pods a, b, c … that are to have 100 thousandths each. */
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

  it('multiplies the ready pods by the ratio, and rounds up', () => {
    const proposal = propose({ a: 150, b: 151 }, [a, b]);
    expect(proposal).to.include({ replicas: 3, ratio: 1.5, current: 150n, why: 'off-target' });
    expect(proposal.pods).to.deep.include({ counted: 2, unknown: 0 });
  });

  it('keeps what there is while the ratio is tolerable', () => {
    expect(propose({ a: 110, b: 110 }, [a, b], 7)).to.include({ replicas: 7, why: 'within-tolerance' });
  });

  it('assumes that missing pods do as they should while load falls', () => {
    const proposal = propose({ a: 40, b: 40 }, [a, b, c, d]);
    expect(proposal).to.include({ replicas: 3, ratio: 0.4, why: 'off-target' });
    expect(proposal.pods).to.deep.include({ missing: { count: 2, names: ['c', 'd'] }, assumedRatio: 0.7 });
  });

  it('assumes that missing and unready pods do nothing while load rises', () => {
    expect(propose({ a: 300, b: 300 }, [a, b, c, pending('d')])).to.include({
      replicas: 6,
      why: 'off-target',
    });
  });

  it('does not count unready pods while load falls', () => {
    expect(propose({ a: 50, b: 50 }, [a, b, pending('c')])).to.include({ replicas: 1, why: 'off-target' });
  });

  it('stays where the assumptions would have it scale the other way', () => {
    expect(propose({ a: 150 }, [a, b, c])).to.include({ replicas: 3, why: 'direction-uncertain' });
  });

  it('stays where the pods that count are too few to scale up, or too many to scale down', () => {
    expect(propose({ a: 240, b: 240 }, [a, b, pending('c')], 9)).to.include({
      replicas: 9,
      why: 'count-uncertain',
    });
    expect(propose({ a: 40, b: 40 }, [a, b, c, d], 2)).to.include({ replicas: 2, why: 'count-uncertain' });
  });

  it('counts samples of pods that nobody knows where it assumes, and in the mean', () => {
    const proposal = propose({ a: 200, stranger: 200 }, [a]);
    expect(proposal).to.include({ replicas: 2, ratio: 2 });
    expect(proposal.pods).to.deep.include({ counted: 1, unknown: 1 });
    expect(propose({ a: 300, stranger: 300 }, [a, pending('b')])).to.include({ replicas: 6 });
  });

  it('names the first of many pods that are left out, and counts all', () => {
    const pods = Array.from({ length: 50 }, (_, place) => pending(`p${place}`));
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

  it('refuses more replicas than can be counted', () => {
    expect(() => propose({ a: Number.MAX_SAFE_INTEGER }, [a]))
      .to.throw(MetricFailure, 'the metric asks for 90071992547409.9 replicas')
      .that.includes({ isRefusal: true });
  });
});
