import { expect } from 'chai';
import { TargetSelectors } from '#lib/metrics-adapter/targets/target-selectors.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const { signal } = new AbortController();
const MINUTE_MS = 60_000;

describe('TargetSelectors', () => {
  it('caches a selector for up to ten minutes', async () => {
    const { selectors, clock, read } = setUp();
    for (let minute = 0; minute < 10; minute++) {
      expect(await selectors.selectorOf(target('web'), { signal })).to.equal('app=web-1');
      await clock.advance(MINUTE_MS);
    }
    expect(read).to.deep.equal(['/apis/apps/v1/namespaces/default/deployments/web']);
    expect(await selectors.selectorOf(target('web'), { signal })).to.equal('app=web-2');
  });

  it('reads one that is doubted again, at most once a minute', async () => {
    const { selectors, clock, read } = setUp();
    const doubted = { signal, isDoubted: true };
    expect(await selectors.selectorOf(target('web'), doubted)).to.equal('app=web-1');
    for (let second = 0; second < 60; second += 15) {
      expect(await selectors.selectorOf(target('web'), doubted)).to.equal('app=web-1');
      await clock.advance(15_000);
    }
    expect(await selectors.selectorOf(target('web'), doubted)).to.equal('app=web-2');
    expect(await selectors.selectorOf(target('web'), { signal })).to.equal('app=web-2');
    expect(read).to.have.length(2);
  });

  it('spreads over five minutes those that were first read together', async () => {
    let drawn = 0;
    const { selectors, clock, read } = setUp(() => (drawn++ % 100) / 100);
    const readAll = async () => {
      for (let index = 0; index < 100; index++) await selectors.selectorOf(target(`w${index}`), { signal });
      return read.splice(0).length;
    };
    expect(await readAll()).to.equal(100);
    await clock.advance(5 * MINUTE_MS - 1);
    expect(await readAll()).to.equal(0);
    for (let minute = 0; minute < 5; minute++) {
      await clock.advance(MINUTE_MS);
      expect(await readAll()).to.be.within(19, 21);
    }
  });

  for (const [group, plural] of [
    ['apps', 'deployments'],
    ['apps', 'statefulsets'],
    ['apps', 'replicasets'],
    ['argoproj.io', 'rollouts'],
  ] as const)
    it(`reads ${plural} of ${group} themselves`, async () => {
      const { selectors, read, served } = setUp();
      Object.assign(served, { group, plural });
      await selectors.selectorOf(target('web'), { signal });
      expect(read).to.deep.equal([`/apis/${group}/v1/namespaces/default/${plural}/web`]);
    });

  for (const [group, plural] of [
    ['apps', 'daemonsets'],
    ['example.org', 'deployments'],
  ] as const)
    it(`reads the selector from the scale of ${plural} of ${group}`, async () => {
      const { selectors, client, read, served } = setUp();
      Object.assign(served, { group, plural });
      client.getJson = async (path) => {
        read.push(path);
        return { spec: { selector: 'app=other' }, status: { selector: 'app=web' } };
      };
      expect(await selectors.selectorOf(target('web'), { signal })).to.equal('app=web');
      expect(read).to.deep.equal([`/apis/${group}/v1/namespaces/default/${plural}/web/scale`]);
      client.getJson = async () => ({ status: { selector: '' } });
      expect(await errorOf(selectors.selectorOf(target('api'), { signal }))).to.equal(
        'Cannot find pods of Deployment default/api: the scale subresource has no status.selector',
      );
    });

  it('reports that the API server does not serve the kind', async () => {
    const { selectors, served } = setUp();
    served.group = 'none';
    expect(await errorOf(selectors.selectorOf(target('web'), { signal }))).to.equal(
      'Cannot find pods of Deployment default/web: the API server does not serve Deployment of apps/v1',
    );
  });

  it('distinguishes workloads by all parts of their reference', async () => {
    const { selectors, read } = setUp();
    const web = target('web');
    for (const other of [{}, { namespace: 'other' }, { apiVersion: 'apps/v2' }, { kind: 'Rollout' }])
      await selectors.selectorOf({ ...web, ...other }, { signal });
    await selectors.selectorOf({ ...web, apiVersion: undefined }, { signal }); // apps/v1 by default
    expect(read).to.have.lengthOf(4);
  });

  it('refuses a selector of more than 4,096 characters, which each poll would parse', async () => {
    const { selectors, client } = setUp();
    const values = Array.from({ length: 2048 }, (_, index) => `${index}`);
    client.getJson = async () => ({
      spec: { selector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values }] } },
    });
    expect(await errorOf(selectors.selectorOf(target('web'), { signal }))).to.match(
      /^Cannot find pods of Deployment default\/web: its selector has \d+ characters, more than 4096$/,
    );
  });

  it('caches nothing of an unreadable workload', async () => {
    const { selectors, client } = setUp();
    const served = client.getJson;
    client.getJson = async () => ({ spec: {} });
    expect(await errorOf(selectors.selectorOf(target('web'), { signal }))).to.equal(
      'Cannot find pods of Deployment default/web: spec.selector is missing or invalid',
    );
    client.getJson = served;
    expect(await selectors.selectorOf(target('web'), { signal })).to.equal('app=web-1');
  });
});

function target(name: string) {
  return { namespace: 'default', apiVersion: 'apps/v1', kind: 'Deployment', name };
}

function setUp(random = () => 0) {
  const clock = new ManualClock();
  const read: string[] = [];
  const client = {
    async getJson(path: string): Promise<unknown> {
      read.push(path);
      const name = path.split('/').at(-1);
      return { spec: { selector: { matchLabels: { app: `${name}-${read.length}` } } } };
    },
  };
  const served = {
    group: 'apps',
    version: 'v1',
    kind: 'Deployment',
    plural: 'deployments',
    namespaced: true,
  };
  const mapper = { find: async () => (served.group === 'none' ? undefined : served) };
  const selectors = new TargetSelectors({ client, clock, random, mapper });
  return { selectors, clock, client, read, served };
}
