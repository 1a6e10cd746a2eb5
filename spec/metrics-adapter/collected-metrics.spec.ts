import { expect } from 'chai';
import { readHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { isMisspelling, readScaledHpa } from '#lib/metrics-adapter/collected-metrics.ts';
import {
  externalMetric,
  hpaObject,
  objectMetric,
  podsMetric,
  readHpaObject,
} from '#spec/support/scaled-hpas.ts';

describe('readScaledHpa', () => {
  it('returns the fields that collectors need, and no other annotations', () => {
    const annotations = { 'metric-config.pods.a.b/c': 'd', 'metric-config/collectors': '[]', other: 'e' };
    const service = { apiVersion: 'v1', kind: 'Service', name: 's' };
    const metrics = [externalMetric('x', { a: 'b' }), objectMetric('o', service), podsMetric('p')];
    expect(readScaledHpa(readHpaObject({ annotations, metrics }))).to.deep.equal({
      name: 'web',
      namespace: 'default',
      uid: '',
      createdAt: '',
      annotations: { 'metric-config.pods.a.b/c': 'd', 'metric-config/collectors': '[]' },
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      replicas: undefined,
      metrics: [
        { type: 'External', name: 'x', matchLabels: { a: 'b' } },
        { type: 'Object', name: 'o', matchLabels: {}, describedObject: service, targetsAverage: false },
        { type: 'Pods', name: 'p', matchLabels: {} },
      ],
    });
  });

  it('returns the larger of current and desired replicas', () => {
    const replicasOf = (status: object) =>
      readScaledHpa(readHpa({ ...hpaObject({ metrics: [externalMetric('x')] }), status }, 'v2'))?.replicas;
    expect(replicasOf({ currentReplicas: 1, desiredReplicas: 5 })).to.equal(5);
    expect(replicasOf({ currentReplicas: 5, desiredReplicas: 2 })).to.equal(5);
    expect(replicasOf({ currentReplicas: 3 })).to.equal(3);
    expect(replicasOf({ desiredReplicas: 2 })).to.equal(2);
    expect(replicasOf({ desiredReplicas: 0 })).to.equal(0);
    expect(replicasOf({})).to.equal(undefined);
  });

  it('leaves out resource metrics, and HPAs that have no others, unless they configure some', () => {
    const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } };
    expect(readScaledHpa(readHpaObject({ metrics: [cpu, externalMetric('x')] }))?.metrics).to.have.length(1);
    expect(readScaledHpa(readHpaObject({ metrics: [cpu] }))).to.equal(undefined);
    const annotations = { 'metric-config.external.x.prometheus/query': 'up' };
    expect(readScaledHpa(readHpaObject({ annotations, metrics: [cpu] }))).to.deep.include({
      annotations,
      metrics: [],
    });
  });

  it('returns misspelled configuration annotations, to report them', () => {
    const annotations = {
      'metrics-config.external.x.prometheus/query': 'up',
      'metric-configs/collectors': '[]',
      'metric-config.externl.x.prometheus/query': 'up',
    };
    const others = { 'metrics-config.example.com/checksum': '1' };
    const read = readScaledHpa(readHpaObject({ annotations: { ...annotations, ...others }, metrics: [] }));
    expect(read?.annotations).to.deep.equal(annotations);
  });
});

describe('isMisspelling', () => {
  it('finds letters that are too many, too few, wrong, changed about or capitals', () => {
    for (const word of ['externl', 'externals', 'extetnal', 'exetrnal', 'External', 'extrnall'])
      expect(isMisspelling(word, 'external'), word).to.equal(true);
    for (const word of ['pod', 'podss', 'Pods', 'puds'])
      expect(isMisspelling(word, 'pods'), word).to.equal(true);
  });

  it('finds nothing in the word itself, and in words further away', () => {
    for (const word of ['external', '', 'internal-', 'extra', 'e'.repeat(100_000)])
      expect(isMisspelling(word, 'external'), word.slice(0, 20)).to.equal(false);
    for (const word of ['prod', 'io', 'com']) expect(isMisspelling(word, 'pods'), word).to.equal(false);
  });
});
