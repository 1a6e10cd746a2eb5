import { expect } from 'chai';
import fc from 'fast-check';
import * as z from 'zod';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { META_SCHEMAS } from '#lib/apiserver/discovery/api-documents.ts';
import { metricsApiGroup } from '#lib/resource-metrics/api/metrics-api-group.ts';
import { METRICS_SCHEMA, METRICS_SCHEMAS } from '#lib/resource-metrics/api/metrics-types.ts';
import type { NodeUsage, PodUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { requestHttp1 } from '#spec/support/api-request.ts';
import { trickyTexts } from '#spec/support/json-values.ts';
import { FakeMetricsSource, liveNode, livePod, nodeUsage, podUsage } from '#spec/support/metrics-source.ts';
import { ProtobufFields } from '#spec/support/protobuf-fields.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

// Includes names and labels that the API server would reject, since kubelets are not trusted.
const names = fc.oneof(fc.stringMatching(/^[a-z][a-z0-9.-]{0,20}$/), fc.constant('__proto__'));
const usages = fc.record({
  timestampMs: fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) }),
  windowMs: fc.integer({ min: 1, max: 3_600_000 }),
  cpuNanocores: fc.nat({ max: 2 ** 40 }),
  memoryBytes: fc.nat({ max: 2 ** 45 }),
});
const containers = fc.array(fc.tuple(trickyTexts, usages), { maxLength: 3 });
const labelSets = fc.dictionary(fc.stringMatching(/^[a-z./-]{1,12}$/), trickyTexts, { maxKeys: 4 });

const snapshots = fc.record({
  nodes: fc.uniqueArray(fc.tuple(names, usages, labelSets), { selector: ([name]) => name, maxLength: 4 }),
  pods: fc.uniqueArray(fc.tuple(names, names, usages, containers, labelSets), {
    selector: ([namespace, name]) => `${namespace}/${name}`,
    maxLength: 5,
  }),
});

