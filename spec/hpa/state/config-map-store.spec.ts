import { expect } from 'chai';
import { bytesOfAll, type ConfigMap } from '#lib/hpa/state/config-map-parts.ts';
import { ConfigMapStore } from '#lib/hpa/state/config-map-store.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { systemClock } from '#lib/time/clock.ts';
import type { ApiFault } from '#simulator/api-server/faults.ts';
import { ApiError } from '#simulator/api-server/status.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const CONFIG_MAPS = { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const RECORD_BYTES = 200_000;
/** Under other names, persisted state would be lost with the next version. */
const NAMES = [
  'autoscaler-hpa-memory',
  'autoscaler-hpa-memory-2',
  'autoscaler-hpa-memory-3',
  'autoscaler-hpa-memory-4',
] as const;

describe('ConfigMapStore', () => {
  let server: SimulatedApiServer;
  let client: ApiClient;
  let existing: Set<string>;

  beforeEach(async () => {
    server = await startSimulatedApiServer({});
    client = new ApiClient({ access: await server.access(), clock: server.clock, userAgent: 'spec' });
    existing = new Set(Array.from({ length: 40 }, (_, index) => `web-${index}`));
  });
  afterEach(async () => {
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it('stores a namespace in one ConfigMap while it fits', async () => {
    const store = lead();
    await Promise.all([...existing].map((name) => store.put('default', name, `of ${name}`)));
    expect(await sizes()).to.have.lengthOf(1);
    const next = lead();
    expect(await next.get('default', 'web-39')).to.equal('of web-39');
    await Promise.all([...existing].map((name) => next.put('default', name, undefined)));
    expect(await sizes()).to.deep.equal([]);
  });

  it('continues in further ConfigMaps within the size limit, and rejects what fits in none', async () => {
    const store = lead();
    const outcomes = await Promise.all(
      [...existing].map((name) => store.put('default', name, longText(name)).then(() => 'kept', String)),
    );
    expect(outcomes.filter((one) => one === 'kept')).to.have.lengthOf(16);
    expect(outcomes[16]).to.equal(
      'Error: no room for "web-16": the 4 ConfigMaps autoscaler-hpa-memory… of default contain 3.6 MB; distribute HPAs over more namespaces',
    );
    const taken = await sizes();
    expect(taken).to.have.lengthOf(4);
    for (const bytes of taken) expect(bytes).to.be.within(RECORD_BYTES, 900_000);
    const next = lead();
    for (const name of [...existing].slice(0, 16))
      expect(await next.get('default', name)).to.equal(longText(name));
    expect(await next.get('default', 'web-16')).to.equal(undefined);
    await next.put('default', 'web-0', undefined);
    await next.put('default', 'web-16', longText('web-16')); // there is room now
  });

  it('removes deleted records from all ConfigMaps, the last first', async () => {
    const store = lead();
    await Promise.all([...existing].slice(0, 16).map((name) => store.put('default', name, longText(name))));
    existing = new Set(['web-12']); // in the last ConfigMap
    await store.put('default', 'web-12', 'short');
    expect(await sizes()).to.deep.equal([0, 0, 0, 'web-12short'.length]);
    expect(await lead().get('default', 'web-12')).to.equal('short');
    await store.put('default', 'web-12', undefined);
    expect(await sizes()).to.deep.equal([]);
  });

  it('moves grown records without loss when killed in between', async () => {
    for (const failingWrite of [0, 1, 2]) {
      const store = lead();
      const first = [...existing].slice(0, 4);
      await Promise.all(first.map((name) => store.put('default', name, longText(name))));
      let writes = 0;
      server.cluster.apiServer.setFaults(failing(() => writes++ === failingWrite));
      const grown = longText('web-1') + longText('more');
      await store.put('default', 'web-1', grown).catch(() => {});
      server.cluster.apiServer.setFaults();
      const next = lead();
      for (const name of first) {
        const retained = await next.get('default', name);
        if (name === 'web-1') expect([grown, longText(name)], `${failingWrite}`).to.include(retained);
        else expect(retained).to.equal(longText(name));
      }
      await next.put('default', 'web-1', 'short again');
      expect(await lead().get('default', 'web-1')).to.equal('short again');
      for (const name of first) await next.put('default', name, undefined);
      expect(await sizes()).to.deep.equal([]);
    }
  });

  it('retains the previous version of a record that fits in none', async () => {
    const store = lead();
    const names = [...existing].slice(0, 16);
    await Promise.all(names.map((name) => store.put('default', name, longText(name))));
    const grown = longText('web-5') + longText('more');
    expect(await store.put('default', 'web-5', grown).catch(String)).to.contain('no room for "web-5"');
    for (const name of names) expect(await lead().get('default', name)).to.equal(longText(name));
    await store.put('default', 'web-6', undefined);
    await store.put('default', 'web-7', undefined);
    await store.put('default', 'web-5', 'short').then(() => store.put('default', 'web-5', grown));
    expect(await lead().get('default', 'web-5')).to.equal(grown);
  });

  for (const index of [0, 1, 2])
    it(`finds the other ConfigMaps when number ${index + 1} was deleted`, async () => {
      const store = lead();
      const names = [...existing].slice(0, 16);
      await Promise.all(names.map((name) => store.put('default', name, longText(name))));
      await remove(NAMES[index] ?? '');
      await store.put('default', 'web-15', 'of now'); // in the last ConfigMap
      const next = lead();
      for (const [record, name] of names.entries()) {
        const isLost = Math.floor(record / 4) === index;
        const text = name === 'web-15' ? 'of now' : longText(name);
        expect(await next.get('default', name), name).to.equal(isLost ? undefined : text);
      }
    });

  for (const [what, late] of [
    ['changes', 'of late'],
    ['takes away the last that it knows of', undefined],
  ] as const)
    it(`loses nothing that another process has written since, when it ${what}`, async () => {
      const before = lead();
      await before.put('default', 'web-0', 'of web-0');
      const store = lead();
      expect(await store.get('default', 'web-0')).to.equal('of web-0');
      await before.put('default', 'web-1', 'of web-1');
      await store.put('default', 'web-0', late);
      expect(await lead().get('default', 'web-0')).to.equal(late);
      expect(await lead().get('default', 'web-1')).to.equal('of web-1');
    });

  it('finds the others when the first was deleted, and continues', async () => {
    const names = [...existing].slice(0, 12);
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

  it('adopts a ConfigMap beyond a missing one', async () => {
    const names = [...existing].slice(0, 12);
    const store = lead();
    await Promise.all(names.map((name) => store.put('default', name, longText(name))));
    await remove(NAMES[0]);
    await remove(NAMES[1]);
    const next = lead();
    await Promise.all(names.map((name) => next.put('default', name, longText(name))));
    for (const name of names) expect(await lead().get('default', name)).to.equal(longText(name));
  });

  for (const isThere of [false, true])
    it(`uses the first only without permission for the others, one of which is ${isThere ? '' : 'not '}there`, async () => {
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
        [...existing]
          .slice(0, 6)
          .map((name) => store.put('default', name, longText(name)).then(() => '', String)),
      );
      expect(outcomes.filter((one) => one === '')).to.have.lengthOf(4);
      expect(outcomes[5]).to.contain('no room for "web-5"');
      await store.put('default', 'web-1', 'a');
      expect(await lead().get('default', 'web-1')).to.equal('a');
      expect(await lead().get('default', 'web-3')).to.equal(longText('web-3'));
    });

  function lead(): ConfigMapStore {
    return new ConfigMapStore({
      configMaps: new ResourceClient<ConfigMap>({ api: client, resource: CONFIG_MAPS }),
      clock: systemClock,
      isKnown: (key) => existing.has(key.slice('default/'.length)),
    });
  }

  async function remove(name: string): Promise<void> {
    const { status } = await server.client.delete(`/api/v1/namespaces/default/configmaps/${name}`);
    expect(status).to.equal(200);
  }

  /** The size of each ConfigMap in bytes. */
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
