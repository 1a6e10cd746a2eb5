import { expect } from 'chai';
import { ObjectLabels } from '#lib/metrics-adapter/targets/object-labels.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const MINUTE_MS = 60_000;
const resource = {
  ...{ group: 'networking.k8s.io', version: 'v1', kind: 'Ingress', plural: 'ingresses', namespaced: true },
};

describe('ObjectLabels', () => {
  it('reads the labels of an object once in five minutes', async () => {
    const { labels, clock, requested, refresh } = setUp({ metadata: { labels: { team: 'a' } } });
    expect(labels.labelsOf(ingress('web'))).to.equal(undefined);
    for (let minute = 0; minute < 5; minute++) {
      await refresh('web');
      await clock.advance(MINUTE_MS);
    }
    expect(requested).to.deep.equal(['/apis/networking.k8s.io/v1/namespaces/default/ingresses/web']);
    expect(labels.labelsOf(ingress('web'))).to.deep.equal({ team: 'a' });
    for (const other of [{ name: 'api' }, { namespace: 'other' }, { kind: 'RouteGroup' }, { group: '' }])
      expect(labels.labelsOf({ ...ingress('web'), ...other })).to.equal(undefined);
    await refresh('web');
    expect(requested).to.have.lengthOf(2);
  });

  for (const none of [{}, { labels: null }])
    it(`caches that an object has no labels, for ${JSON.stringify(none)}`, async () => {
      const { labels, refresh } = setUp({ metadata: none });
      await refresh('web');
      expect(labels.labelsOf(ingress('web'))).to.deep.equal({});
    });

  it('has no labels of an unreadable object, retries in a minute, and warns once', async () => {
    const { labels, clock, requested, refresh, served, warnings } = setUp(new Error('forbidden'));
    await refresh('web');
    await refresh('web');
    await refresh('api');
    expect(requested).to.have.lengthOf(2);
    expect(warnings()).to.deep.equal([{ object: 'Ingress default/web', error: 'forbidden' }]);
    await clock.advance(MINUTE_MS);
    served.object = { metadata: { labels: { team: 'a' } } };
    await refresh('web');
    expect(labels.labelsOf(ingress('web'))).to.deep.equal({ team: 'a' });
    expect(labels.labelsOf(ingress('api'))).to.equal(undefined);
    served.object = new Error('forbidden again');
    await refresh('api');
    expect(warnings().at(-1)).to.deep.equal({ object: 'Ingress default/api', error: 'forbidden again' });
  });

  it('has no labels of an object with more than 16 KiB of them', async () => {
    const { labels, refresh, served, warnings } = setUp({ metadata: { labels: { a: 'v'.repeat(16_351) } } });
    await refresh('web');
    expect(labels.labelsOf(ingress('web'))?.a).to.have.lengthOf(16_351);
    served.object = { metadata: { labels: { a: 'v'.repeat(16_352) } } };
    await refresh('api');
    expect(labels.labelsOf(ingress('api'))).to.equal(undefined);
    expect(warnings()).to.deep.equal([
      { object: 'Ingress default/api', error: 'it has labels of more than 16 KiB' },
    ]);
  });

  it('evicts labels that can no longer be read', async () => {
    const { labels, clock, refresh, served } = setUp({ metadata: { labels: { team: 'a' } } });
    await refresh('web');
    served.object = { metadata: { labels: 'none' } };
    await clock.advance(5 * MINUTE_MS);
    await refresh('web');
    expect(labels.labelsOf(ingress('web'))).to.equal(undefined);
  });

  it('ends with the signal, without a failure of the object', async () => {
    const { refresh, controller, warnings } = setUp(new Error('aborted'));
    controller.abort(new Error('stopping'));
    expect(await errorOf(refresh('web'))).to.equal('stopping');
    expect(warnings()).to.deep.equal([]);
  });

  it('passes the signal to the request', async () => {
    const { refresh, controller, signals } = setUp({ metadata: {} });
    await refresh('web');
    expect(signals).to.deep.equal([controller.signal]);
  });

  it('evicts objects without requests', async () => {
    const { labels, refresh } = setUp({ metadata: { labels: { team: 'a' } } });
    await refresh('web');
    await refresh('api');
    labels.retainOnly([ingress('api')]);
    expect(labels.labelsOf(ingress('web'))).to.equal(undefined);
    expect(labels.labelsOf(ingress('api'))).to.deep.equal({ team: 'a' });
  });
});

function ingress(name: string) {
  return { group: 'networking.k8s.io', kind: 'Ingress', namespace: 'default', name };
}

/** Labels read from an API server that responds with an object, or fails. */
function setUp(object: object | Error) {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const controller = new AbortController();
  const served = { object };
  const requested: string[] = [];
  const signals: unknown[] = [];
  const labels = new ObjectLabels({
    clock,
    logger,
    client: {
      async getJson(path: string, options?: { readonly signal?: AbortSignal | undefined }): Promise<unknown> {
        requested.push(path);
        signals.push(options?.signal);
        if (served.object instanceof Error) throw served.object;
        return served.object;
      },
    },
  });
  return {
    ...{ labels, clock, requested, served, signals, controller },
    refresh: (name: string) => labels.refresh(ingress(name), { resource, signal: controller.signal }),
    warnings: () => logger.lines.map(({ fields }) => fields),
  };
}
