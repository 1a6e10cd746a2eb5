import { expect } from 'chai';
import { parseFieldSelector } from '#simulator/objects/field-selector.ts';
import type { KubernetesObject } from '#simulator/objects/kubernetes-object.ts';

describe('parseFieldSelector', () => {
  const pod: KubernetesObject = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'a', namespace: 'b', uid: '', resourceVersion: '1', creationTimestamp: '' },
    spec: { nodeName: 'node-1' },
    status: { phase: 'Running' },
  };
  const parse = (text: string) => parseFieldSelector(text, { resource: 'pods' });

  it('selects by equality and its opposite', () => {
    expect(parse('metadata.name=a,metadata.namespace==b').matches(pod)).to.equal(true);
    expect(parse('status.phase=Running,spec.nodeName!=node-1').matches(pod)).to.equal(false);
    expect(parse('status.phase!=Succeeded').matches(pod)).to.equal(true);
    expect(parse('').isEverything).to.equal(true);
  });

  it('treats an absent field as empty', () => {
    expect(parse('spec.nodeName=').matches({ ...pod, spec: {} })).to.equal(true);
  });

  it('returns the name of a selector by name', () => {
    expect(parse('status.phase=Running,metadata.name=a').name).to.equal('a');
    expect(parse('metadata.name!=a').name).to.equal(undefined);
  });

  it('refuses fields that the resource is not selected by', () => {
    expect(() => parse('spec.hostNetwork=true')).to.throw('field label not supported: spec.hostNetwork');
    expect(() => parseFieldSelector('status.phase=x', { resource: 'nodes' })).to.throw(/not supported/);
  });

  it('rejects an invalid selector', () => {
    expect(() => parse('metadata.name')).to.throw(/invalid selector/);
  });
});
