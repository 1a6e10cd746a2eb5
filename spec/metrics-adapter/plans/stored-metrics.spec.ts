import { expect } from 'chai';
import type { StatusError } from '#lib/apiserver/http/status-error.ts';
import type { Reading } from '#lib/collection/poll-results.ts';
import type { HpaMetric } from '#lib/metrics-adapter/collected-metrics.ts';
import type { CollectedMetric } from '#lib/metrics-adapter/plans/collected-hpa.ts';
import { storedMetrics } from '#lib/metrics-adapter/plans/stored-metrics.ts';
import type { Sample } from '#lib/sources/sample.ts';

const SERVICE = { group: '', version: 'v1', kind: 'Service', plural: 'services', namespaced: true };
const ROUTE = {
  ...{ group: 'route.example', version: 'v1', kind: 'Route', plural: 'routes', namespaced: false },
};
const ALL = () => true;

describe('storedMetrics, of an External metric', () => {
  it('serves the first sample, with the time of the source, or else of the response', () => {
    const [stored] = store(external(), { samples: [sample(1.5, { zone: 'a' }), sample(2)] }).external ?? [];
    expect(stored).to.deep.include({ namespace: 'default', name: 'rate', labels: { type: 'x' } });
    expect(stored?.values()).to.deep.equal([
      { value: '1500m', takenAtMs: 9_000, windowSeconds: undefined, sourceLabels: { zone: 'a' } },
    ]);
    const timed = { ...sample(3), takenAtMs: 7_000, windowSeconds: 60 };
    expect(store(external(), { samples: [timed] }).external?.[0]?.values()).to.deep.equal([
      { value: '3', takenAtMs: 7_000, windowSeconds: 60, sourceLabels: {} },
    ]);
  });

  it('serves all that do not contradict the selector, where the collector has rows', () => {
    const one = external({ servesAll: true, matchLabels: { type: 'x', zone: 'a' } });
    const samples = [sample(1, { zone: 'a' }), sample(2, { zone: 'b' }), sample(3), sample(4, { team: 'c' })];
    const values = store(one, { samples }).external?.[0]?.values();
    expect(values?.map(({ value }) => value)).to.deep.equal(['1', '3', '4']);
  });

  it('serves nothing once its value counts no more', () => {
    expect(store(external(), undefined).external?.[0]?.values()).to.deep.equal([]);
  });

  it('shares one value with another HPA with the same query', () => {
    const identityOf = (name: string, query: string) => {
      const one = external();
      const metric = { ...one.metric, name };
      return store({ ...one, metric, query: { key: query } } as never).external?.[0]?.identity;
    };
    expect(identityOf('a', 'q')).to.equal(identityOf('a', 'q'));
    expect(identityOf('a', 'q')).to.equal(identityOf('A', 'q'));
    expect(new Set([identityOf('a', 'q'), identityOf('b', 'q'), identityOf('a', 'r')]).size).to.equal(3);
  });

  it('has no object metrics', () => {
    expect(store(external(), { samples: [sample(1)] }).objects).to.deep.equal([]);
  });
});

describe('storedMetrics, of a source that fails', () => {
  const error = new Error('query of up', { cause: new Error('HTTP 422\n') });
  const samples = [sample(1)];
  const failureOf = (read: () => unknown) => {
    try {
      return read();
    } catch (failure) {
      const { code, reason, message } = failure as StatusError;
      return `${code} ${reason} ${message}`;
    }
  };

  it('reports why there is no external value until there is one', () => {
    expect(failureOf(() => store(external(), undefined, { error }).external?.[0]?.values())).to.equal(
      '500 InternalError Cannot collect External/rate: query of up: HTTP 422\\n',
    );
    expect(store(external(), { samples }, { error }).external?.[0]?.values()).to.have.length(1);
  });

  it('reports why no object has a value, for selected objects', () => {
    for (const one of [pods(), object()]) {
      const failed = store(one, undefined, { error }).objects?.[0];
      expect(failed?.failure?.(ALL)?.message).to.match(
        /^Cannot collect (Pods\/rps|Object\/rate): query of up/,
      );
      expect(store(one, { samples }, { error }).objects?.[0]?.failure?.(ALL)).to.equal(undefined);
      expect(store(one).objects?.[0]?.failure?.(ALL)).to.equal(undefined);
    }
    expect(store(object(), undefined, { error }).objects?.[0]?.failure?.(() => false)).to.equal(undefined);
  });
});

describe('storedMetrics, of a Pods metric', () => {
  const samples = ['web-0', 'web-1', 'gone'].map((pod, index) => sample(index, { pod, uid: `uid-${pod}` }));

  it('serves the values of live pods, by the labels that they have now', () => {
    const { external: none, objects } = store(pods(), { samples });
    expect(none).to.deep.equal([]);
    const [stored] = objects ?? [];
    expect(stored).to.deep.include({
      resource: 'pods',
      isNamespaced: true,
      namespace: 'default',
      name: 'rps',
    });
    expect(stored?.labels).to.deep.equal({});
    const requested: unknown[] = [];
    const values = stored?.values((object) => requested.push(object) > 0 && object.name !== 'web-1');
    expect(requested).to.deep.equal(['web-0', 'web-1'].map((name) => ({ name, labels: { pod: name } })));
    expect(values).to.deep.equal([
      {
        ...{ value: '0', takenAtMs: 9_000, windowSeconds: undefined, sourceLabels: undefined },
        object: { group: '', version: 'v1', kind: 'Pod', namespace: 'default', name: 'web-0' },
      },
    ]);
  });

  it('serves nothing without a reading, nor of samples that name no pod', () => {
    expect(store(pods(), undefined).objects?.[0]?.values(ALL)).to.deep.equal([]);
    expect(store(pods(), { samples: [sample(1)] }).objects?.[0]?.values(ALL)).to.deep.equal([]);
  });
});