describe('representations of metrics', () => {
  const source = new FakeMetricsSource();
  let server: ApiServer;
  before(async () => {
    server = await startTestApiServer({ groups: [metricsApiGroup(source)] });
  });
  after(() => server[Symbol.asyncDispose]());

  const request = async (path: string, accept: string) => {
    const { port } = server.address;
    const { status, body } = await requestHttp1({
      port,
      path: `/apis/metrics.k8s.io/v1beta1/${path}`,
      headers: { accept },
    });
    expect(status).to.equal(200);
    return body;
  };

  it('match their schemas in JSON, and are equal in protobuf', async () => {
    await fc.assert(
      fc.asyncProperty(snapshots, async ({ nodes, pods }) => {
        serve(source, nodes, pods);
        for (const [path, schema, decode] of [
          ['nodes', METRICS_SCHEMA.nodeList, decodeNode],
          ['pods', METRICS_SCHEMA.podList, decodePod],
        ] as const) {
          const json = JSON.parse((await request(path, 'application/json')).toString());
          expect(schemaOf(schema).safeParse(json).error?.issues).to.equal(undefined);
          expect(decodeList(await request(path, PROTOBUF), decode)).to.deep.equal(json);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('are the same for one object and for a list', async () => {
    source.serve(nodeUsage('a'), podUsage('n', 'b'));
    source.livePods.set('n/b', livePod('n', 'b', { labels: { app: 'web' } }));
    for (const [path, object] of [
      ['nodes', 'nodes/a'],
      ['pods', 'namespaces/n/pods/b'],
    ] as const) {
      const { items } = JSON.parse((await request(path, 'application/json')).toString());
      const { kind, apiVersion, ...got } = JSON.parse((await request(object, 'application/json')).toString());
      expect(got).to.deep.equal(items[0]);
      expect({ kind, apiVersion }).to.deep.equal({
        kind: path === 'nodes' ? 'NodeMetrics' : 'PodMetrics',
        apiVersion: 'metrics.k8s.io/v1beta1',
      });
      const { type, message } = envelope(await request(object, PROTOBUF));
      expect(type).to.deep.equal({ kind, apiVersion });
      expect((path === 'nodes' ? decodeNode : decodePod)(message)).to.deep.equal(got);
    }
  });
});

function serve(
  source: FakeMetricsSource,
  nodes: readonly (readonly [string, Omit<NodeUsage, 'name'>, Record<string, string>])[],
  pods: readonly (readonly [
    string,
    string,
    Omit<NodeUsage, 'name'>,
    readonly (readonly [string, Omit<NodeUsage, 'name'>])[],
    Record<string, string>,
  ])[],
): void {
  const podUsages: PodUsage[] = pods.map(([namespace, name, usage, contained]) =>
    podUsage(namespace, name, {
      timestampMs: usage.timestampMs,
      windowMs: usage.windowMs,
      containers: contained.map(([container, used]) => ({ ...used, name: container })),
    }),
  );
  source.serve(...nodes.map(([name, usage]) => nodeUsage(name, usage)), ...podUsages);
  for (const [name, , labels] of nodes) source.liveNodes.set(name, liveNode(name, { labels }));
  for (const [namespace, name, , , labels] of pods) {
    source.livePods.set(`${namespace}/${name}`, livePod(namespace, name, { labels }));
  }
}

/** Makes a published schema reject unknown fields. */
function schemaOf(name: string): z.ZodType {
  const definitions = JSON.stringify({ ...METRICS_SCHEMAS, ...META_SCHEMAS })
    .replaceAll('#/components/schemas/', '#/$defs/')
    .replaceAll('"properties":', '"additionalProperties":false,"properties":');
  return z.fromJSONSchema({ $ref: `#/$defs/${name}`, $defs: JSON.parse(definitions) });
}

function envelope(bytes: Buffer): { type: { kind?: string; apiVersion?: string }; message: ProtobufFields } {
  expect(bytes.subarray(0, 4).toString('latin1')).to.equal('k8s\0');
  const unknown = new ProtobufFields(bytes.subarray(4));
  const type = unknown.message(1);
  const message = unknown.message(2) ?? new ProtobufFields(Buffer.alloc(0));
  return { type: { kind: type?.text(2) ?? '', apiVersion: type?.text(1) ?? '' }, message };
}

function decodeList(bytes: Buffer, decode: (item: ProtobufFields) => object): object {
  const { type, message } = envelope(bytes);
  return { ...type, metadata: {}, items: message.messages(2).map(decode) };
}

function decodeNode(node: ProtobufFields): object {
  return { ...decodeCommon(node), usage: decodeUsage(node, 4) };
}

function decodePod(pod: ProtobufFields): object {
  const contained = pod
    .messages(4)
    .map((container) => ({ name: container.text(1), usage: decodeUsage(container, 2) }));
  return { ...decodeCommon(pod), containers: contained };
}

function decodeCommon(object: ProtobufFields): object {
  const metadata = object.message(1);
  const labels = metadata?.messages(11).map((label) => [label.text(1), label.text(2)]) ?? [];
  return {
    metadata: {
      name: metadata?.text(1),
      ...(metadata?.text(3) && { namespace: metadata.text(3) }),
      creationTimestamp: decodeTime(metadata?.message(8)),
      ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
    },
    timestamp: decodeTime(object.message(2)),
    window: formatDuration((object.message(3)?.number(1) ?? Number.NaN) / 1e6),
  };
}

function decodeTime(time: ProtobufFields | undefined): string {
  return new Date((time?.number(1) ?? Number.NaN) * 1000).toISOString().replace('.000Z', 'Z');
}

function decodeUsage(message: ProtobufFields, field: number): object {
  return Object.fromEntries(
    message.messages(field).map((entry) => [entry.text(1), entry.message(2)?.text(1)]),
  );
}
