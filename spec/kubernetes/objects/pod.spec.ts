import { expect } from 'chai';
import * as z from 'zod';
import { POD_INDEXES, PODS, SelectionError, scaledPod, selectPods } from '#lib/kubernetes/objects/pod.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { expectSameAsSchema } from '#spec/support/mutated-objects.ts';

const SINCE_MS = Date.UTC(2026, 0, 1);
const POD = {
  metadata: { namespace: 'default', name: 'web-0', uid: 'u', labels: { app: 'web' } },
  spec: { containers: [{ name: 'app', resources: { requests: { cpu: '1' } } }] },
  status: {
    ...{ phase: 'Running', podIP: '10.0.0.7', startTime: '2026-01-01T00:00:00Z' },
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
  },
};
const COMMON = {
  ...{ namespace: 'default', name: 'web-0', labels: { app: 'web' }, phase: 'Running', isDeleting: false },
  ready: { status: 'True', changedAtMs: SINCE_MS },
  ...{ initContainers: [], podRequests: {}, overhead: {}, omitted: undefined },
};

describe('PODS', () => {
  it('are decoded with what their users need', () => {
    const requests = { containers: [{ name: 'app', requests: { cpu: '1' } }], startedAtMs: SINCE_MS };
    const address = { uid: 'u', ip: '10.0.0.7' };
    const neither = { containers: [], startedAtMs: undefined, uid: '', ip: undefined };
    const decoded = (...needs: readonly ('requests' | 'address')[][]) =>
      PODS.decoder(needs.map((fields) => ({ fields })))(POD);
    expect(decoded()).to.deep.equal({ ...COMMON, ...neither });
    expect(decoded(['requests'])).to.deep.equal({ ...COMMON, ...neither, ...requests });
    expect(decoded(['address'])).to.deep.equal({ ...COMMON, ...neither, ...address });
    expect(decoded(['requests'], ['address'])).to.deep.equal({ ...COMMON, ...requests, ...address });
  });

  describe('beyond their bound', () => {
    const decode = PODS.decoder([{ fields: ['requests'] }]);
    const metadata = (labels: object) => ({ ...POD.metadata, labels });
    const isOmitted = (changes: object) => decode({ ...POD, ...changes }).omitted !== undefined;
    /** Labels of one character each that fill a pod up to a number of bytes. */
    const labelsOf = (bytes: number) => ({
      a: 'v'.repeat(bytes - 1 - 32 - ('app'.length + 32) - ('cpu1'.length + 32)),
    });

    it('are cached without labels and requests, and say so', () => {
      const pod = decode({ ...POD, metadata: metadata({ app: 'v'.repeat(16_384) }) });
      expect(pod).to.deep.equal({
        ...{ ...COMMON, labels: {}, containers: [], startedAtMs: SINCE_MS, uid: '', ip: undefined },
        omitted: 'labels and requests of more than 16 KiB',
      });
    });

    it('include labels up to the bound', () => {
      expect(isOmitted({ metadata: metadata(labelsOf(16_384)) })).to.equal(false);
      expect(isOmitted({ metadata: metadata(labelsOf(16_385)) })).to.equal(true);
    });

    const many = <T>(make: (index: number) => T) => Array.from({ length: 600 }, (_, index) => make(index));
    const resources = Object.fromEntries(many((index) => [`r${index}`, '1']));
    for (const [what, changes] of [
      ['many labels', { metadata: metadata(Object.fromEntries(many((index) => [`l${index}`, '']))) }],
      ['many containers', { spec: { containers: many((index) => ({ name: `c${index}` })) } }],
      ['many init containers', { spec: { initContainers: many((index) => ({ name: `c${index}` })) } }],
      ['many requests', { spec: { containers: [{ name: 'a', resources: { requests: resources } }] } }],
      ['many requests of the pod', { spec: { resources: { requests: resources } } }],
      ['much overhead', { spec: { overhead: resources } }],
    ] as const)
      it(`count ${what}`, () => {
        expect(isOmitted(changes)).to.equal(true);
      });
  });

  it('take nothing for a pod that has no name', () => {
    expect(() => PODS.decoder([])({ metadata: {} })).to.throw('Cannot read a pod: it has no name');
  });
});