describe('storedMetrics, of an Object metric', () => {
  it('serves the first sample of the object, if its name and labels are selected', () => {
    const stored = store(object(), { samples: [sample(8, { a: 'b' }), sample(9)] }).objects?.[0];
    expect(stored).to.deep.include({ resource: 'services', isNamespaced: true, namespace: 'default' });
    expect(stored).to.deep.include({ name: 'rate', labels: {} });
    const requested: unknown[] = [];
    expect(stored?.values((one) => requested.push(one) > 0)).to.deep.equal([
      {
        ...{ value: '8', takenAtMs: 9_000, windowSeconds: undefined, sourceLabels: undefined },
        object: { group: '', version: 'v1', kind: 'Service', namespace: 'default', name: 'api' },
      },
    ]);
    expect(requested).to.deep.equal([{ name: 'api', labels: { of: 'Service default/api' } }]);
    expect(stored?.values(() => false)).to.deep.equal([]);
  });

  it('names the group in the path, and a namespace only if there is one', () => {
    const stored = store(object({ resource: ROUTE }), { samples: [sample(8)] }).objects?.[0];
    expect(stored).to.deep.include({ resource: 'routes.route.example', isNamespaced: false, namespace: '' });
    expect(stored?.values(ALL)[0]?.object).to.deep.equal({
      ...{ group: 'route.example', version: 'v1', kind: 'Route', namespace: '', name: 'api' },
    });
  });

  it('divides by the replicas of the target where configured, and serves nothing without replicas', () => {
    const perReplica = object({ perReplica: true });
    const valuesOf = (replicas?: number) =>
      store(perReplica, { samples: [sample(9)] }, { replicas })
        .objects?.[0]?.values(ALL)
        .map(({ value }) => value);
    expect([valuesOf(4), valuesOf(0), valuesOf()]).to.deep.equal([['2250m'], [], []]);
  });

  it('serves nothing without a sample, nor of an object that nothing serves', () => {
    expect(store(object(), { samples: [] }).objects?.[0]?.values(ALL)).to.deep.equal([]);
    expect(store(object(), undefined).objects?.[0]?.values(ALL)).to.deep.equal([]);
    expect(store(object({ resource: undefined }), { samples: [sample(1)] }).objects).to.deep.equal([]);
  });
});

function sample(value: number, labels: Readonly<Record<string, string>> = {}): Sample {
  return { value, labels };
}

type Given = Partial<Omit<CollectedMetric, 'resource'>> & {
  readonly resource?: CollectedMetric['resource'] | undefined;
  readonly matchLabels?: Readonly<Record<string, string>>;
};

function collected(metric: HpaMetric, { matchLabels, ...given }: Given): CollectedMetric {
  return {
    ...{ key: 'k', collector: 'counting', perReplica: false, servesAll: false, notes: [] },
    query: { key: 'q' } as CollectedMetric['query'],
    metric: { ...metric, ...(matchLabels && { matchLabels }) },
    ...given,
  } as CollectedMetric;
}

function external(given: Given = {}) {
  return collected({ type: 'External', name: 'rate', matchLabels: { type: 'x' } }, given);
}

function pods(given: Given = {}) {
  return collected({ type: 'Pods', name: 'rps', matchLabels: {} }, given);
}

function object(given: Given = {}) {
  const describedObject = { apiVersion: 'v1', kind: 'Service', name: 'api' };
  const metric: HpaMetric = { type: 'Object', name: 'rate', matchLabels: {}, describedObject };
  return collected(metric, { resource: SERVICE, ...given });
}

/** Stores a source's result as one metric of `default/web`. */
function store(
  one: CollectedMetric,
  reported?: { readonly samples: readonly Sample[] },
  { replicas, error }: { readonly replicas?: number | undefined; readonly error?: Error } = {},
) {
  const hpa = { namespace: 'default', name: 'web', replicas };
  const reading: Reading | undefined = reported && ({ notes: [], receivedAtMs: 9_000, ...reported } as never);
  return storedMetrics(
    'default/web',
    { hpa: hpa as never, metrics: [one], problems: [] },
    {
      collection: {
        reading: (owner, name) => (owner === 'default/web' && name === one.key ? reading : undefined),
        failure: (owner, name) =>
          owner === 'default/web' && name === one.key && error ? { error, sinceMs: 0, count: 1 } : undefined,
      },
      pods: {
        live: (namespace, { name, uid }) =>
          namespace === 'default' && uid === `uid-${name}` && name !== 'gone'
            ? { ...{ namespace, name, uid, ip: undefined, readySinceMs: 0 }, labels: { pod: name } }
            : undefined,
      },
      objectLabels: { labelsOf: ({ kind, namespace, name }) => ({ of: `${kind} ${namespace}/${name}` }) },
    },
  );
}
