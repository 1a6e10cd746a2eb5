import { expect } from 'chai';
import { statusManagers } from '#lib/control/status/status-managers.ts';

describe('statusManagers', () => {
  const time = '2026-01-01T00:00:00Z';

  it('tells who has written a status and when, of those that have written nothing else of an object', () => {
    const entry = (manager: string, more: object = {}) => ({ manager, operation: 'Update', time, ...more });
    const managers = statusManagers([
      entry('kubectl', { fieldsV1: { 'f:spec': {} } }),
      entry('kube-controller-manager', { subresource: 'status', time: '2026-01-01T00:00:07Z' }),
      entry('scaler', { subresource: 'scale' }),
      entry('old', { fieldsV1: { 'f:status': { 'f:replicas': {} } } }), // before Kubernetes 1.22
    ]);
    expect(managers).to.deep.equal([
      { manager: 'kube-controller-manager', writtenAtMs: Date.UTC(2026, 0, 1, 0, 0, 7) },
      { manager: 'old', writtenAtMs: Date.UTC(2026, 0, 1) },
    ]);
  });

  it('leaves out what does not tell who it was, or when', () => {
    const written = { manager: 'a', subresource: 'status', time };
    const unreadable = [null, 'text', { ...written, manager: 7 }, { ...written, time: 7 }];
    expect(statusManagers([...unreadable, { ...written, time: 'yesterday' }])).to.deep.equal([]);
    expect(statusManagers([...unreadable, written])).to.have.lengthOf(1);
    expect([statusManagers(undefined), statusManagers({ ...written })]).to.deep.equal([[], []]);
  });
});