const text = z.string().nullish();
const texts = z.record(z.string(), z.string()).nullish();
const resources = z.object({ requests: texts }).nullish();
const container = { name: z.string(), resources };
const CONDITION = z.union([
  z.object({ type: z.literal('Ready'), status: z.string(), lastTransitionTime: text }),
  z.object({ type: z.string().refine((type) => type !== 'Ready') }),
]);

/** A schema of the fields that are read of a pod. */
const POD_SCHEMA = z.object({
  metadata: z.object({
    ...{ name: z.string().min(1), namespace: text, uid: text },
    ...{ labels: texts, deletionTimestamp: text },
  }),
  spec: z.object({
    containers: z.array(z.object(container)).nullish(),
    initContainers: z.array(z.object({ ...container, restartPolicy: text })).nullish(),
    ...{ resources, overhead: texts },
  }),
  status: z
    .object({ phase: text, podIP: text, startTime: text, conditions: z.array(CONDITION).nullish() })
    .nullish(),
});
const POD_OF_ALL_FIELDS = {
  metadata: { ...POD.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  spec: {
    ...POD.spec,
    initContainers: [{ name: 'proxy', restartPolicy: 'Always', resources: { requests: { cpu: '1' } } }],
    ...{ resources: { requests: { cpu: '2' } }, overhead: { memory: '1Mi' } },
  },
  status: { ...POD.status, conditions: [{ type: 'Initialized' }, ...POD.status.conditions] },
};

describe('decoders of pods', () => {
  it('take and refuse the same pods as a schema', () => {
    const decode = PODS.decoder([{ fields: ['requests', 'address'] }]);
    expectSameAsSchema(decode, POD_SCHEMA, [POD, POD_OF_ALL_FIELDS]);
  });

  it('take and refuse the same pods as a schema without what no user needs', () => {
    const { metadata, status } = POD_SCHEMA.shape;
    const schema = z.object({
      metadata: metadata.omit({ uid: true }),
      status: status.unwrap().unwrap().omit({ podIP: true }).nullish(),
    });
    expectSameAsSchema(PODS.decoder([]), schema, [POD, POD_OF_ALL_FIELDS]);
  });

  for (const [changes, message] of [
    [{ spec: undefined }, 'spec is not an object'],
    [{ spec: { containers: {} } }, 'spec.containers is not a list'],
    [{ spec: { containers: [{}] } }, 'spec.containers[].name is not a string'],
    [
      { spec: { containers: [{ name: 'a', resources: { requests: { cpu: 1 } } }] } },
      'a value of spec.containers[].resources.requests is not a string',
    ],
    [{ status: { conditions: [null] } }, 'status.conditions[] is not an object'],
    [{ metadata: { name: 'a', labels: { app: null } } }, 'a value of metadata.labels is not a string'],
  ] as const)
    it(`refuse a pod where ${message}`, () => {
      expect(() => scaledPod({ ...POD, ...changes })).to.throw(`Cannot read a pod: ${message}`);
    });
});

describe('POD_INDEXES', () => {
  it('find a pod by its namespace, and by that with each of its labels', () => {
    const found = { namespace: 'default', labels: { app: 'web', tier: 'front' } };
    expect(POD_INDEXES.namespace(found)).to.deep.equal(['default']);
    expect(POD_INDEXES.omitted(found)).to.deep.equal([]);
    expect(POD_INDEXES.labels(found)).to.deep.equal(['default\napp=web', 'default\ntier=front']);
  });
});

describe('selectPods', () => {
  const POD_A = { name: 'a', labels: { app: 'web', tier: 'front' } };

  for (const [selector, index, word] of [
    ['app=web', 'labels', 'default\napp=web'],
    ['app==web,tier', 'labels', 'default\napp=web'],
    ['tier!=back,app in (web)', 'labels', 'default\napp=web'],
    ['app in (api,web)', 'namespace', 'default'],
    ['app', 'namespace', 'default'],
    ['tier notin (back)', 'namespace', 'default'],
    ['tier!=back', 'namespace', 'default'],
  ] as const)
    it(`finds ${selector} by ${index}, and evaluates only the pods of that index key`, () => {
      const checked: unknown[] = [];
      const findBy = (...by: readonly string[]) => {
        checked.push(by);
        return by[0] === 'omitted' ? [] : [POD_A];
      };
      expect(selectPods({ findBy }, 'default', parseLabelSelector(selector))).to.deep.equal([POD_A]);
      expect(checked).to.deep.equal([
        ['omitted', 'default'],
        [index, word],
      ]);
    });

  it('selects by all requirements', () => {
    const pods = { findBy: (index: string) => (index === 'omitted' ? [] : [POD_A]) };
    expect(selectPods(pods, 'default', parseLabelSelector('app=web,tier=back'))).to.deep.equal([]);
  });

  it('fails in the namespace of a pod whose labels are not cached, whatever is selected', () => {
    const omitted = { namespace: 'team-1', name: 'x', labels: {}, omitted: 'too many labels' };
    expect(POD_INDEXES.omitted(omitted)).to.deep.equal(['team-1']);
    const findBy = (index: string, key: string) => (index === 'omitted' && key === 'team-1' ? [omitted] : []);
    for (const selector of ['app=web', 'app', '!app'])
      expect(() => selectPods({ findBy }, 'team-1', parseLabelSelector(selector))).to.throw(
        SelectionError,
        'Cannot select pods of namespace team-1: pod x has too many labels',
      );
    expect(selectPods({ findBy }, 'team-2', parseLabelSelector('app'))).to.deep.equal([]);
  });
});

describe('scaledPod', () => {
  it('returns the fields that decisions need', () => {
    const pod = scaledPod({
      metadata: { name: 'web-0', labels: { app: 'web' }, deletionTimestamp: '2026-01-01T00:00:00Z' },
      spec: {
        containers: [{ name: 'app', resources: { requests: { cpu: '1' } } }],
        initContainers: [{ name: 'proxy', restartPolicy: 'Always' }, { name: 'setup' }],
        resources: { requests: { cpu: '2' } },
        overhead: { cpu: '3' },
      },
      status: {
        phase: 'Running',
        startTime: '2026-01-01T00:00:10Z',
        conditions: [
          { type: 'Initialized', status: 'True' },
          { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:20Z' },
        ],
      },
    });
    expect(pod).to.deep.equal({
      name: 'web-0',
      labels: { app: 'web' },
      phase: 'Running',
      isDeleting: true,
      startedAtMs: Date.UTC(2026, 0, 1, 0, 0, 10),
      ready: { status: 'False', changedAtMs: Date.UTC(2026, 0, 1, 0, 0, 20) },
      containers: [{ name: 'app', requests: { cpu: '1' } }],
      initContainers: [
        { name: 'proxy', requests: {}, isSidecar: true },
        { name: 'setup', requests: {}, isSidecar: false },
      ],
      podRequests: { cpu: '2' },
      overhead: { cpu: '3' },
    });
  });

  it('reads pods that no kubelet has accepted', () => {
    const pod = scaledPod({ metadata: { name: 'web-0' }, spec: { containers: [] } });
    expect(pod).to.deep.include({ phase: '', startedAtMs: undefined, ready: undefined, isDeleting: false });
  });

  it('treats an unset transition time as long past', () => {
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: null }];
    const { ready } = scaledPod({
      metadata: { name: 'a' },
      spec: { containers: [] },
      status: { conditions },
    });
    expect(ready?.changedAtMs).to.equal(Number.NEGATIVE_INFINITY);
  });
});
