import { expect } from 'chai';
import {
  namespaceBudget,
  readScaledJob,
  readScaledObject,
  readTriggerAuthentication,
} from '#lib/scaled-objects/api/cached-objects.ts';
import type { ScaledObject } from '#lib/scaled-objects/api/scaled-object.ts';
import { PATHS, startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

const METADATA = { namespace: 'shop', name: 'web', uid: 'u', resourceVersion: '7', generation: 3 };
const SPEC = { scaleTargetRef: { name: 'web' }, triggers: [{ type: 'cron', metadata: { timezone: 'UTC' } }] };

describe('readScaledObject', () => {
  it('omits unused metadata, and entries of other managers in managedFields', () => {
    const times = { time: '2026-01-01T00:00:00Z' };
    const own = { manager: 'autoscaler-scaledobject', operation: 'Apply', ...times };
    const fields = { 'f:spec': { 'f:triggers': {} }, 'f:status': { 'f:conditions': {} } };
    const object = readScaledObject({
      metadata: {
        ...METADATA,
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', team: 'a' },
        managedFields: [
          { manager: 'kubectl', operation: 'Apply', ...times, fieldsV1: { 'f:spec': {} } },
          { manager: 'keda', operation: 'Update', subresource: 'status', ...times, fieldsV1: fields },
          { ...own, subresource: 'status', fieldsV1: fields },
          { ...own, fieldsV1: fields },
        ],
      },
      spec: SPEC,
    });
    expect(object).to.deep.equal({
      metadata: {
        ...METADATA,
        annotations: { team: 'a' },
        managedFields: [
          { manager: 'keda', operation: 'Update', subresource: 'status', ...times },
          { ...own, subresource: 'status', fieldsV1: { 'f:status': fields['f:status'] } },
          { ...own, fieldsV1: { 'f:status': fields['f:status'] } },
        ],
      },
      spec: SPEC,
    });
  });

  it('caches only the name, finalizers and short status of an object with too many values', () => {
    const values = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`key-${index}`, 'value']),
    );
    const metadata = {
      ...METADATA,
      labels: { a: 'b' },
      annotations: { c: 'd' },
      finalizers: ['finalizer.keda.sh'],
    };
    const spec = { ...SPEC, triggers: [{ type: 'cron', metadata: values }] };
    const status = { conditions: [{ type: 'Ready', status: 'False' }] };
    const { generation: _, ...named } = METADATA;
    const omitted = 'Cannot read object: more than 20000 values';
    const object = readScaledObject({ metadata, spec, status });
    expect(object.omitted).to.equal(omitted);
    expect(object.metadata).to.deep.equal({
      ...named,
      creationTimestamp: undefined,
      finalizers: ['finalizer.keda.sh'],
    });
    expect(object.status).to.deep.equal(status);
    const large = {
      metadata: { ...METADATA, finalizers: Array(1000).fill('a/b') },
      spec: values,
      status: values,
    };
    const { status: noStatus, metadata: short } = readScaledObject(large);
    expect([noStatus, short.finalizers]).to.deep.equal([undefined, undefined]);
  });
});

