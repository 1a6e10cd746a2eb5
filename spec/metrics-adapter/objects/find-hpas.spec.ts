import { expect } from 'chai';
import type { KindReference } from '#lib/kubernetes/client/rest-mapper.ts';
import { findHpas } from '#lib/metrics-adapter/objects/find-hpas.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const V2 = { group: 'autoscaling', version: 'v2', kind: 'a', plural: 'b', namespaced: true };

describe('findHpas', () => {
  for (const [served, found] of [
    [['autoscaling/v1', 'autoscaling/v2beta2', 'autoscaling/v2'], 'autoscaling/v2'],
    [['autoscaling/v1', 'autoscaling/v2beta1', 'autoscaling/v2beta2'], 'autoscaling/v2beta2'],
  ] as const)
    it(`takes HPAs of ${found} where ${served.join(', ')} are served`, async () => {
      const mapper = {
        async findExact({ apiVersion, kind }: KindReference) {
          const [group = '', version = ''] = apiVersion.split('/');
          const isServed = served.some((one) => one === apiVersion);
          return isServed
            ? { group, version, kind, plural: 'horizontalpodautoscalers', namespaced: true }
            : undefined;
        },
      };
      const { signal } = new AbortController();
      const options = { mapper, clock: new ManualClock(), logger: new RecordingLogger(), signal };
      const { group, version, kind } = await findHpas(options);
      expect([`${group}/${version}`, kind]).to.deep.equal([found, 'HorizontalPodAutoscaler']);
    });

  it('goes on asking where the API server does not tell or has none, and says each of both once', async () => {
    const [clock, logger] = [new ManualClock(), new RecordingLogger()];
    const { signal } = new AbortController();
    let says: 'nothing' | 'none' | 'v2' = 'nothing';
    const mapper = {
      async findExact({ apiVersion }: { readonly apiVersion: string }) {
        if (says === 'nothing') throw new Error('it is down');
        return says === 'v2' && apiVersion === 'autoscaling/v2' ? V2 : undefined;
      },
    };
    const finding = findHpas({ mapper, clock, logger, signal });
    await clock.advance(30_000);
    says = 'none';
    await clock.advance(30_000);
    says = 'v2';
    await clock.advance(10_000);
    expect(await finding).to.equal(V2);
    expect(logger.lines.map(({ message }) => message)).to.deep.equal([
      'Cannot find out in which version HPAs are served; it is tried again',
      'The API server serves no HPAs that know metrics; they are waited for',
    ]);
  });
});
