import { expect } from 'chai';
import { bytesOfAll, type ConfigMap } from '#lib/hpa/state/config-map-parts.ts';
import { MemoryStore } from '#lib/hpa/state/config-map-store.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { ApiFault } from '#simulator/api-server/faults.ts';
import { ApiError } from '#simulator/api-server/status.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const CONFIG_MAPS = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const RECORD_BYTES = 200_000;
/** Under others, what is remembered would be lost with the next version. */
const NAMES = [
  'autoscaler-hpa-memory',
  'autoscaler-hpa-memory-2',
  'autoscaler-hpa-memory-3',
  'autoscaler-hpa-memory-4',
] as const;

describe('MemoryStore', () => {
  let server: SimulatedApiServer;
  let client: ApiClient;
  let known: Set<string>;

  beforeEach(async () => {
    server = await startSimulatedApiServer({});
    client = new ApiClient({ access: await server.access(), clock: server.clock, userAgent: 'spec' });
    known = new Set(Array.from({ length: 40 }, (_, place) => `web-${place}`));
  });
  afterEach(async () => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it('keeps all of a namespace in one ConfigMap while it fits', async () => {
    const store = lead();
    await Promise.all([...known].map((name) => store.put('default', name, `of ${name}`)));
    expect(await sizes()).to.have.lengthOf(1);
    const next = lead();
    expect(await next.get('default', 'web-39')).to.equal('of web-39');
    await Promise.all([...known].map((name) => next.put('default', name, undefined)));
    expect(await sizes()).to.deep.equal([]);
  });

  it('goes on in further ones, none longer than the API server takes, and refuses clearly what none can take', async () => {
    const store = lead();
    const outcomes = await Promise.all(
      [...known].map((name) => store.put('default', name, longText(name)).then(() => 'kept', String)),
    );
    expect(outcomes.filter((one) => one === 'kept')).to.have.lengthOf(16);
    expect(outcomes[16]).to.equal(
      'Error: no place is left for "web-16": the 4 ConfigMaps autoscaler-hpa-memory… of default hold 3.6 MB; HPAs in more namespaces have more',
    );
    const taken = await sizes();
    expect(taken).to.have.lengthOf(4);
    for (const bytes of taken) expect(bytes).to.be.within(RECORD_BYTES, 900_000);
    const next = lead();
    for (const name of [...known].slice(0, 16))
      expect(await next.get('default', name)).to.equal(longText(name));
    expect(await next.get('default', 'web-16')).to.equal(undefined);
    await next.put('default', 'web-0', undefined);
    await next.put('default', 'web-16', longText('web-16')); // there is a place now
  });

  it('takes what is no more out of all of them, the last first', async () => {
    const store = lead();
    await Promise.all([...known].slice(0, 16).map((name) => store.put('default', name, longText(name))));
    known = new Set(['web-12']); // which is in the last
    await store.put('default', 'web-12', 'short');
    expect(await sizes()).to.deep.equal([0, 0, 0, 'web-12short'.length]);
    expect(await lead().get('default', 'web-12')).to.equal('short');
    await store.put('default', 'web-12', undefined);
    expect(await sizes()).to.deep.equal([]);
  });

  it('moves what has grown, and loses nothing when it is killed in between', async () => {
    for (const failingWrite of [0, 1, 2]) {
      const store = lead();
      const first = [...known].slice(0, 4);
      await Promise.all(first.map((name) => store.put('default', name, longText(name))));
      let writes = 0;
      server.cluster.apiServer.setFaults(failing(() => writes++ === failingWrite));
      const grown = longText('web-1') + longText('more');
      await store.put('default', 'web-1', grown).catch(() => {});
      server.cluster.apiServer.setFaults();
      const next = lead();
      for (const name of first) {
        const kept = await next.get('default', name);
        if (name === 'web-1') expect([grown, longText(name)], `${failingWrite}`).to.include(kept);
        else expect(kept).to.equal(longText(name));
      }
      await next.put('default', 'web-1', 'short again');
      expect(await lead().get('default', 'web-1')).to.equal('short again');
      for (const name of first) await next.put('default', name, undefined);
      expect(await sizes()).to.deep.equal([]);
    }
  });

  it('keeps what was there of a record that has grown beyond all of them', async () => {
    const store = lead();
    const names = [...known].slice(0, 16);
    await Promise.all(names.map((name) => store.put('default', name, longText(name))));
    const grown = longText('web-5') + longText('more');
    expect(await store.put('default', 'web-5', grown).catch(String)).to.contain(
      'no place is left for "web-5"',
    );
    for (const name of names) expect(await lead().get('default', name)).to.equal(longText(name));
    await store.put('default', 'web-6', undefined);
    await store.put('default', 'web-7', undefined);
    await store.put('default', 'web-5', 'short').then(() => store.put('default', 'web-5', grown));
    expect(await lead().get('default', 'web-5')).to.equal(grown);
  });

  for (const place of [0, 1, 2])
    it(`finds the others where somebody has deleted the ${place + 1}. alone, and nobody has noticed`, async () => {
      const store = lead();
      const names = [...known].slice(0, 16);
      await Promise.all(names.map((name) => store.put('default', name, longText(name))));
      await remove(NAMES[place] ?? '');
      await store.put('default', 'web-15', 'of now'); // which is in the last
      const next = lead();
      for (const [index, name] of names.entries()) {
        const isLost = Math.floor(index / 4) === place;
        const kept = name === 'web-15' ? 'of now' : longText(name);
        expect(await next.get('default', name), name).to.equal(isLost ? undefined : kept);
      }
    });

  for (const [what, late] of [
    ['changes', 'of late'],
    ['takes away the last that it knows of', undefined],
  ] as const)
    it(`loses nothing that another process has kept since, where it ${what}`, async () => {
      const before = lead();
      await before.put('default', 'web-0', 'of web-0');
      const store = lead();
      expect(await store.get('default', 'web-0')).to.equal('of web-0');
      await before.put('default', 'web-1', 'of web-1');
      await store.put('default', 'web-0', late);
      expect(await lead().get('default', 'web-0')).to.equal(late);
      expect(await lead().get('default', 'web-1')).to.equal('of web-1');
    });

  it('finds the others where somebody has deleted the first, and goes on', async () => {
    const names = [...known].slice(0, 12);
    await Promise.all(names.map((name) => lead().get('default', name)));
    const store = lead();
    await Promise.all(names.map((name) => store.put('default', name, longText(name))));
    await remove(NAMES[0]);
    const next = lead();
    expect(await next.get('default', 'web-11')).to.equal(longText('web-11'));
    expect(await next.get('default', 'web-0')).to.equal(undefined);
    await next.put('default', 'web-0', 'new');
    expect(await lead().get('default', 'web-0')).to.equal('new');
    expect(await lead().get('default', 'web-11')).to.equal(longText('web-11'));
    await Promise.all(names.map((name) => next.put('default', name, undefined)));
    expect(await sizes()).to.deep.equal([]);
  });

  it('takes up one that nothing led to any more', async () => {
    const names = [...known].slice(0, 12);
    const store = lead();
    await Promise.all(names.map((name) => store.put('default', name, longText(name))));
    await remove(NAMES[0]);
    await remove(NAMES[1]);
    const next = lead();
    await Promise.all(names.map((name) => next.put('default', name, longText(name))));
    for (const name of names) expect(await lead().get('default', name)).to.equal(longText(name));
  });

  for (const isThere of [false, true])
    it(`makes do with the first where it may not read the others, and one is ${isThere ? '' : 'not '}there`, async () => {
      if (isThere) {
        const created = { metadata: { name: NAMES[1] }, data: { 'web-0': 'of before' } };
        expect((await server.client.post('/api/v1/namespaces/default/configmaps', created)).status).to.equal(
          201,
        );
      }
      server.cluster.apiServer.setFaults({
        async serve({ verb, target }, { next }) {
          const isLater = target.isResource && target.resource === 'configmaps' && target.name === NAMES[1];
          if (isLater && verb !== 'create') throw new ApiError(403, 'Forbidden', 'no');
          await next();
        },
      });
      const store = lead();
      const outcomes = await Promise.all(
        [...known]
          .slice(0, 6)
          .map((name) => store.put('default', name, longText(name)).then(() => '', String)),
      );
      expect(outcomes.filter((one) => one === '')).to.have.lengthOf(4);
      expect(outcomes[5]).to.contain('no place is left for "web-5"');
      await store.put('default', 'web-1', 'a');
      expect(await lead().get('default', 'web-1')).to.equal('a');
      expect(await lead().get('default', 'web-3')).to.equal(longText('web-3'));
    });

  function lead(): MemoryStore {
    return new MemoryStore({
      configMaps: new ResourceClient<ConfigMap>({ api: client, resource: CONFIG_MAPS }),
      isKnown: (key) => known.has(key.slice('default/'.length)),
    });
  }

  async function remove(name: string): Promise<void> {
    const { status } = await server.client.delete(`/api/v1/namespaces/default/configmaps/${name}`);
    expect(status).to.equal(200);
  }

  /** How many bytes each of them holds. */
  async function sizes(): Promise<readonly number[]> {
    const { items } = (await server.client.get('/api/v1/namespaces/default/configmaps')).body;
    const ours = items.filter(({ metadata }: { metadata: { name: string } }) =>
      (NAMES as readonly string[]).includes(metadata.name),
    );
    return ours.map(({ data }: { data?: object }) => bytesOfAll(new Map(Object.entries(data ?? {}))));
  }
});

function longText(name: string): string {
  return name.padEnd(RECORD_BYTES, '.');
}

function failing(isMeant: () => boolean): ApiFault {
  return {
    async serve({ verb, target }, { next }) {
      const isWrite =
        verb !== 'get' && verb !== 'list' && target.isResource && target.resource === 'configmaps';
      if (isWrite && isMeant()) throw new ApiError(500, 'InternalError', 'no');
      await next();
    },
  };
}
