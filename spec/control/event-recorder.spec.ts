import { expect } from 'chai';
import { type EventFacts, EventRecorder } from '#lib/control/event-recorder.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type JsonApi, type JsonResponse, refusal, startJsonApi } from '#spec/support/json-api.ts';
import { memoryInUse } from '#spec/support/open-resources.ts';
import { type SimulatedApi, startSimulatedApi } from '#spec/support/simulated-api.ts';
import { until } from '#spec/support/until.ts';

const SOURCE = { controller: 'autoscaler-cronhpa', instance: 'pod-1' };
const REGARDING = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'web', uid: 'u1' };
const SCALED: EventFacts = {
  regarding: REGARDING,
  type: 'Normal',
  reason: 'Scaled',
  action: 'Scale',
  message: 'from 1 to 3',
};

describe('EventRecorder', () => {
  describe('in a simulated cluster', () => {
    let served: SimulatedApi;
    let recorder: EventRecorder;
    let events: ResourceClient<KubernetesObject & Readonly<Record<string, unknown>>>;

    beforeEach(async () => {
      served = await startSimulatedApi();
      recorder = new EventRecorder({ ...served, source: SOURCE });
      const resource = {
        group: 'events.k8s.io',
        version: 'v1',
        kind: 'Event',
        plural: 'events',
        namespaced: true,
      };
      events = new ResourceClient({ api: served.api, resource });
    });

    afterEach(async () => {
      await recorder[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
      expect(served.clock.sleeperCount).to.equal(0);
    });

    /** Waits until the events are complete and returns them. */
    async function stored(isComplete: (all: readonly Readonly<Record<string, unknown>>[]) => boolean) {
      for (;;) {
        const all = await events.list();
        if (isComplete(all)) return all;
        await served.clock.advance(1);
      }
    }

    it('writes an event of the newer group with all fields', async () => {
      recorder.record(SCALED);
      const [event] = await stored((all) => all.length === 1);
      expect(event).to.deep.include({
        type: 'Normal',
        reason: 'Scaled',
        action: 'Scale',
        note: 'from 1 to 3',
        reportingController: 'autoscaler-cronhpa',
        reportingInstance: 'pod-1',
        regarding: REGARDING,
      });
      expect(event?.metadata.namespace).to.equal('default');
      expect(event?.metadata.name).to.match(/^web\.[0-9a-f]{16}$/);
      expect(event).not.to.have.property('series');
    });

    it('counts repeats in one event, which it writes every ten seconds at most', async () => {
      recorder.record(SCALED);
      await stored((all) => all.length === 1);
      for (let repeat = 0; repeat < 50; repeat++) recorder.record(SCALED);
      await served.clock.advance(9_000);
      expect((await events.list())[0]).not.to.have.property('series');
      await served.clock.advance(1_000);
      const all = await stored(([event]) => event?.series !== undefined);
      expect(all).to.have.length(1);
      expect(all[0]?.series).to.have.property('count', 51);
      expect(recorder.dropped).to.equal(0);
    });

    it('begins another event when the first was not seen for six minutes', async () => {
      recorder.record(SCALED);
      await stored((all) => all.length === 1);
      await served.clock.advance(360_000);
      recorder.record(SCALED);
      const all = await stored((found) => found.length === 2);
      expect(all.every(({ series }) => series === undefined)).to.equal(true);
    });

    it('makes an event again that has expired', async () => {
      recorder.record(SCALED);
      const [first] = await stored((all) => all.length === 1);
      await events.delete(first?.metadata ?? expect.fail());
      recorder.record(SCALED);
      await served.clock.advance(10_000);
      const [second] = await stored((all) => all.length === 1);
      expect(second?.metadata.name).not.to.equal(first?.metadata.name);
      expect(second?.series).to.have.property('count', 2);
    });

    it('limits events of each object to 25 at once, then one in five minutes', async () => {
      for (let index = 0; index < 40; index++) recorder.record({ ...SCALED, message: `to ${index}` });
      recorder.record({ ...SCALED, regarding: { ...REGARDING, name: 'other', uid: 'u2' } });
      await stored((all) => all.length === 26);
      expect(recorder.dropped).to.equal(15);
      await served.clock.advance(300_000);
      recorder.record({ ...SCALED, message: 'to 99' });
      recorder.record({ ...SCALED, message: 'to 100' });
      await stored((all) => all.length === 27);
      expect(recorder.dropped).to.equal(16);
    });

    it('logs once a minute how many events were dropped since, and the object and reason of the latest', async () => {
      const overflow = (count: number, facts: EventFacts) => {
        for (let index = 0; index < count; index++) recorder.record({ ...facts, message: `to ${index}` });
      };
      overflow(40, SCALED);
      await served.clock.advance(59_999);
      const node = { apiVersion: 'v1', kind: 'Node', name: 'n1' };
      overflow(26, { ...SCALED, regarding: node, reason: 'Drained' });
      const first = ['Dropped events', 1, 'ConfigMap default/web', 'Scaled'];
      const lines = () =>
        served.logger.lines.map(({ message, fields }) => [
          ...[message, fields.dropped, fields.latestObject, fields.latestReason],
        ]);
      expect(lines()).to.deep.equal([first]);
      expect(served.logger.lines[0]?.fields).to.include({ why: 'too many events' });
      await served.clock.advance(1);
      recorder.record({ ...SCALED, regarding: node, reason: 'Drained', message: 'once more' });
      expect(lines()).to.deep.equal([first, ['Dropped events', 16, 'Node n1', 'Drained']]);
    });

    it('writes events of cluster-scoped objects to the default namespace, and truncates long messages', async () => {
      const regarding = { apiVersion: 'v1', kind: 'Node', name: 'n'.repeat(253) };
      recorder.record({ ...SCALED, regarding, message: 'ü'.repeat(2_000), reason: 'R'.repeat(200) });
      const [event] = await stored((all) => all.length === 1);
      expect(event?.metadata.namespace).to.equal('default');
      expect(event?.metadata.name).to.have.length(253);
      expect(Buffer.byteLength(String(event?.note))).to.be.within(1_020, 1_024);
      expect(String(event?.note)).to.match(/^ü+…$/);
      expect(event?.reason).to.have.length(128);
    });

    it('truncates between characters, and leaves replacement characters unchanged', async () => {
      const resourceVersion = '7';
      const regarding = { ...REGARDING, name: `${'n'.repeat(235)}.web`, resourceVersion };
      recorder.record({ ...SCALED, regarding, message: `\ufffd${'ü'.repeat(2_000)}` });
      const [event] = await stored((all) => all.length === 1);
      expect(String(event?.note)).to.match(/^\ufffdü+…$/);
      expect(event?.metadata.name).to.match(/^n{235}\.[0-9a-f]{16}$/); // without a second dot
      expect(event?.regarding).to.deep.equal(regarding);
    });
  });

  describe('with a server of its own', () => {
    let served: JsonApi;
    let respond: () => JsonResponse | undefined;
    let recorder: EventRecorder;

    beforeEach(async () => {
      respond = () => ({ metadata: { name: 'e' } });
      served = await startJsonApi(({ url }) => CORE_ONLY[url.pathname] ?? respond());
      const { api, clock } = served;
      recorder = new EventRecorder({ ...served, mapper: new RestMapper({ api, clock }), source: SOURCE });
    });

    afterEach(async () => {
      await recorder[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
      expect(served.clock.sleeperCount).to.equal(0);
    });

    const writes = () => served.server.requests.filter(({ method }) => method !== 'GET');

    it('writes core events where the newer group is not served', async () => {
      recorder.record(SCALED);
      await until(served.clock, () => writes().length === 1);
      recorder.record(SCALED);
      await served.clock.advance(10_000);
      await until(served.clock, () => writes().length === 2);
      const [created, updated] = writes().map(({ body }) => JSON.parse(body));
      expect(created).to.deep.include({
        apiVersion: 'v1',
        kind: 'Event',
        involvedObject: REGARDING,
        message: 'from 1 to 3',
        source: { component: 'autoscaler-cronhpa' },
        reportingComponent: 'autoscaler-cronhpa',
        count: 1,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
      });
      expect(writes()[1]?.url.pathname).to.match(
        /^\/api\/v1\/namespaces\/default\/events\/web\.[0-9a-f]{16}$/,
      );
      expect(updated.count).to.equal(2);
    });

    it('tries five times to write an event, less and less often', async () => {
      respond = () => refusal(503, 'ServiceUnavailable');
      recorder.record(SCALED);
      const atMs: number[] = [];
      for (let attempt = 1; attempt <= 5; attempt++) {
        await until(served.clock, () => writes().length === attempt);
        atMs.push(served.clock.monotonicMs());
        recorder.record(SCALED); // has no influence on the next time
        while (writes().length === attempt && recorder.dropped === 0) await served.clock.advance(250);
      }
      // A lower bound, since the clock continues while a response is on its way.
      for (const [index, minMs] of [1_000, 2_000, 4_000, 8_000].entries()) {
        expect((atMs[index + 1] ?? 0) - (atMs[index] ?? 0)).to.be.at.least(minMs);
      }
      expect(recorder.dropped).to.equal(1);
    });

    it('drops an event that the server refuses, and continues with the next', async () => {
      respond = () => (writes().length === 1 ? refusal(403, 'Forbidden') : { metadata: { name: 'e' } });
      recorder.record(SCALED);
      recorder.record({ ...SCALED, message: 'next' });
      await until(served.clock, () => writes().length === 2 && recorder.dropped === 1);
      expect(served.logger.lines[0]?.message).to.equal('Dropped events');
      expect(served.logger.lines[0]?.fields).to.include({
        ...{ why: 'the API server refuses events', dropped: 1 },
        ...{ latestObject: 'ConfigMap default/web', latestReason: 'Scaled' },
      });
    });

    it('drops events with a log line where the API server does not serve events', async () => {
      const { api, clock, logger } = served;
      const mapper = new RestMapper({ api, clock });
      mapper.findExact = async () => undefined;
      await using other = new EventRecorder({ api, clock, logger, mapper, source: SOURCE });
      other.record(SCALED);
      while (other.dropped === 0) await clock.advance(250);
      expect(writes()).to.deep.equal([]);
      expect(logger.lines[0]?.fields.err).to.equal('the API server does not serve events');
    });

    it('buffers at most five hundred events of a namespace while the server is silent, and as many of others, and ends at once', async () => {
      respond = () => undefined;
      for (let index = 0; index < 1_500; index++) {
        recorder.record({ ...SCALED, regarding: { ...REGARDING, name: `n${index}`, uid: `${index}` } });
      }
      expect(recorder.dropped).to.equal(1_000);
      const other = { ...REGARDING, namespace: 'other', name: 'web', uid: 'u' };
      recorder.record({ ...SCALED, regarding: other });
      expect(recorder.dropped).to.equal(1_000);
      await until(served.clock, () => writes().length === 1);
      await recorder[Symbol.asyncDispose]();
    });

    it('writes ten new events of a namespace each second after the first five hundred, however many objects have them', async () => {
      let names = 0;
      const record = (namespace: string) => {
        const name = `n${names++}`;
        recorder.record({ ...SCALED, regarding: { ...REGARDING, namespace, name, uid: name } });
      };
      const recordAll = async (count: number) => {
        for (let index = 0; index < count; index++) record('default');
        await until(served.clock, () => writes().length === names - recorder.dropped);
      };
      for (let round = 0; round < 3; round++) await recordAll(200);
      expect(recorder.dropped).to.equal(100);
      await served.clock.advance(10_000);
      await recordAll(200);
      expect(recorder.dropped).to.equal(200);
      record('other');
      await until(served.clock, () => writes().length === names - recorder.dropped);
      expect(writes().at(-1)?.url.pathname).to.contain('/other/');
    });

    it('retains at most the maximum length of a message', async () => {
      respond = () => undefined;
      const before = await memoryInUse();
      for (let index = 0; index < 200; index++) {
        const regarding = { ...REGARDING, name: `n${index}`, uid: `${index}` };
        recorder.record({ ...SCALED, regarding, message: `${'x'.repeat(100_000)} ${index}` });
      }
      expect((await memoryInUse()) - before).to.be.below(4_000_000); // a fifth of the messages
      await until(served.clock, () => writes().length === 1);
      await recorder[Symbol.asyncDispose]();
    });
  });
});

const CORE_ONLY: Readonly<Record<string, JsonResponse>> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', groups: [] },
  '/api/v1': { kind: 'APIResourceList', resources: [{ name: 'events', kind: 'Event', namespaced: true }] },
};
