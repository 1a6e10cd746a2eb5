import { expect } from 'chai';
import { pathFor, targetsAmong } from './targets.ts';

describe('targetsAmong', () => {
  it('has one pod of each app of each namespace', () => {
    const pod = (namespace: string, name: string, app: string) => ({
      metadata: { namespace, name, labels: { app } },
    });
    const pods = [pod('a', 'x-1', 'x'), pod('a', 'x-2', 'x'), pod('a', 'y-1', 'y'), pod('b', 'x-1', 'x')];
    expect(targetsAmong(pods).map(({ NAMESPACE, POD }) => `${NAMESPACE}/${POD}`)).to.deep.equal([
      'a/x-1',
      'a/y-1',
      'b/x-1',
    ]);
  });
});

describe('pathFor', () => {
  it('puts in what the cluster has', () => {
    const target = { NAMESPACE: 'a', POD: 'x-1', SELECTOR: 'app%3Dx' };
    expect(pathFor('/namespaces/NAMESPACE/pods/POD', target)).to.equal('/namespaces/a/pods/x-1');
    expect(pathFor('/namespaces/NAMESPACE/pods?labelSelector=SELECTOR', target)).to.equal(
      '/namespaces/a/pods?labelSelector=app%3Dx',
    );
  });
});
