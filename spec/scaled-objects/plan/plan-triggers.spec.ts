import { expect } from 'chai';
import { z } from 'zod';
import { planTriggers } from '#lib/scaled-objects/plan/plan-triggers.ts';
import type { TriggerTypes } from '#lib/scaled-objects/triggers/trigger-types.ts';

describe('planTriggers', () => {
  it('works the environment of each container out once for all triggers and parameters', async () => {
    const asked: (string | undefined)[] = [];
    const names = ['', 'side', 'side', ''];
    const planned = await planTriggers(
      [0, 1, 2].map(() => ({
        ...{ type: 'any', metadata: { passwordFromEnv: 'A' }, authenticationRef: { name: 'login' } },
      })),
      {
        ...{ objectKind: 'ScaledObject', objectName: 'web', namespace: 'default', hasFormula: false },
        types: {
          get: () => ({
            ...{ parameters: z.object({}), takesAnyKey: true },
            plan: async () => ({ kind: 'external', metrics: [] }),
          }),
        } as unknown as TriggerTypes,
        async environment(containerName) {
          asked.push(containerName);
          return { A: 'value' };
        },
        signal: new AbortController().signal,
        reader: {
          clusterNamespace: 'default',
          authentication: () => ({
            metadata: { name: 'login' },
            spec: {
              env: names.map((name, index) => ({
                ...{ parameter: `p${index}`, name: 'A' },
                ...(name !== '' && { containerName: name }),
              })),
            },
          }),
          secretData: async () => undefined,
          configMapData: async () => undefined,
          serviceAccountToken: async () => '',
          file: async () => ({}),
        },
      },
    );
    expect(planned.map(({ error }) => error)).to.deep.equal([undefined, undefined, undefined]);
    expect(asked).to.deep.equal([undefined, 'side']);
  });
});