describe('objects with fields of other types than their definition gives them', () => {
  const trigger = SPEC.triggers[0];
  const template = { spec: { containers: [] } };
  const key = { parameter: 'a', name: 'b', key: 'c' };
  const reads = {
    ScaledObject: { read: readScaledObject, spec: SPEC },
    ScaledJob: { read: readScaledJob, spec: { jobTargetRef: { template }, triggers: [trigger] } },
    TriggerAuthentication: { read: readTriggerAuthentication, spec: { secretTargetRef: [key] } },
  };
  const WRONG: readonly (readonly [keyof typeof reads, unknown, string])[] = [
    ['ScaledObject', undefined, 'spec: Invalid input: expected object, received undefined'],
    ['ScaledObject', null, 'spec: Invalid input: expected object, received null'],
    ['ScaledObject', { scaleTargetRef: 'web' }, 'spec.scaleTargetRef: Invalid input: expected object'],
    [
      'ScaledObject',
      { scaleTargetRef: { name: 7 } },
      'spec.scaleTargetRef.name: Invalid input: expected string',
    ],
    ['ScaledObject', { minReplicaCount: '2' }, 'spec.minReplicaCount: Invalid input: expected number'],
    ['ScaledObject', { minReplicaCount: null }, 'spec.minReplicaCount: Invalid input: expected number'],
    ['ScaledObject', { maxReplicaCount: 2.5 }, 'spec.maxReplicaCount: Invalid input: expected int'],
    ['ScaledObject', { pollingInterval: 1e300 }, 'spec.pollingInterval: '],
    ['ScaledObject', { triggers: {} }, 'spec.triggers: Invalid input: expected array'],
    ['ScaledObject', { triggers: [null] }, 'spec.triggers.0: Invalid input: expected object'],
    ['ScaledObject', { triggers: [{ type: 'cron', metadata: null }] }, 'spec.triggers.0.metadata: '],
    ['ScaledObject', { triggers: [{ type: 'cron', metadata: { a: 1 } }] }, 'spec.triggers.0.metadata.a: '],
    [
      'ScaledObject',
      { triggers: [{ ...trigger, authenticationRef: 'a' }] },
      'spec.triggers.0.authenticationRef: ',
    ],
    ['ScaledObject', { advanced: 'x' }, 'spec.advanced: Invalid input: expected object, received string'],
    ['ScaledObject', { advanced: { scalingModifiers: [] } }, 'spec.advanced.scalingModifiers: '],
    [
      'ScaledObject',
      { fallback: { failureThreshold: '3', replicas: 1 } },
      'spec.fallback.failureThreshold: ',
    ],
    ['ScaledJob', { jobTargetRef: [] }, 'spec.jobTargetRef: Invalid input: expected object'],
    [
      'ScaledJob',
      { jobTargetRef: { template: { metadata: { labels: 'a' } } } },
      'spec.jobTargetRef.template.metadata.labels: ',
    ],
    ['ScaledJob', { maxReplicaCount: '9' }, 'spec.maxReplicaCount: Invalid input: expected number'],
    [
      'ScaledJob',
      { scalingStrategy: { pendingPodConditions: 'Ready' } },
      'spec.scalingStrategy.pendingPodConditions: ',
    ],
    ['ScaledJob', { triggers: 'x' }, 'spec.triggers: Invalid input: expected array'],
    ['TriggerAuthentication', { secretTargetRef: {} }, 'spec.secretTargetRef: Invalid input: expected array'],
    [
      'TriggerAuthentication',
      { env: [{ parameter: 'a' }] },
      'spec.env.0.name: Invalid input: expected string',
    ],
    ['TriggerAuthentication', { podIdentity: 'aws' }, 'spec.podIdentity: Invalid input: expected object'],
  ];
  for (const [kind, fields, omitted] of WRONG)
    it(`takes a ${kind} without its spec, and why, where that is ${JSON.stringify(fields)}`, () => {
      const { read, spec } = reads[kind];
      const wrong = fields && { ...spec, ...fields };
      const object = read({ metadata: METADATA, spec: wrong, status: { conditions: [] } });
      expect(object.omitted?.startsWith(omitted), object.omitted).to.equal(true);
      expect(object).to.deep.include({ status: { conditions: [] } });
      expect(object.spec).to.deep.include({ triggers: [] });
      expect(read({ metadata: METADATA, spec }).omitted).to.equal(undefined);
    });

  const STATUSES = [
    ...[null, 'x', { conditions: 'x' }, { conditions: [null] }, { externalMetricNames: {} }],
    ...[{ originalReplicaCount: '2' }, { health: { s0: null } }, { triggersActivity: [] }],
  ];
  for (const status of STATUSES)
    it(`takes an object without its status where that is ${JSON.stringify(status)}`, () => {
      expect(readScaledObject({ metadata: METADATA, spec: SPEC, status })).to.deep.equal({
        metadata: METADATA,
        spec: SPEC,
      });
    });

  it('bounds keys in messages', () => {
    const triggers = [{ type: 'cron', metadata: { ['k'.repeat(10_000)]: 1 } }];
    const { omitted = '' } = readScaledObject({ metadata: METADATA, spec: { ...SPEC, triggers } });
    expect(omitted.length).to.be.below(300);
  });
});

