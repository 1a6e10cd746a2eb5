import { expect } from 'chai';
import { z } from 'zod';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { prepareTriggers } from '#lib/scaled-objects/preparation/prepare-triggers.ts';
import type { TriggerTypes } from '#lib/scaled-objects/triggers/trigger-registry.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('prepareTriggers', () => {
  it('plans each trigger in an iteration of the event loop of its own', async () => {
    const iterations = new Set<number>();
    const triggers = Array.from({ length: 100 }, () => ({ type: 'any', metadata: {} }));
    const share = new EventLoopShare(new ManualClock());
    const plan = (objectName: string) =>
      prepareTriggers(triggers, {
        ...{ objectKind: 'ScaledObject', objectName, namespace: 'default', hasFormula: false, share },
        types: {
          get: () => ({
            ...{ parameters: z.object({}), takesAnyKey: true, scalerName: () => 'any' },
            async plan() {
              iterations.add(performance.nodeTiming.uvMetricsInfo.loopCount);
              return { kind: 'external', metrics: [] };
            },
          }),
        } as unknown as TriggerTypes,
        environment: async () => ({}),
        reader: {} as never,
        signal: new AbortController().signal,
      });
    await Promise.all([plan('a'), plan('b')]);
    expect(iterations.size).to.equal(200);
  });

  it('prepares 500 metrics of one object, and rejects the trigger that exceeds them', async () => {
    const plan = async (...counts: readonly number[]) => {
      const planned = await prepareTriggers(
        counts.map((count) => ({ type: 'any', metadata: { count: `${count}` } })),
        {
          ...{ objectKind: 'ScaledJob', objectName: 'web', namespace: 'default', hasFormula: false },
          types: {
            get: () => ({
              ...{ parameters: z.object({}), takesAnyKey: true, scalerName: () => 'any' },
              plan: ({ metadata }: { metadata: { count: string } }) => ({
                kind: 'external',
                push: {},
                metrics: Array.from({ length: Number(metadata.count) }, (_, index) => ({
                  ...{ name: `m${index}`, query: {} },
                })),
              }),
            }),
          } as unknown as TriggerTypes,
          environment: async () => ({}),
          reader: {} as never,
          signal: new AbortController().signal,
          share: new EventLoopShare(new ManualClock()),
        },
      );
      return planned.map(({ metrics, push, error }) => [metrics.length, push !== undefined, error?.message]);
    };
    expect(await plan(499, 1)).to.deep.equal([
      [499, true, undefined],
      [1, true, undefined],
    ]);
    expect(await plan(499, 2, 1)).to.deep.equal([
      [499, true, undefined],
      [0, false, 'ScaledJob web has more than 500 metrics, including those of trigger 1'],
      [1, true, undefined],
    ]);
    expect(await plan(501)).to.deep.equal([
      [0, false, 'ScaledJob web has more than 500 metrics, including those of trigger 0'],
    ]);
    expect(await plan(...Array<number>(101).fill(1))).to.deep.equal([]);
  });

  it('names missing Secrets, ConfigMaps and keys of usable and unusable triggers', async () => {
    const plan = async (isNeeded: boolean, restrictsSecrets = false, clusterNamespace = 'kube-system') => {
      const [planned] = await prepareTriggers(
        [{ type: 'any', metadata: {}, authenticationRef: { name: 'ta' } }],
        {
          ...{ objectKind: 'ScaledObject', objectName: 'web', namespace: 'default', hasFormula: false },
          types: {
            get: () => ({
              ...{ parameters: z.object({}), takesAnyKey: true, scalerName: () => 'any' },
              async plan() {
                if (isNeeded) throw new Error('missing required parameter "bearerToken" in [authParams]');
                return { kind: 'external', metrics: [] };
              },
            }),
          } as unknown as TriggerTypes,
          environment: async () => ({}),
          signal: new AbortController().signal,
          share: new EventLoopShare(new ManualClock()),
          reader: {
            ...{ clusterNamespace, restrictsSecrets },
            authentication: () => ({
              metadata: { name: 'ta' },
              spec: {
                configMapTargetRef: [{ parameter: 'user', name: 'names', key: 'user' }],
                secretTargetRef: [
                  { parameter: 'password', name: 'missing-secret', key: 'b' },
                  { parameter: 'ca', name: 'login', key: 'toString' },
                ],
              },
            }),
            secretData: async (_, name) => (name === 'login' ? { empty: '' } : undefined),
            configMapData: async () => undefined,
            serviceAccountToken: async () => '',
            file: async () => ({}),
          },
        },
      );
      return planned;
    };
    const missing = [
      'TriggerAuthentication "ta": ConfigMap default/names not found',
      'TriggerAuthentication "ta": Secret default/missing-secret not found',
      'TriggerAuthentication "ta": Secret default/login has no key "toString"',
    ];
    expect(await plan(false)).to.deep.include({ missing, error: undefined });
    expect((await plan(true))?.error?.message).to.equal(
      `missing required parameter "bearerToken" in [authParams]; ${missing.join('; ')}`,
    );
    expect((await plan(false, true))?.missing[1]).to.equal(
      'TriggerAuthentication "ta": Secret default/missing-secret may not be read: --restrict-secret-access allows only Secrets of namespace kube-system',
    );
    expect((await plan(false, true))?.missing[0]).to.equal(missing[0]); // the reason is the restriction of Secrets
    expect((await plan(false, true, 'default'))?.missing).to.deep.equal(missing);
  });
});
