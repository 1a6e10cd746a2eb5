import { expect } from 'chai';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';

const POLLING =
  'PollingInterval is configured but is not relevant. PollingInterval is only relevant when minReplicaCount = 0 or idleReplicaCount = 0 or useCachedMetrics is enabled';
const COOLDOWN =
  'CooldownPeriod is configured but is not relevant. CooldownPeriod is only relevant when minReplicaCount = 0 or idleReplicaCount = 0';

const TRIGGERS = [{ type: 'cron', name: 'a', metadata: {} }];
const compiled = (spec: object = {}, metadata: object = {}) =>
  compileScaledObject({
    metadata: { namespace: 'shop', name: 'web', uid: 'u', generation: 1, ...metadata },
    spec: { scaleTargetRef: { name: 'api' }, triggers: TRIGGERS, ...spec },
  });

describe('compileScaledObject', () => {
  it('has the defaults of omitted fields', () => {
    expect(compiled()).to.deep.include({
      ...{ uid: 'u', generation: 1, namespace: 'shop', name: 'web', createdAt: '' },
      ...{ hpaName: 'keda-hpa-web', hpaKey: 'shop/keda-hpa-web', givenHpaName: undefined },
      ...{ pollingMs: 30_000, cooldownMs: 300_000, initialCooldownMs: 0 },
      bounds: { min: undefined, idle: undefined, max: 100, hpaMin: 1 },
      target: {
        ref: { namespace: 'shop', apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' },
        ...{ key: 'Deployment shop/api', kindText: 'apps/v1.Deployment', isWorkload: true },
      },
      ...{ hasFormula: false, modifiers: undefined, modifiersError: undefined },
      ...{ fallback: undefined, needsReplicas: false, isResourcesOnly: false },
    });
  });

  it('has what the spec gives', () => {
    const found = compiled({
      scaleTargetRef: { apiVersion: 'v1', kind: 'ReplicationController', name: 'rc' },
      ...{ pollingInterval: 5, cooldownPeriod: 6, initialCooldownPeriod: 7 },
      ...{ minReplicaCount: 0, idleReplicaCount: 0, maxReplicaCount: 3 },
      advanced: { horizontalPodAutoscalerConfig: { name: 'own' } },
    });
    expect(found).to.deep.include({
      ...{ hpaName: 'own', hpaKey: 'shop/own', givenHpaName: 'own' },
      ...{ pollingMs: 5000, cooldownMs: 6000, initialCooldownMs: 7000 },
      bounds: { min: 0, idle: 0, max: 3, hpaMin: 1 },
    });
    expect(found.target).to.deep.include({ kindText: '/v1.ReplicationController', isWorkload: false });
  });

  it('distinguishes triggers that the HPA controller reads', () => {
    const isResourcesOnly = (...types: readonly string[]) =>
      compiled({ triggers: types.map((type) => ({ type, metadata: {} })) }).isResourcesOnly;
    expect([isResourcesOnly('cpu', 'memory'), isResourcesOnly('cpu', 'cron')]).to.deep.equal([true, false]);
  });

  it('names each type of trigger and each authentication once', () => {
    const trigger = (type: string, name?: string) => ({
      ...{ type, metadata: {} },
      ...(name && { authenticationRef: { name } }),
    });
    const triggers = [trigger('redis', 'b'), trigger('cron'), trigger('redis', 'b'), trigger('cron', 'a')];
    expect(compiled({ triggers }).statusFields).to.deep.equal({
      ...{ triggersTypes: 'redis,cron', authenticationsTypes: 'b,a' },
    });
  });

  it('needs the number of replicas only for a fallback that depends on it', () => {
    const needs = (behavior?: string) =>
      compiled({
        fallback: { failureThreshold: 1, replicas: 1, ...(behavior !== undefined && { behavior }) },
      }).needsReplicas;
    expect([undefined, '', 'static', 'scalingModifiers'].map(needs)).to.deep.equal(Array(4).fill(false));
    for (const behavior of ['currentReplicas', 'currentReplicasIfHigher', 'currentReplicasIfLower'])
      expect(needs(behavior), behavior).to.equal(true);
  });

  it('has no fallback with a number below zero', () => {
    const fallback = (failureThreshold: number, replicas: number) =>
      compiled({ fallback: { failureThreshold, replicas } }).fallback;
    expect([fallback(-1, 1), fallback(1, -1)]).to.deep.equal([undefined, undefined]);
    expect(fallback(0, 0)).to.deep.equal({ failureThreshold: 0, replicas: 0 });
  });

  it('has the reason why a formula cannot be used', () => {
    const { modifiers, modifiersError, hasFormula } = compiled({
      advanced: { scalingModifiers: { formula: 'a *', target: '1' } },
    });
    expect([modifiers, hasFormula]).to.deep.equal([undefined, true]);
    expect(modifiersError?.message).to.match(/^error trying to compile custom formula: /);
  });

  describe('ineffectiveSettings', () => {
    for (const [spec, reported] of [
      [{ minReplicaCount: 1, pollingInterval: 10, cooldownPeriod: 10 }, [POLLING, COOLDOWN]],
      [{ minReplicaCount: 2, idleReplicaCount: 1, pollingInterval: 10 }, [POLLING]],
      [{ minReplicaCount: 2, idleReplicaCount: 0, pollingInterval: 10, cooldownPeriod: 10 }, []],
      [{ pollingInterval: 10, cooldownPeriod: 10 }, []],
      [{ minReplicaCount: 1, pollingInterval: 10, triggers: [{ useCachedMetrics: true }] }, []],
      [{ minReplicaCount: 1 }, []],
    ] as const)
      it(`has ${reported.length} of ${JSON.stringify(spec)}`, () => {
        const object = {
          metadata: { name: 'web' },
          spec: { scaleTargetRef: { name: 'web' }, triggers: [], ...spec },
        };
        expect(compileScaledObject(object as never).ineffectiveSettings).to.deep.equal(reported);
      });
  });
});
