import { expect } from 'chai';
import {
  ExternalControllers,
  findExternalWriter,
  reportExternalController,
  withoutElsewhere,
} from '#lib/hpa/external-controllers.ts';
import { type Hpa, readHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { PATHS, startHpaCluster } from '#spec/support/hpa-cluster.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { webHpa } from './min-replicas/built-decision.ts';

const NOW_MS = Date.UTC(2026, 0, 1, 0, 1);

describe('ExternalControllers', () => {
  it('stops managing an HPA while another controller writes its status, and for three periods afterwards', async () => {
    await using cluster = await startHpaCluster();
    await cluster.deployment('web', 2);
    await cluster.hpa('web');
    cluster.queue('web', '20');
    await cluster.lead();
    await cluster.elapse(20);
    const hpa = await cluster.get('web');
    const manager = 'kube-controller-manager';
    const { status } = await cluster.api.put(`${PATHS.hpas}/web/status?fieldManager=${manager}`, {
      ...hpa,
      status: { ...hpa.status, desiredReplicas: 7 },
    });
    expect(status).to.equal(200);
    cluster.queue('web', '40'); // reached by one decision, at any time
    await cluster.elapse(40);
    expect(await cluster.replicas('web')).to.equal(2);
    const left = (await cluster.get('web')).status.conditions.at(-1);
    expect(left).to.deep.include({
      type: 'ControlledElsewhere',
      status: 'True',
      reason: 'AnotherControllerActs',
    });
    expect(left.message).to.match(/^"kube-controller-manager" also writes the status of this HPA\. .* 45s;/);
    expect(cluster.events.some((event) => event.startsWith('web AnotherControllerActs'))).to.equal(true);
    await cluster.elapse(25);
    expect(await cluster.replicas('web')).to.equal(4);
    const types = (await cluster.get('web')).status.conditions.map(({ type }: { type: string }) => type);
    expect(types).to.deep.equal(['AbleToScale', 'ScalingActive', 'ScalingLimited', 'ScaledToZero']);
  });

  it('recognizes its own statuses without managedFields', () => {
    const others = new ExternalControllers(new ManualClock(NOW_MS));
    const sent = { currentReplicas: 2, desiredReplicas: 3 };
    others.observe('a/b', undefined, hpa({ desiredReplicas: 2 }));
    others.sending('a/b', sent);
    others.observe('a/b', hpa({ desiredReplicas: 2 }), hpa(sent));
    expect(others.lately('a/b', 1000)).to.equal(undefined);
    others.observe('a/b', hpa(sent), hpa({ desiredReplicas: 9 }));
    expect(others.lately('a/b', 1000)).to.deep.equal({ manager: 'unknown', writtenAtMs: NOW_MS });
  });

  it('does not take an HPA whose status was left out for one that another controller has written', () => {
    const others = new ExternalControllers(new ManualClock(NOW_MS));
    const whole = hpa({ currentReplicas: 2, desiredReplicas: 3 });
    const { status: _, ...reduced } = { ...whole, isReduced: true as const };
    others.observe('a/b', whole, reduced);
    others.observe('a/b', reduced, reduced);
    others.observe('a/b', reduced, whole);
    expect(others.lately('a/b', 1000)).to.equal(undefined);
  });

  for (const stepMs of [-86_400_000, 86_400_000]) {
    it(`expires a write after the same time when the clock is stepped by ${stepMs} ms`, async () => {
      const clock = new ManualClock(NOW_MS);
      const others = new ExternalControllers(clock);
      others.observe('a/b', undefined, hpa({ desiredReplicas: 2 }));
      others.observe('a/b', hpa({ desiredReplicas: 2 }), hpa({ desiredReplicas: 9 }));
      clock.stepWall(stepMs);
      await clock.advance(999);
      expect(others.lately('a/b', 1000)?.manager).to.equal('unknown');
      await clock.advance(1);
      expect(others.lately('a/b', 1000)).to.equal(undefined);
    });
  }

  it('counts from the recorded time of a write before the first observation', async () => {
    const clock = new ManualClock(NOW_MS);
    const others = new ExternalControllers(clock);
    const writer = ['other', new Date(NOW_MS - 30_000).toISOString()] as const;
    others.observe('a/b', undefined, hpa({ desiredReplicas: 2 }, writer));
    await clock.advance(14_999);
    expect(others.lately('a/b', 45_000)?.manager).to.equal('other');
    await clock.advance(1);
    expect(others.lately('a/b', 45_000)).to.equal(undefined);
  });
});

describe('findExternalWriter', () => {
  const reported = { isSent: () => false, nowMs: NOW_MS };
  const at = (seconds: number) => new Date(NOW_MS - 60_000 + seconds * 1000).toISOString();

  it('returns the last writer of a new HPA, by the recorded time', () => {
    const kube = ['kube-controller-manager', at(30)] as const;
    expect(findExternalWriter(undefined, hpa({ desiredReplicas: 2 }, kube), reported)).to.deep.equal({
      manager: 'kube-controller-manager',
      writtenAtMs: NOW_MS - 30_000,
    });
    const ours = ['autoscaler-hpa', at(31)] as const;
    expect(findExternalWriter(undefined, hpa({ desiredReplicas: 2 }, kube, ours), reported)).to.equal(
      undefined,
    );
    expect(findExternalWriter(undefined, hpa({ desiredReplicas: 2 }), reported)).to.equal(undefined);
  });

  it('returns the writer with a new or newer entry', () => {
    const before = hpa({ desiredReplicas: 2 }, ['autoscaler-hpa', at(1)], ['other', at(0)]);
    const theirs = hpa({ desiredReplicas: 3 }, ['autoscaler-hpa', at(1)], ['other', at(5)]);
    const ours = hpa({ desiredReplicas: 3 }, ['autoscaler-hpa', at(5)], ['other', at(0)]);
    expect(findExternalWriter(before, theirs, reported)?.manager).to.equal('other');
    expect(findExternalWriter(before, ours, reported)).to.equal(undefined);
  });

  it('attributes a status that this process sent to itself after several writes, and otherwise to the other writer', () => {
    const before = hpa({ desiredReplicas: 2 }, ['autoscaler-hpa', at(1)], ['other', at(1)]);
    const cases: readonly (readonly [ours: number, theirs: number, isSent: boolean, writer?: string])[] = [
      [5, 5, true],
      [5, 5, false, 'other'],
      [1, 5, true, 'other'], // it has written the same value afterwards
      [1, 5, false, 'other'],
      [5, 1, false],
      [1, 1, true], // in the same second, so the order is unknown
      [1, 1, false, 'other'],
    ];
    for (const [ours, theirs, isSent, writer] of cases) {
      const now = hpa({ desiredReplicas: 3 }, ['autoscaler-hpa', at(ours)], ['other', at(theirs)]);
      const found = findExternalWriter(before, now, { isSent: () => isSent, nowMs: NOW_MS });
      expect(found, `${ours} ${theirs} ${isSent}`).to.deep.equal(
        writer && { manager: writer, writtenAtMs: NOW_MS },
      );
    }
  });

  it('returns nothing when the status is unchanged', () => {
    const before = hpa({ desiredReplicas: 2 }, ['other', at(0)]);
    expect(findExternalWriter(before, hpa({ desiredReplicas: 2 }, ['other', at(9)]), reported)).to.equal(
      undefined,
    );
  });
});

function hpa(status: object, ...writers: readonly (readonly [manager: string, time: string])[]): Hpa {
  const managedFields = writers.map(([manager, time]) => ({ manager, time, subresource: 'status' }));
  const scaleTargetRef = { kind: 'Deployment', name: 'web' };
  return readHpa(
    {
      metadata: { name: 'b', namespace: 'a', managedFields },
      spec: { scaleTargetRef, maxReplicas: 3 },
      status,
    },
    'v2',
  );
}

const web = webHpa({ minReplicas: 1 });
const other = { manager: 'kube-controller-manager', writtenAtMs: 0 };
const ABLE = { type: 'AbleToScale', status: 'True', reason: 'ReadyForNewScale', message: 'ready' } as const;

describe('reportExternalController', () => {
  const at = (nowMs: number, hpa = web) => reportExternalController(hpa, other, { nowMs, periodMs: 15_000 });

  it('names the other controller and the time limit, with the other conditions', () => {
    const message =
      '"kube-controller-manager" also writes the status of this HPA. This controller does not scale the HPA until the other has written nothing for 45s; disable one of the two controllers';
    const hpa = { ...web, status: { desiredReplicas: 3, conditions: [ABLE] } };
    const { status, event } = at(60_000, hpa);
    expect(event).to.deep.equal({ type: 'Warning', reason: 'AnotherControllerActs', message });
    expect(status).to.deep.equal({
      desiredReplicas: 3,
      conditions: [
        ABLE,
        {
          ...{ type: 'ControlledElsewhere', status: 'True', lastTransitionTime: '1970-01-01T00:01:00Z' },
          ...{ reason: 'AnotherControllerActs', message },
        },
      ],
    });
  });

  it('sets the required number of replicas in an HPA without a status', () => {
    expect(at(0).status)
      .to.deep.include({ desiredReplicas: 0 })
      .and.have.nested.property('conditions.length', 1);
  });

  it('reports once, with the transition time', () => {
    const { status } = at(120_000, { ...web, status: at(60_000).status });
    expect(status.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)).to.deep.equal([
      '1970-01-01T00:01:00Z',
    ]);
  });
});

describe('withoutElsewhere', () => {
  it('removes the condition, and leaves other HPAs unchanged', () => {
    const hpa = { ...web, status: { desiredReplicas: 3, conditions: [ABLE] } };
    const acted = reportExternalController(hpa, other, { nowMs: 0, periodMs: 15_000 });
    expect(withoutElsewhere({ ...hpa, status: acted.status })).to.deep.equal(hpa);
    for (const one of [web, hpa]) expect(withoutElsewhere(one)).to.equal(one);
  });
});