describe('namespaceBudget', () => {
  it('takes 6,000 ordinary objects of a namespace, and some twenty of the size that etcd takes', () => {
    const { maxBytes, sizeBytes, reduce } = namespaceBudget<ScaledObject>();
    const ordinary = readScaledObject({
      metadata: METADATA,
      spec: {
        ...SPEC,
        triggers: Array(10).fill({
          type: 'prometheus',
          metadata: { serverAddress: 'http://a', query: 'q'.repeat(200) },
        }),
      },
    });
    expect(maxBytes / sizeBytes(ordinary)).to.be.above(6000);
    const text = 'x'.repeat(1_400_000);
    const large = readScaledObject({
      metadata: METADATA,
      spec: { ...SPEC, triggers: [{ type: 'cron', metadata: { text } }] },
    });
    expect(Math.floor(maxBytes / sizeBytes(large))).to.equal(23);
    const reduced = reduce(large);
    expect(sizeBytes(reduced)).to.be.below(1000);
    expect(reduced.omitted).to.match(
      /^the objects of this kind in the namespace together take more than 32 MiB$/,
    );
  });
});

describe('a ScaledObject that is too large', () => {
  it('has a condition and an event, and can be deleted', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 1);
    await cluster.deployment('web', 1);
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    const path = `${PATHS.scaledObjects}/web`;
    expect((await cluster.get(path)).metadata.finalizers).to.deep.equal(['finalizer.keda.sh']);
    const trigger = cluster.trigger('/queue') as { metadata: object };
    const values = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`key-${index}`, 'value']),
    );
    const triggers = [{ ...trigger, metadata: { ...trigger.metadata, ...values } }];
    await cluster.api.patch(path, 'merge', { spec: { triggers } });
    const why = 'Cannot read ScaledObject: Cannot read object: more than 20000 values';
    await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).endsWith(why));
    expect(cluster.events).to.include(`web ScaledObjectCheckFailed ${why}`);
    await cluster.api.delete(path);
    await cluster.untilMet(async () => (await cluster.get(path)).code === 404);
  });

  it('is used again when it is small', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 1);
    await cluster.deployment('web', 0);
    const values = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`key-${index}`, 'value']),
    );
    await cluster.scaledObject('web', { triggers: [{ type: 'cron', metadata: values }] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).startsWith('False'));
    await cluster.api.patch(`${PATHS.scaledObjects}/web`, 'merge', {
      spec: { triggers: [cluster.trigger('/queue')] },
    });
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 1);
    expect(await cluster.condition('web', 'Ready')).to.match(/^True/);
  });
});

describe('a ScaledJob that is too large', () => {
  it('has a condition, and can be deleted', async () => {
    await using cluster = await startScaledObjectsCluster();
    await cluster.lead();
    const env = Array.from({ length: 7000 }, (_, index) => ({ name: `KEY_${index}`, value: 'value' }));
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'work', env }] } };
    await cluster.create(PATHS.scaledJobs, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledJob' },
      metadata: { name: 'work', finalizers: ['finalizer.keda.sh'] },
      spec: { jobTargetRef: { template }, triggers: [cluster.trigger('/queue')] },
    });
    const path = `${PATHS.scaledJobs}/work`;
    await cluster.untilMet(async () => {
      const { conditions = [] } = (await cluster.get(path)).status ?? {};
      const message = 'Cannot read ScaledJob: Cannot read object: more than 20000 values';
      return conditions.some((one: { message?: string }) => one.message === message);
    });
    await cluster.api.delete(path);
    await cluster.untilMet(async () => (await cluster.get(path)).code === 404);
  });
});
