import { expect } from 'chai';
import fc from 'fast-check';
import { TimeSlices } from '#lib/concurrency/event-loop.ts';
import {
  encodeDebugResponse,
  REASONS,
  type ReasonCode,
  type RemediedReason,
} from '#lib/resource-metrics/debug/debug-response.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { METRICS_SERVER_USER } from '#simulator/access/default-grants.ts';
import type { KubeletResponse } from '#simulator/kubelet/kubelet-http.ts';
import type { ScenarioInput } from '#simulator/scenario.ts';
import { eventually } from '#spec/support/eventually.ts';
import { jsonObjects } from '#spec/support/json-values.ts';
import { type RunningServer, runServer } from '#spec/support/running-server.ts';
import { twoCycles } from '#spec/support/two-cycles.ts';

describe('encodeDebugResponse', () => {
  const slices = new TimeSlices();
  const responses = fc.record({ total: fc.nat(), served: fc.nat(), items: fc.array(jsonObjects) });

  it('encodes indented JSON with a final line feed', async () => {
    await fc.assert(
      fc.asyncProperty(responses, async (response) => {
        const plain = printableLines(`${JSON.stringify(response, undefined, 2)}\n`);
        expect((await encodeDebugResponse(response, { slices })).toString()).to.equal(plain);
      }),
    );
  });

  it('escapes control characters in texts of kubelets', async () => {
    const items = [{ reason: 'a\x9b2J\u202e\x7f\x1b[H' }];
    const text = (await encodeDebugResponse({ total: 1, served: 0, items }, { slices })).toString();
    expect(text).to.match(/^[\x20-\x7e\n]*$/);
    expect(JSON.parse(text).items).to.deep.equal(items);
  });

  it('stops when the signal aborts', async () => {
    const reason = new Error('gone');
    const items = Array.from({ length: 2_000 }, () => ({ name: 'a' }));
    const error = await encodeDebugResponse(
      { total: 0, served: 0, items },
      { slices, signal: AbortSignal.abort(reason) },
    ).catch((thrown: unknown) => thrown);
    expect(error).to.equal(reason);
  });
});

/** One node, one pod. */
const SMALL: ScenarioInput = { nodes: 1, podsPerNode: 0, pods: [{ name: 'web', node: 'node-1' }] };
const NODE = '/debug/nodes?name=node-1';
const POD = '/debug/pods?namespace=default&name=web';

describe('REASONS', () => {
  it('has NodesNotListed until the nodes are listed', async () => {
    await using server = await runServer({ ...SMALL, grants: onlyListing('pods') });
    await expectReason(server, 'NodesNotListed', NODE);
  });

  it('has PodsNotListed for reported pods until the pods are listed', async () => {
    await using server = await runServer({ ...SMALL, grants: onlyListing('nodes') });
    await twoCycles(server, 1);
    await expectReason(server, 'PodsNotListed', '/debug/pods');
  });

  it('has UnknownNode for a node that is not listed', async () => {
    await using server = await runServer(SMALL);
    await expectReason(server, 'UnknownNode', '/debug/nodes?name=nowhere');
  });

  it('has NotScrapedYet before the first cycle', async () => {
    await using server = await runServer(SMALL);
    await eventually(async () => (await reasonAt(server, NODE))?.code !== 'NodesNotListed');
    await expectReason(server, 'NotScrapedYet', NODE);
  });

  it('has NodeUsageUnknown for a node whose kubelet only reports pods', async () => {
    await using server = await runServer(SMALL);
    await server.cluster.setFault('node-1', {
      change: changing((summary) => ({ ...summary, node: { nodeName: 'node-1' } })),
    });
    await twoCycles(server, 1);
    await expectReason(server, 'NodeUsageUnknown', NODE);
  });

  it('has NoContainers for a pod reported without containers', async () => {
    await using server = await runServer(SMALL);
    await server.cluster.setFault('node-1', {
      change: changing(({ pods = [], ...summary }) => ({
        ...summary,
        pods: pods.map((pod) => ({ ...pod, containers: [] })),
      })),
    });
    await twoCycles(server, 1);
    await expectReason(server, 'NoContainers', POD);
  });

  it('has ReplacedPod while the kubelet reports the previous pod', async () => {
    await using server = await runServer(SMALL);
    await twoCycles(server, 1);
    const pod = podOf(server);
    const { uid, resourceVersion, ...metadata } = pod.metadata;
    const { store } = server.cluster;
    store.delete('pods', 'default', 'web');
    store.create('pods', { ...pod, metadata });
    await eventually(async () => (await reasonAt(server, POD))?.code === 'ReplacedPod');
  });

  it('has NotScheduled for a pod without a node', async () => {
    await using server = await runServer({
      ...SMALL,
      pods: [{ name: 'web', node: 'node-1', phase: 'Pending' }],
    });
    await twoCycles(server, 1);
    server.cluster.store.update('pods', { ...podOf(server), spec: {} });
    await expectReason(server, 'NotScheduled', POD);
  });

  it('has LookupFailed beyond the limit of lookups', async () => {
    await using server = await runServer(SMALL);
    await twoCycles(server, 1);
    const missing = '/debug/pods?namespace=default&name=missing';
    for (let lookup = 0; lookup < 10; lookup++) await expectReason(server, 'NoSuchPod', missing);
    await expectReason(server, 'LookupFailed', missing);
  });

  it('has SamplingStopped after minutes with the same sample', async () => {
    await using server = await runServer(SMALL, ['--metric-resolution=15s']);
    await twoCycles(server, 1);
    let sample: Buffer | undefined;
    await server.cluster.setFault('node-1', {
      change: (response) => {
        sample ??= response.body;
        return { ...response, body: sample };
      },
    });
    for (let cycle = 0; cycle < 22; cycle++) {
      await server.clock.advance(13_600);
      await server.clock.advance(400);
      await server.scraped(3 + cycle);
      await server.clock.advance(1_000);
    }
    await expectReason(server, 'SamplingStopped', NODE);
    await expectReason(server, 'SamplingStopped', POD);
  });
});

async function expectReason(server: RunningServer, code: ReasonCode, path: string): Promise<void> {
  expect(await reasonAt(server, path)).to.include({ code, remedy: REASONS[code].remedy });
}

async function reasonAt(server: RunningServer, path: string): Promise<RemediedReason | undefined> {
  const { status, body } = await server.get(path);
  expect(status, body).to.equal(200);
  return JSON.parse(body).items[0].reason;
}

interface Summary {
  readonly node: object;
  readonly pods?: readonly object[];
}

/** A fault that modifies the summary. */
function changing(change: (summary: Summary) => Summary): (response: KubeletResponse) => KubeletResponse {
  return (response) => ({
    ...response,
    body: Buffer.from(JSON.stringify(change(JSON.parse(response.body.toString())))),
  });
}

type Pod = NonNullable<ReturnType<RunningServer['cluster']['store']['get']>>;

function podOf({ cluster }: RunningServer): Pod {
  const pod = cluster.store.get('pods', 'default', 'web');
  if (!pod) throw new Error('there is no pod');
  return pod;
}

/** Grants access to kubelets, and list and watch of one resource. */
function onlyListing(resource: string): ScenarioInput['grants'] {
  const name = 'system:metrics-server';
  const rules = [
    { verbs: ['get'], apiGroups: [''], resources: ['nodes/stats', 'nodes/metrics'] },
    { verbs: ['list', 'watch'], apiGroups: [''], resources: [resource] },
  ];
  return [{ name, role: name, users: [METRICS_SERVER_USER], rules }];
}
