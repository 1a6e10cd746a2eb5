import { expect } from 'chai';
import type { ScaledObject } from '#lib/scaled-objects/api/scaled-object.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import {
  checkScaledObject,
  type ValidationContext,
} from '#lib/scaled-objects/validation/validate-scaled-object.ts';

const TARGET = "ScaledObject doesn't have correct scaleTargetRef specification: ";
const REPLICAS = "ScaledObject doesn't have correct Idle/Min/Max Replica Counts specification: ";
const TRIGGERS = "ScaledObject doesn't have correct triggers specification: ";
const HPA = 'failed to ensure HPA is correctly created for ScaledObject: ';
const CPU = { type: 'cpu', metadata: {} };
const CRON = { type: 'cron', metadata: {} };
const MODIFIERS = (more: object) => ({ advanced: { scalingModifiers: more } });
const NAMED = { ...CRON, name: 'a' };

describe('checkScaledObject', () => {
  for (const [spec, message] of [
    [
      { minReplicaCount: 5, maxReplicaCount: 4 },
      `${REPLICAS}MinReplicaCount=5 must be less than MaxReplicaCount=4`,
    ],
    [{ minReplicaCount: 101 }, `${REPLICAS}MinReplicaCount=101 must be less than MaxReplicaCount=100`],
    [
      { idleReplicaCount: 2, minReplicaCount: 2 },
      `${REPLICAS}IdleReplicaCount=2 must be less than MinReplicaCount=2`,
    ],
    [{ idleReplicaCount: 0 }, `${REPLICAS}IdleReplicaCount=0 must be less than MinReplicaCount=0`],
    [{ idleReplicaCount: 0, minReplicaCount: 0 }, undefined],
    [{ idleReplicaCount: 1, minReplicaCount: 2 }, undefined],
    [{ triggers: [] }, `${TRIGGERS}no triggers defined in the ScaledObject/ScaledJob`],
    [{ triggers: Array(100).fill(CRON) }, undefined],
    [
      { triggers: Array(101).fill(CRON) },
      `${TRIGGERS}the ScaledObject/ScaledJob has 101 triggers, maximum allowed is 100`,
    ],
    [
      { triggers: [NAMED, NAMED] },
      `${TRIGGERS}triggerName "a" is defined multiple times in the ScaledObject/ScaledJob, but it must be unique`,
    ],
    [
      { triggers: [{ ...CRON, useCachedMetrics: true }] },
      `${TRIGGERS}property "useCachedMetrics" is not supported for "cron" scaler`,
    ],
    [
      { triggers: [CPU] },
      `${TRIGGERS}scaledobject has only cpu/memory triggers AND minReplica is 0 (scale to zero doesn't work in this case)`,
    ],
    [{ triggers: [CPU], minReplicaCount: 1 }, undefined],
    [
      { fallback: { failureThreshold: -1, replicas: 2 } },
      `${TRIGGERS}FailureThreshold=-1 & Replicas=2 must both be greater than or equal to 0`,
    ],
    [
      { triggers: [CPU], minReplicaCount: 1, fallback: { failureThreshold: 1, replicas: 2 } },
      `${TRIGGERS}at least one trigger (that is not cpu or memory) has to have the \`AverageValue\` type for the fallback to be enabled`,
    ],
    [
      { fallback: { failureThreshold: 1, replicas: 2, behavior: 'scalingModifiers' } },
      `${TRIGGERS}scalingModifiers fallback behavior requires scalingModifiers.formula to be defined`,
    ],
    [MODIFIERS({ target: '1' }), `${TRIGGERS}error ScalingModifiers.Formula is mandatory`],
    [
      { triggers: [NAMED], ...MODIFIERS({ formula: 'a' }) },
      `${TRIGGERS}formula is given but target is empty`,
    ],
    [
      { triggers: [CRON], ...MODIFIERS({ formula: 'a', target: '1' }) },
      `${TRIGGERS}trigger of type cron has no name but it's required for a formula`,
    ],
    [
      { triggers: [NAMED], ...MODIFIERS({ formula: 'b', target: '1' }) },
      `${TRIGGERS}error trying to run custom formula: unknown name b`,
    ],
    [{ triggers: [NAMED], ...MODIFIERS({ formula: 'a', target: '2.5' }) }, undefined],
    [
      { advanced: { horizontalPodAutoscalerConfig: { name: 'h'.repeat(64) } } },
      `${HPA}HPA name length is 64, maximum allowed is 63`,
    ],
  ] as const)
    it(`${message ? 'rejects' : 'allows'} ${JSON.stringify(spec).slice(0, 90)}`, () => {
      expect(failureOf(object(spec))).to.equal(message);
    });

  it('prefers the older of two objects for the target, and for the name of an HPA', () => {
    const older = {
      ...object({}, 'older'),
      metadata: { name: 'older', uid: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    };
    const younger = object({});
    expect(failureOf(younger, { objects: [compileScaledObject(older)] })).to.equal(
      `${TARGET}the workload 'web' of type 'apps/v1.Deployment' is already managed by the ScaledObject 'older'`,
    );
    expect(failureOf(older as ScaledObject, { objects: [compileScaledObject(younger)] })).to.equal(undefined);
    const elsewhere = { ...older, spec: { ...older.spec, scaleTargetRef: { name: 'other' } } };
    const named = { ...elsewhere, spec: { ...elsewhere.spec, ...hpaNamed('keda-hpa-younger') } };
    expect(failureOf(younger, { objects: [compileScaledObject(named)] })).to.equal(
      `${HPA}the HPA 'keda-hpa-younger' is already managed by the ScaledObject 'older'`,
    );
  });

  it('rejects the target of another HPA, unless its annotation allows that', () => {
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    const hpa = { metadata: { name: 'h' }, spec: { scaleTargetRef } } as never;
    expect(failureOf(object({}), { hpas: [hpa] })).to.equal(
      `${HPA}the workload 'web' of type 'apps/v1.Deployment' is already managed by the hpa 'h'`,
    );
    const annotations = { 'validations.keda.sh/hpa-ownership': 'false' };
    const careless = { metadata: { name: 'h', annotations }, spec: { scaleTargetRef } } as never;
    expect(failureOf(object({}), { hpas: [careless] })).to.equal(undefined);
  });

  it('rejects the name of an HPA that scales another workload, unless an annotation of either allows it', () => {
    const hpa = (annotations: object, owner: object = {}) =>
      ({
        metadata: { name: 'h', annotations, ownerReferences: [{ controller: true, ...owner }] },
        spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop' } },
      }) as never;
    const one = object(hpaNamed('h'));
    expect(failureOf(one, { hpas: [hpa({})] })).to.equal(
      `${HPA}the HPA 'h' already scales another workload, 'shop' of type 'apps/v1.Deployment'`,
    );
    const careless = hpa({ 'validations.keda.sh/hpa-ownership': 'false' });
    expect(failureOf(one, { hpas: [careless] })).to.equal(undefined);
    const own = hpa({}, { kind: 'ScaledObject', name: 'younger' }); // it had another target before
    expect(failureOf(one, { hpas: [own] })).to.equal(undefined);
    const annotations = { 'scaledobject.keda.sh/transfer-hpa-ownership': 'true' };
    const taking = { ...one, metadata: { ...one.metadata, annotations } };
    expect(failureOf(taking, { hpas: [hpa({})] })).to.equal(undefined);
    expect(failureOf(object({}), { hpas: [hpa({})] })).to.equal(undefined);
  });

  it('requires requests of each container whose CPU counts, or a default of the namespace', () => {
    const cpu = object({ triggers: [CPU], minReplicaCount: 1 });
    const containers = [
      { name: 'app', resources: ['cpu'] },
      { name: 'sidecar', resources: ['memory'] },
    ];
    const workload = { replicas: 1, readyReplicas: 1, containers };
    const message = `${TRIGGERS}the scaledobject has a cpu trigger but the container sidecar doesn't have the cpu request defined`;
    expect(failureOf(cpu, { workload })).to.equal(message);
    expect(failureOf(cpu, { workload, limitedByDefault: ['cpu'] })).to.equal(undefined);
    const one = object({ triggers: [{ ...CPU, metadata: { containerName: 'app' } }], minReplicaCount: 1 });
    expect(failureOf(one, { workload })).to.equal(undefined);
  });
});

function object(spec: object, name = 'younger'): ScaledObject {
  const metadata = { name, namespace: 'default', uid: '2', creationTimestamp: '2026-01-02T00:00:00Z' };
  return { metadata, spec: { scaleTargetRef: { name: 'web' }, triggers: [CRON], ...spec } };
}

function hpaNamed(name: string): object {
  return { advanced: { horizontalPodAutoscalerConfig: { name } } };
}

function failureOf(one: ScaledObject, more: Partial<ValidationContext> = {}): string | undefined {
  try {
    const nothing = { objects: [], hpas: [], workload: undefined, limitedByDefault: [] };
    checkScaledObject(one, { prepared: compileScaledObject(one), ...nothing, ...more });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
