import { expect } from 'chai';
import type { Scale } from '#lib/control/scale-client.ts';
import type { ClusterContext } from '#lib/doctor/cluster-context.ts';
import { missingRequest } from '#lib/hpa/doctor/targets.ts';
import { readHpa } from '#lib/kubernetes/objects/hpa-versions.ts';

const utilization = { type: 'Utilization', averageUtilization: 50 };
const amount = { type: 'AverageValue', averageValue: '1' };
const cpu = (target: object) => ({ type: 'Resource', resource: { name: 'cpu', target } });
const memoryOf = (container: string, target: object) => ({
  ...{ type: 'ContainerResource', containerResource: { name: 'memory', container, target } },
});
const requests = (of: object) => ({ resources: { requests: of } });

/** The findings for an HPA in a namespace with these pods, and the pods that were listed. */
async function found(
  metrics: readonly object[],
  {
    pods = [],
    selector = 'app=web',
  }: { readonly pods?: readonly unknown[]; readonly selector?: string } = {},
) {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  const metadata = { name: 'web', namespace: 'a/b', uid: 'u' };
  const hpa = readHpa({ metadata, spec: { scaleTargetRef, maxReplicas: 9, metrics } }, 'v2');
  const listed: unknown[] = [];
  const context = {
    list: async (name: string, collection: object, read: (value: unknown) => unknown) => {
      listed.push(name, collection);
      return pods.map(read).filter((pod) => pod !== undefined);
    },
  } as unknown as ClusterContext;
  return { missing: await missingRequest(hpa, { selector } as Scale, context), listed };
}

describe('missingRequest', () => {
  const web = (...containers: readonly object[]) => ({ metadata: { name: 'web-0' }, spec: { containers } });

  it('reads the pods of the target only, and none without utilization metrics', async () => {
    const { listed, missing } = await found([cpu(utilization)]);
    expect(listed).to.deep.equal([
      ...['pods', { path: '/api/v1/namespaces/a%2Fb/pods', labelSelector: 'app=web' }],
    ]);
    expect(missing).to.equal(undefined);
    const none = { missing: undefined, listed: [] };
    expect(await found([cpu(amount), memoryOf('app', amount)])).to.deep.equal(none);
    expect(await found([cpu(utilization)], { selector: '' })).to.deep.equal(none);
    const pods = { type: 'Pods', pods: { metric: { name: 'items' }, target: amount } };
    expect(await found([pods])).to.deep.equal(none);
  });

  it('names the first resource and container without a request, and skips malformed pods', async () => {
    const pods = [{ kind: 'Pod' }, web({ name: 'app', ...requests({ cpu: '1' }) }, { name: 'proxy' })];
    expect((await found([cpu(amount), cpu(utilization)], { pods })).missing).to.deep.equal({
      ...{ resource: 'cpu', problem: 'missing request for cpu in container proxy of Pod web-0' },
    });
    const ofApp = await found([cpu(amount), memoryOf('app', utilization)], { pods });
    expect(ofApp.missing).to.deep.equal({
      ...{ resource: 'memory', problem: 'missing request for memory in container app of Pod web-0' },
    });
  });

  it('includes init containers', async () => {
    const pod = (initContainers: readonly object[]) => ({
      ...{ metadata: { name: 'web-1' }, spec: { containers: [{ name: 'app' }], initContainers } },
    });
    const sidecar = { name: 'proxy', restartPolicy: 'Always', ...requests({ memory: '1Mi' }) };
    const metrics = [memoryOf('proxy', utilization)];
    expect((await found(metrics, { pods: [pod([sidecar])] })).missing).to.equal(undefined);
    expect((await found(metrics, { pods: [pod([sidecar]), pod([])] })).missing).to.deep.equal({
      ...{ resource: 'memory', problem: 'container proxy not found in Pod web-1', isContainer: true },
    });
  });

  it('accepts pod-level requests', async () => {
    const pod = {
      metadata: { name: 'web-0' },
      spec: { containers: [{ name: 'app' }], ...requests({ cpu: '1' }) },
    };
    expect((await found([cpu(utilization)], { pods: [pod] })).missing).to.equal(undefined);
  });

  it('rethrows other errors', async () => {
    const pods = [web({ name: 'app', ...requests({ cpu: 'much' }) })];
    const error = await found([cpu(utilization)], { pods }).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error).with.property('message').that.includes('"much"');
  });
});
