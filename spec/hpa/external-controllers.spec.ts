import { expect } from 'chai';
import {
  actedOnElsewhere,
  OtherControllers,
  otherWriter,
  withoutElsewhere,
} from '#lib/hpa/external-controllers.ts';
import { type Hpa, readHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { PATHS, startHpaCluster } from '#spec/support/hpa-cluster.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { followedWeb } from './min-replicas/built-decision.ts';

const NOW_MS = Date.UTC(2026, 0, 1, 0, 1);

describe('OtherControllers', () => {
  it('has the HPA left alone while another writes its status, and for three periods after that', async () => {
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
    cluster.queue('web', '40'); // which one decision gets to, whenever it is due
    await cluster.elapse(40);
    expect(await cluster.replicas('web')).to.equal(2);
    const left = (await cluster.get('web')).status.conditions.at(-1);
    expect(left).to.deep.include({
      type: 'ControlledElsewhere',
      status: 'True',
      reason: 'AnotherControllerActs',
    });
    expect(left.message).to.match(/^"kube-controller-manager" writes the status of this HPA, too, .* 45s;/);
    expect(cluster.events.some((event) => event.startsWith('web AnotherControllerActs'))).to.equal(true);
    await cluster.elapse(25);
    expect(await cluster.replicas('web')).to.equal(4);
    const types = (await cluster.get('web')).status.conditions.map(({ type }: { type: string }) => type);
    expect(types).to.deep.equal(['AbleToScale', 'ScalingActive', 'ScalingLimited', 'ScaledToZero']);
  });

  it('knows what it has sent again where the server does not tell who wrote', () => {
    const others = new OtherControllers(new ManualClock(NOW_MS));
    const sent = { currentReplicas: 2, desiredReplicas: 3 };
    others.observe('a/b', undefined, hpa({ desiredReplicas: 2 }));
    others.sending('a/b', sent);
    others.observe('a/b', hpa({ desiredReplicas: 2 }), hpa(sent));
    expect(others.lately('a/b', 1000)).to.equal(undefined);
    others.observe('a/b', hpa(sent), hpa({ desiredReplicas: 9 }));
    expect(others.lately('a/b', 1000)).to.deep.equal({ manager: 'unknown', writtenAtMs: NOW_MS });
  });

  for (const stepMs of [-86_400_000, 86_400_000]) {
    it(`forgets a write after the same time when the clock is stepped by ${stepMs} ms`, async () => {
      const clock = new ManualClock(NOW_MS);
      const others = new OtherControllers(clock);
      others.observe('a/b', undefined, hpa({ desiredReplicas: 2 }));
      others.observe('a/b', hpa({ desiredReplicas: 2 }), hpa({ desiredReplicas: 9 }));
      clock.stepWall(stepMs);
      await clock.advance(999);
      expect(others.lately('a/b', 1000)?.manager).to.equal('unknown');
      await clock.advance(1);
      expect(others.lately('a/b', 1000)).to.equal(undefined);
    });
  }

  it('counts from the time that the server noted what was written before its first look', async () => {
    const clock = new ManualClock(NOW_MS);
    const others = new OtherControllers(clock);
    const writer = ['other', new Date(NOW_MS - 30_000).toISOString()] as const;
    others.observe('a/b', undefined, hpa({ desiredReplicas: 2 }, writer));
    await clock.advance(14_999);
    expect(others.lately('a/b', 45_000)?.manager).to.equal('other');
    await clock.advance(1);
    expect(others.lately('a/b', 45_000)).to.equal(undefined);
  });
});

describe('otherWriter', () => {
  const told = { isSent: () => false, nowMs: NOW_MS };
  const at = (seconds: number) => new Date(NOW_MS - 60_000 + seconds * 1000).toISOString();

  it('counts at first sight who wrote last, at the time that the server noted', () => {
    const kube = ['kube-controller-manager', at(30)] as const;
    expect(otherWriter(undefined, hpa({ desiredReplicas: 2 }, kube), told)).to.deep.equal({
      manager: 'kube-controller-manager',
      writtenAtMs: NOW_MS - 30_000,
    });
    const ours = ['autoscaler-hpa', at(31)] as const;
    expect(otherWriter(undefined, hpa({ desiredReplicas: 2 }, kube, ours), told)).to.equal(undefined);
    expect(otherWriter(undefined, hpa({ desiredReplicas: 2 }), told)).to.equal(undefined);
  });

  it('takes whose entry is new or newer for the writer', () => {
    const before = hpa({ desiredReplicas: 2 }, ['autoscaler-hpa', at(1)], ['other', at(0)]);
    const theirs = hpa({ desiredReplicas: 3 }, ['autoscaler-hpa', at(1)], ['other', at(5)]);
    const ours = hpa({ desiredReplicas: 3 }, ['autoscaler-hpa', at(5)], ['other', at(0)]);
    expect(otherWriter(before, theirs, told)?.manager).to.equal('other');
    expect(otherWriter(before, ours, told)).to.equal(undefined);
  });

  it('takes what was sent for its own where several have written since, and for the other’s where that one alone has', () => {
    const before = hpa({ desiredReplicas: 2 }, ['autoscaler-hpa', at(1)], ['other', at(1)]);
    const cases: readonly (readonly [ours: number, theirs: number, isSent: boolean, writer?: string])[] = [
      [5, 5, true],
      [5, 5, false, 'other'],
      [1, 5, true, 'other'], // it has written the same afterwards
      [1, 5, false, 'other'],
      [5, 1, false],
      [1, 1, true], // one second, in which nobody tells who was last
      [1, 1, false, 'other'],
    ];
    for (const [ours, theirs, isSent, writer] of cases) {
      const now = hpa({ desiredReplicas: 3 }, ['autoscaler-hpa', at(ours)], ['other', at(theirs)]);
      const found = otherWriter(before, now, { isSent: () => isSent, nowMs: NOW_MS });
      expect(found, `${ours} ${theirs} ${isSent}`).to.deep.equal(
        writer && { manager: writer, writtenAtMs: NOW_MS },
      );
    }
  });

  it('sees no writer where the status is the same', () => {
    const before = hpa({ desiredReplicas: 2 }, ['other', at(0)]);
    expect(otherWriter(before, hpa({ desiredReplicas: 2 }, ['other', at(9)]), told)).to.equal(undefined);
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

const web = followedWeb({ minReplicas: 1 });
const other = { manager: 'kube-controller-manager', writtenAtMs: 0 };
const ABLE = { type: 'AbleToScale', status: 'True', reason: 'ReadyForNewScale', message: 'ready' } as const;

describe('actedOnElsewhere', () => {
  const at = (nowMs: number, hpa = web) => actedOnElsewhere(hpa, other, { nowMs, periodMs: 15_000 });

  it('says who else acts, and for how long that counts, beside what the status says', () => {
    const message =
      '"kube-controller-manager" writes the status of this HPA, too, so this controller leaves it alone until that has not happened for 45s; switch one of both off';
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

  it('says so of an HPA that has no status yet, which has to have a number of replicas', () => {
    expect(at(0).status)
      .to.deep.include({ desiredReplicas: 0 })
      .and.have.nested.property('conditions.length', 1);
  });

  it('says it once, and since when', () => {
    const { status } = at(120_000, { ...web, status: at(60_000).status });
    expect(status.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)).to.deep.equal([
      '1970-01-01T00:01:00Z',
    ]);
  });
});

describe('withoutElsewhere', () => {
  it('takes the condition away, and leaves every other HPA as it is', () => {
    const hpa = { ...web, status: { desiredReplicas: 3, conditions: [ABLE] } };
    const acted = actedOnElsewhere(hpa, other, { nowMs: 0, periodMs: 15_000 });
    expect(withoutElsewhere({ ...hpa, status: acted.status })).to.deep.equal(hpa);
    for (const one of [web, hpa]) expect(withoutElsewhere(one)).to.equal(one);
  });
});
