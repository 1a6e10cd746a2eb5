import { expect } from 'chai';
import {
  collectionPath,
  formatApiVersion,
  objectPath,
  parseApiVersion,
} from '#lib/kubernetes/client/api-resource.ts';

const PODS = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const NODES = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };
const SCALED = {
  group: 'keda.sh',
  version: 'v1alpha1',
  kind: 'ScaledObject',
  plural: 'scaledobjects',
  namespaced: true,
};

describe('parseApiVersion', () => {
  it('is the inverse of formatApiVersion', () => {
    for (const apiVersion of ['v1', 'apps/v1', 'keda.sh/v1alpha1']) {
      expect(formatApiVersion(parseApiVersion(apiVersion))).to.equal(apiVersion);
    }
    expect(parseApiVersion('apps/v1')).to.deep.equal({ group: 'apps', version: 'v1' });
    expect(parseApiVersion('v1')).to.deep.equal({ group: '', version: 'v1' });
  });
});

describe('collectionPath', () => {
  it('leads to all objects, or those of a namespace where the resource has them', () => {
    expect(collectionPath(PODS)).to.equal('/api/v1/pods');
    expect(collectionPath(PODS, 'a')).to.equal('/api/v1/namespaces/a/pods');
    expect(collectionPath(NODES, 'a')).to.equal('/api/v1/nodes');
    expect(collectionPath(SCALED)).to.equal('/apis/keda.sh/v1alpha1/scaledobjects');
  });
});

describe('objectPath', () => {
  it('leads to an object or a subresource of it', () => {
    expect(objectPath(SCALED, { namespace: 'a', name: 'b' }, 'scale')).to.equal(
      '/apis/keda.sh/v1alpha1/namespaces/a/scaledobjects/b/scale',
    );
    expect(objectPath(NODES, { name: 'system:n?1' })).to.equal('/api/v1/nodes/system%3An%3F1');
  });

  it('contains no other path, whatever a reference contains', () => {
    for (const name of ['', '.', '..', 'a/b', 'a%2fb', '../../secrets']) {
      expect(() => objectPath(PODS, { namespace: 'a', name }), name).to.throw('is not a path segment');
      expect(() => objectPath({ ...PODS, plural: name }, { namespace: 'a', name: 'b' }), name).to.throw(
        'Cannot build path',
      );
    }
    expect(() => objectPath(PODS, { name: 'a' })).to.throw('Cannot build path of pods "a": no namespace');
  });
});
