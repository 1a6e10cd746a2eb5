import { expect } from 'chai';
import type { PlainClient } from '#spec/support/plain-client.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';
import { WIDGETS } from '#spec/support/widget-definition.ts';

const NAMESPACE = '/api/v1/namespaces/default';
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
    it('completes what it is given', async () => {
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

    it('makes a name out of a prefix', async () => {
      const { body } = await client.post(`${NAMESPACE}/configmaps`, { metadata: { generateName: 'made-' } });
      expect(body.metadata.name).to.match(/^made-[a-z0-9]{5}$/);
    });

    it('stores nothing in a dry run', async () => {
      const { status, body } = await client.post(`${DEPLOYMENTS}?dryRun=All`, deployment('dry'));
      expect(status).to.equal(201);
      expect(body.metadata.uid).to.be.a('string');
      expect((await client.get(`${DEPLOYMENTS}/dry`)).status).to.equal(404);
    });

    for (const [what, path, body, status, message] of [
      [
        'a name that can not be',
        `${NAMESPACE}/configmaps`,
        { metadata: { name: 'A' } },
        422,
        /^ConfigMap "A" is invalid: metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain/,
      ],
      [
        'a namespace that is not there',
        '/api/v1/namespaces/nowhere/configmaps',
        { metadata: { name: 'a' } },
        404,
        /^namespaces "nowhere" not found$/,
      ],
      [
        "another namespace than the path's",
        `${NAMESPACE}/configmaps`,
        { metadata: { name: 'a', namespace: 'b' } },
        400,
        /^the namespace of the provided object does not match the namespace sent on the request$/,
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
        `${DEPLOYMENTS}?fieldValidation=Strict`,
        { ...deployment('a'), spec: { ...deployment('a').spec, colour: 1 } },
        400,
        /strict decoding error: unknown field "spec.colour"$/,
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

    it('warns of a field that is not known unless told otherwise', async () => {
      const body = { ...deployment('warned'), spec: { ...deployment('warned').spec, colour: 1 } };
      const { headers, body: created } = await client.post(DEPLOYMENTS, body);
      expect(headers.warning).to.equal('299 - "unknown field \\"spec.colour\\""');
      expect(created.spec).not.to.have.property('colour');
    });
  });

  describe('updateObject', () => {
    it('counts generations by what is wanted alone', async () => {
      const { body: created } = await client.post(WIDGET_PATH, widget('counted', { colour: 'red' }));
      const labelled = { ...created, metadata: { ...created.metadata, labels: { a: 'b' } } };
      const { body: second } = await client.put(`${WIDGET_PATH}/counted`, labelled);
      expect(second.metadata.generation).to.equal(1);
      const { body: third } = await client.put(`${WIDGET_PATH}/counted`, {
        ...second,
        spec: { colour: 'blue' },
      });
      expect(third.metadata.generation).to.equal(2);
      const { body: last } = await client.put(`${WIDGET_PATH}/counted/status`, {
        ...third,
        spec: { colour: 'red' },
        status: { replicas: 4 },
      });
      expect(last.metadata.generation).to.equal(2);
      expect(last.spec.colour).to.equal('blue');
      expect(last.status.replicas).to.equal(4);
      const { body: kept } = await client.put(`${WIDGET_PATH}/counted`, { ...last, status: { replicas: 9 } });
      expect(kept.status.replicas).to.equal(4);
    });

    it('refuses what was made from an older version', async () => {
      const { body: created } = await client.post(WIDGET_PATH, widget('raced', { colour: 'red' }));
      await client.patch(`${WIDGET_PATH}/raced`, 'merge', { spec: { replicas: 2 } });
      const { status, body } = await client.put(`${WIDGET_PATH}/raced`, created);
      expect(status).to.equal(409);
      expect(body).to.deep.include({
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on widgets.example.com "raced": the object has been modified; please apply your changes to the latest version and try again',
        details: { name: 'raced', group: 'example.com', kind: 'widgets' },
      });
    });

    it('wants a version of those who write custom resources', async () => {
      await client.post(WIDGET_PATH, widget('blind', { colour: 'red' }));
      const { status, body } = await client.put(`${WIDGET_PATH}/blind`, widget('blind', { colour: 'blue' }));
      expect(status).to.equal(422);
      expect(body.message).to.equal(
        'Widget.example.com "blind" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update',
      );
    });

    it('refuses an object that has been made again since', async () => {
      const { body: created } = await client.post(WIDGET_PATH, widget('twin', { colour: 'red' }));
      const other = { ...created, metadata: { ...created.metadata, uid: 'other' } };
      const { status, body } = await client.put(`${WIDGET_PATH}/twin`, other);
      expect(status).to.equal(409);
      expect(body.message).to.match(/Precondition failed: UID in precondition: other, UID in object meta: /);
    });

    it('stores nothing where nothing changes', async () => {
      const { body: created } = await client.post(WIDGET_PATH, widget('still', { colour: 'red' }));
      const { body: same } = await client.put(`${WIDGET_PATH}/still`, created);
      expect(same.metadata.resourceVersion).to.equal(created.metadata.resourceVersion);
    });

    it('makes a Lease that is not there', async () => {
      const path = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/leader';
      const lease = { metadata: { name: 'leader' }, spec: { holderIdentity: 'a', leaseDurationSeconds: 15 } };
      expect((await client.put(path, lease)).status).to.equal(201);
      expect((await client.put(path, lease)).status).to.equal(422);
    });
  });

  describe('deleteNamed', () => {
    it('tells what is gone', async () => {
      const { body: created } = await client.post(WIDGET_PATH, widget('gone', { colour: 'red' }));
      const { status, body } = await client.delete(`${WIDGET_PATH}/gone`);
      expect(status).to.equal(200);
      expect(body).to.deep.include({
        kind: 'Status',
        status: 'Success',
        details: { name: 'gone', group: 'example.com', kind: 'widgets', uid: created.metadata.uid },
      });
    });

    it('marks what has finalizers, and lets it go with the last of them', async () => {
      const object = {
        ...widget('held', { colour: 'red' }),
        metadata: { name: 'held', finalizers: ['a.b/c', 'a.b/d'] },
      };
      await client.post(WIDGET_PATH, object);
      const { body: marked } = await client.delete(`${WIDGET_PATH}/held`);
      expect(marked.metadata).to.include({ deletionTimestamp: '2026-01-01T00:00:00Z', generation: 2 });
      const added = await client.patch(`${WIDGET_PATH}/held`, 'merge', {
        metadata: { finalizers: ['a.b/c', 'x.y/z'] },
      });
      expect(added.body.message).to.match(/no new finalizers can be added if the object is being deleted/);
      await client.patch(`${WIDGET_PATH}/held`, 'merge', { metadata: { finalizers: ['a.b/c'] } });
      expect((await client.get(`${WIDGET_PATH}/held`)).status).to.equal(200);
      await client.patch(`${WIDGET_PATH}/held`, 'json', [{ op: 'remove', path: '/metadata/finalizers' }]);
      expect((await client.get(`${WIDGET_PATH}/held`)).status).to.equal(404);
    });

    it('keeps to preconditions', async () => {
      await client.post(WIDGET_PATH, widget('wanted', { colour: 'red' }));
      const refused = await client.delete(`${WIDGET_PATH}/wanted`, { preconditions: { uid: 'x' } });
      expect(refused.status).to.equal(409);
      const dry = await client.delete(`${WIDGET_PATH}/wanted`, { dryRun: ['All'] });
      expect(dry.status).to.equal(200);
      expect((await client.get(`${WIDGET_PATH}/wanted`)).status).to.equal(200);
    });

    it('deletes what a selector selects', async () => {
      for (const name of ['many-1', 'many-2'])
        await client.post(`${NAMESPACE}/configmaps`, { metadata: { name, labels: { many: 'yes' } } });
      const { body } = await client.delete(`${NAMESPACE}/configmaps?labelSelector=many%3Dyes`);
      expect(body.items).to.have.length(2);
      expect((await client.get(`${NAMESPACE}/configmaps?labelSelector=many`)).body.items).to.deep.equal([]);
    });
  });

  describe('serveScale', () => {
    it("tells a Deployment's replicas and selector, and sets them", async () => {
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

    it('leaves out a zero as Go does, and takes it for one', async () => {
      await client.post(DEPLOYMENTS, deployment('none', 3));
      const path = `${DEPLOYMENTS}/none/scale`;
      expect((await client.put(path, { metadata: { name: 'none' } })).body.spec).to.deep.equal({});
      expect((await client.get(`${DEPLOYMENTS}/none`)).body.spec.replicas).to.equal(0);
    });

    it("scales custom resources by their definition's paths", async () => {
      await client.post(WIDGET_PATH, widget('elastic', { colour: 'red', replicas: 2 }));
      await client.patch(`${WIDGET_PATH}/elastic/status`, 'merge', {
        status: { replicas: 1, selector: 'a=b' },
      });
      const path = `${WIDGET_PATH}/elastic/scale`;
      expect((await client.get(path)).body).to.deep.include({
        spec: { replicas: 2 },
        status: { replicas: 1, selector: 'a=b' },
      });
      expect((await client.patch(path, 'merge', { spec: { replicas: 3 } })).body.spec.replicas).to.equal(3);
      expect((await client.get(`${WIDGET_PATH}/elastic`)).body.spec.replicas).to.equal(3);
      expect((await client.patch(path, 'merge', { spec: { replicas: 99 } })).status).to.equal(422);
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

  it('takes no new object that tells its version', async () => {
    const told = {
      ...widget('versioned', { colour: 'red' }),
      metadata: { name: 'versioned', resourceVersion: '7' },
    };
    const { status, body } = await client.post(WIDGET_PATH, told);
    expect(status).to.equal(500);
    expect(body.message).to.equal('resourceVersion should not be set on objects to be created');
  });
});
