import { expect } from 'chai';
import type { PlainClient } from '#spec/support/plain-client.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';
import { WIDGETS } from '#spec/support/widget-definition.ts';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const WIDGET_PATH = '/apis/example.com/v1/namespaces/default/widgets';

const widget = (name: string, spec: object) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec,
});

function deployment(name: string, replicas?: number) {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, creationTimestamp: null },
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'main', image: 'x' }] } },
    },
    status: {},
  };
}

describe('writes of objects', () => {
  let server: SimulatedApiServer;
  let client: PlainClient;

  before(async () => {
    server = await startSimulatedApiServer({ definitions: [WIDGETS] });
    ({ client } = server);
  });
  after(() => server[Symbol.asyncDispose]());

  describe('createObject', () => {
    it('sets server-side fields', async () => {
      const { status, body } = await client.post(DEPLOYMENTS, deployment('complete'));
      expect(status).to.equal(201);
      expect(body.metadata).to.include({ generation: 1, namespace: 'default' });
      expect(body.metadata.creationTimestamp).to.equal('2026-01-01T00:00:00Z');
      expect(body.spec).to.deep.include({ replicas: 1, progressDeadlineSeconds: 600 });
      expect(body.spec.strategy).to.deep.equal({
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' },
      });
      expect(body.spec.template.spec).to.include({ restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' });
      expect(body.metadata.managedFields[0]).to.include({ manager: 'spec', operation: 'Update' });
    });

    it('stores quantities in their canonical form, whatever type they have', async () => {
      const containers = [
        {
          name: 'main',
          image: 'x',
          resources: { requests: { cpu: 1, memory: '1024Mi' }, limits: { cpu: 1.5 } },
        },
      ];
      const { spec, ...rest } = deployment('quantities');
      const template = { ...spec.template, spec: { containers, overhead: { cpu: '1000m' } } };
      const { status, body } = await client.post(DEPLOYMENTS, { ...rest, spec: { ...spec, template } });
      expect(status).to.equal(201);
      expect(body.spec.template.spec.overhead).to.deep.equal({ cpu: '1' });
      expect(body.spec.template.spec.containers[0].resources).to.deep.equal({
        requests: { cpu: '1', memory: '1Gi' },
        limits: { cpu: '1500m' },
      });
    });

    it('completes requests of pods by their limits, not those of templates', async () => {
      const resources = { requests: { cpu: '1' }, limits: { cpu: 2, memory: '1Gi' } };
      const spec = { containers: [{ name: 'main', image: 'x', resources }] };
      const { body } = await client.post('/api/v1/namespaces/default/pods', {
        metadata: { name: 'limited' },
        spec,
      });
      expect(body.spec.containers[0].resources.requests).to.deep.equal({ cpu: '1', memory: '1Gi' });
      const workload = deployment('limited');
      const template = { ...workload.spec.template, spec };
      const created = await client.post(DEPLOYMENTS, { ...workload, spec: { ...workload.spec, template } });
      expect(created.body.spec.template.spec.containers[0].resources.requests).to.deep.equal({ cpu: '1' });
    });

    for (const [what, path, body, status, message] of [
      [
        'a namespace that is not there',
        '/api/v1/namespaces/nowhere/configmaps',
        { metadata: { name: 'a' } },
        404,
        /^namespaces "nowhere" not found$/,
      ],
      [
        "a kind that is not the path's",
        DEPLOYMENTS,
        { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' } },
        400,
        /^Pod in version "v1" cannot be handled as a Deployment/,
      ],
      [
        'a Deployment that does not select its pods',
        DEPLOYMENTS,
        { ...deployment('a'), spec: { ...deployment('a').spec, selector: { matchLabels: { app: 'b' } } } },
        422,
        /^Deployment.apps "a" is invalid: spec.template.metadata.labels: Invalid value: .*`selector` does not match template `labels`$/,
      ],
      [
        'a value of the wrong type',
        DEPLOYMENTS,
        { ...deployment('a'), spec: { ...deployment('a').spec, replicas: 'x' } },
        400,
        /^Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field Deployment.spec.replicas$/,
      ],
      [
        'a field that is not known',
        `${WIDGET_PATH}?fieldValidation=Strict`,
        widget('a', { colour: 'red', sise: 1 }),
        400,
        /strict decoding error: unknown field "spec.sise"$/,
      ],
      [
        'a dry run that is none',
        `${DEPLOYMENTS}?dryRun=Some`,
        deployment('a'),
        422,
        /^CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: "Some": supported values: "All"$/,
      ],
    ] as const) {
      it(`refuses ${what}`, async () => {
        const response = await client.post(path, body);
        expect(response.body.message).to.match(message);
        expect(response.status).to.equal(status);
      });
    }

    it('warns of an unknown field by default', async () => {
      const { headers, body } = await client.post(WIDGET_PATH, widget('warned', { colour: 'red', sise: 1 }));
      expect(headers.warning).to.equal('299 - "unknown field \\"spec.sise\\""');
      expect(body.spec).not.to.have.property('sise');
    });
  });

  describe('updateObject', () => {
    it('stores nothing if nothing changes', async () => {
      const { body: created } = await client.post(WIDGET_PATH, widget('still', { colour: 'red' }));
      const { body: same } = await client.put(`${WIDGET_PATH}/still`, created);
      expect(same.metadata.resourceVersion).to.equal(created.metadata.resourceVersion);
    });
  });

  describe('serveScale', () => {
    it("returns and sets a Deployment's replicas", async () => {
      const { body: created } = await client.post(DEPLOYMENTS, deployment('scaled', 2));
      const path = `${DEPLOYMENTS}/scaled/scale`;
      const { body: scale } = await client.get(path);
      expect(scale).to.deep.include({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 2 } });
      expect(scale.status.selector).to.equal('app=scaled');
      expect(scale.metadata.uid).to.equal(created.metadata.uid);
      const { body: set } = await client.put(path, { ...scale, spec: { replicas: 5 } });
      expect(set.spec).to.deep.equal({ replicas: 5 });
      const { body: after } = await client.get(`${DEPLOYMENTS}/scaled`);
      expect(after.spec.replicas).to.equal(5);
      expect(after.metadata.generation).to.equal(2);
      const owner = after.metadata.managedFields.find(
        ({ subresource }: { subresource?: string }) => subresource === 'scale',
      );
      expect(owner).to.deep.include({ apiVersion: 'apps/v1', fieldsV1: { 'f:spec': { 'f:replicas': {} } } });
    });

    it('omits a zero as Go does, and reads it as zero', async () => {
      await client.post(DEPLOYMENTS, deployment('none', 3));
      const path = `${DEPLOYMENTS}/none/scale`;
      expect((await client.put(path, { metadata: { name: 'none' } })).body.spec).to.deep.equal({});
      expect((await client.get(`${DEPLOYMENTS}/none`)).body.spec.replicas).to.equal(0);
    });

    it('refuses old versions and negative numbers', async () => {
      await client.post(DEPLOYMENTS, deployment('strict', 1));
      const path = `${DEPLOYMENTS}/strict/scale`;
      const { body: scale } = await client.get(path);
      await client.patch(`${DEPLOYMENTS}/strict`, 'merge', { metadata: { labels: { a: 'b' } } });
      expect((await client.put(path, { ...scale, spec: { replicas: 2 } })).status).to.equal(409);
      const { status, body } = await client.put(path, {
        metadata: { name: 'strict' },
        spec: { replicas: -1 },
      });
      expect(status).to.equal(422);
      expect(body.message).to.match(/spec.replicas: Invalid value: -1: must be greater than or equal to 0$/);
    });
  });
});
