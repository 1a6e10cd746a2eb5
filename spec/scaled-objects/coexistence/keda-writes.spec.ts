import { expect } from 'chai';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { ExternalWrites, type WrittenObject } from '#lib/scaled-objects/coexistence/keda-writes.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const WRITES_WEB = '"keda" writes the status of ScaledObject default/web';

describe('ExternalWrites', () => {
  it('reports a writer of a status for three polling intervals, but at least 90 s', async () => {
    for (const [pollingInterval, lastsMs] of [
      [undefined, 90_000],
      [1, 90_000],
      [60, 180_000],
      [3600, 900_000],
    ] as const) {
      const clock = new ManualClock();
      const writes = new ExternalWrites(clock);
      const before = object({ ours: 0 }, { pollingInterval });
      writes.observe('ScaledObject', undefined, before);
      expect(onWeb(writes)).to.equal(undefined);
      writes.observe('ScaledObject', before, object({ ours: 0, keda: 0 }, { pollingInterval }));
      expect(onWeb(writes)).to.equal(WRITES_WEB);
      await clock.advance(lastsMs - 1);
      expect(onWeb(writes)).to.equal(WRITES_WEB);
      await clock.advance(1);
      expect([onWeb(writes), writes.anywhere]).to.deep.equal([undefined, undefined]);
    }
  });

  it('assumes that a writer of one status manages all objects of its namespace, and no others', () => {
    const writes = new ExternalWrites(new ManualClock());
    writes.observe('ScaledJob', undefined, object({ keda: 0 }));
    const text = '"keda" writes the status of ScaledJob default/web';
    expect(writes.on('ScaledObject', { namespace: 'default', name: 'other' })).to.equal(text);
    expect(writes.on('ScaledObject', { namespace: 'elsewhere', name: 'web' })).to.equal(undefined);
    expect(writes.anywhere).to.equal(text);
  });

  it('ignores a manager without a change of the status, which any editor of the object can forge', () => {
    const writes = new ExternalWrites(new ManualClock());
    for (const namespace of ['default', 'second']) {
      const before = object({ ours: 0 }, {}, namespace);
      const forged = { ...object({ ours: 0, keda: 1 }, {}, namespace), status: before.status };
      writes.observe('ScaledObject', before, forged);
      writes.observe('ScaledObject', forged, object({ ours: 2, keda: 1 }, {}, namespace)); // our write retains its entry
      const { status: _, ...made } = object({ keda: 3 }, {}, namespace); // objects are created without status
      writes.observe('ScaledObject', undefined, made);
      writes.observe('ScaledObject', before, made); // recreated between two observations
    }
    expect(writes.anywhere).to.equal(undefined);
  });

  it('takes KEDA to act on the ScaledObject whose HPA it takes from us, and on no other', async () => {
    const clock = new ManualClock();
    const writes = new ExternalWrites(clock);
    const ours = hpa({ ours: 0 });
    writes.observeHpa(undefined, ours);
    writes.observeHpa(ours, hpa({ 'kubectl-edit': 0 }));
    expect(onWeb(writes)).to.equal(undefined);
    writes.observeHpa(ours, hpa({ keda: 0 }));
    expect(onWeb(writes)).to.equal('"keda" writes the HPA default/keda-hpa-web');
    expect(writes.on('ScaledJob', { namespace: 'default', name: 'web' })).to.equal(undefined);
    expect(writes.on('ScaledObject', { namespace: 'default', name: 'other' })).to.equal(undefined);
    await clock.advance(90_000);
    expect(onWeb(writes)).to.equal(undefined);
    writes.observeHpa(undefined, hpa({ keda: 0 })); // from before a handover
    expect(onWeb(writes)).to.equal(undefined);
    writes.observeHpa(undefined, {
      ...hpa({ keda: 90 }),
      metadata: { name: 'foreign', namespace: 'default' },
    });
    expect(writes.anywhere).to.equal(undefined);
  });

  it('counts at the first read the latest write, from its time', async () => {
    const clock = new ManualClock();
    const writes = new ExternalWrites(clock);
    writes.observe('ScaledObject', undefined, object({ keda: -80, ours: -70 }));
    expect(onWeb(writes)).to.equal(undefined);
    writes.observe('ScaledJob', undefined, object({ keda: -80, ours: -90 }));
    expect(onWeb(writes)).to.equal('"keda" writes the status of ScaledJob default/web');
    await clock.advance(10_000);
    expect(onWeb(writes)).to.equal(undefined);
  });

  it('is not misled by clocks, or by what other managers wrote long ago', async () => {
    const clock = new ManualClock();
    const writes = new ExternalWrites(clock);
    const before = object({ keda: -1000, ours: -500 });
    writes.observe('ScaledObject', undefined, before);
    writes.observe('ScaledObject', before, object({ keda: -1000, ours: -400 }));
    expect(onWeb(writes)).to.equal(undefined);
    writes.observe('ScaledObject', undefined, object({ keda: 5000 })); // a clock that is ahead
    expect(onWeb(writes)).to.equal(WRITES_WEB);
    await clock.advance(90_000);
    expect(onWeb(writes)).to.equal(undefined);
  });

  it('uses the latest valid write, escapes control characters in names, and can be cleared', () => {
    const writes = new ExternalWrites(new ManualClock());
    writes.observe('ScaledObject', undefined, object({ 'ke\nda': 0 }, { pollingInterval: 100 }));
    writes.observe('ScaledObject', undefined, object({ other: -10 }));
    expect(onWeb(writes)).to.equal('"ke\\nda" writes the status of ScaledObject default/web');
    writes.observeHpa(undefined, hpa({ keda: 0 }));
    writes.clear();
    expect(writes.anywhere).to.equal(undefined);
  });
});

function onWeb(writes: ExternalWrites): string | undefined {
  return writes.on('ScaledObject', { namespace: 'default', name: 'web' });
}

/** @param seconds when each manager wrote the status, from the clock's start; `ours` is this controller */
function object(
  seconds: Readonly<Record<string, number>>,
  spec: object = {},
  namespace = 'default',
): WrittenObject {
  const managedFields = entries(seconds, { subresource: 'status' });
  const metadata = { name: 'web', namespace, managedFields };
  return { metadata, spec, status: { written: seconds } };
}

/** The HPA of web. @param seconds when each manager took ownership of its version label */
function hpa(seconds: Readonly<Record<string, number>>): KubernetesObject {
  const fieldsV1 = { 'f:metadata': { 'f:labels': { 'f:app.kubernetes.io/version': {} } } };
  const owner = {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    name: 'web',
    uid: 'u',
    controller: true,
  };
  const managedFields = entries(seconds, { fieldsV1 });
  const name = 'keda-hpa-web';
  return { metadata: { ...{ name, namespace: 'default', ownerReferences: [owner] }, ...{ managedFields } } };
}

function entries(seconds: Readonly<Record<string, number>>, more: object) {
  return Object.entries(seconds).map(([name, second]) => ({
    manager: name === 'ours' ? 'autoscaler-scaledobject' : name,
    operation: 'Update',
    time: new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString(),
    ...more,
  }));
}
