import { expect } from 'chai';
import { eventually } from '#spec/support/eventually.ts';
import {
  PATHS,
  type ScaledObjectsCluster,
  startScaledObjectsCluster,
} from '#spec/support/scaled-objects-cluster.ts';

const OBJECTS = 60;
const SECRETS = 100;
/** A fifth of all: 24 s of the whole budget. */
const TOO_MANY = (OBJECTS * SECRETS) / 5;
const RATE = { perSecond: 50, burst: 100 };
const ATTACKER = PATHS.scaledObjects.replace('/default/', '/attacker/');

/** Compares the order of requests, not their time: each read of a Secret uses 20 ms of a budget. */
describe('ScaledObjects of two namespaces', () => {
  let cluster: ScaledObjectsCluster;
  let secretsRead: number;

  beforeEach(async () => {
    cluster = await startScaledObjectsCluster({ apiRate: RATE, workers: 8 });
    secretsRead = 0;
    cluster.setFaults({
      serve: async ({ target }, { next }) => {
        if (target.isResource && target.resource === 'secrets') secretsRead++;
        await next();
      },
    });
    const metadata = { name: 'attacker' };
    await cluster.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  });

  afterEach(() => cluster[Symbol.asyncDispose]());

  it('activate a target though another namespace refers to thousands of Secrets', async () => {
    for (let index = 0; index < OBJECTS; index++) await refer(`a${index}`, (place) => `s${index}-${place}`);
    await cluster.lead();
    await eventually(async () => {
      await cluster.clock.advance(0);
      return secretsRead >= RATE.burst / 2;
    });
    cluster.source.set('/queue', 7);
    await cluster.deployment('web', 0);
    await cluster.scaledObject('web', { pollingInterval: 1, triggers: [cluster.trigger('/queue')] });
    await cluster.untilMet(async () => secretsRead >= TOO_MANY || (await cluster.replicas('web')) === 1);
    expect(secretsRead).to.be.below(TOO_MANY);
  });

  it('plan triggers with credentials though another namespace refers to thousands of Secrets', async () => {
    for (let index = 0; index < OBJECTS; index++) await refer(`a${index}`, (place) => `s${index}-${place}`);
    await cluster.lead();
    await eventually(async () => {
      await cluster.clock.advance(0);
      return secretsRead >= RATE.burst / 2;
    });
    cluster.source.set('/queue', 7);
    const data = { key: Buffer.from('secret').toString('base64') };
    await cluster.create(PATHS.secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'login' },
      data,
    });
    await cluster.create(PATHS.authentications, {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'TriggerAuthentication',
      metadata: { name: 'login' },
      spec: { secretTargetRef: [{ parameter: 'token', name: 'login', key: 'key' }] },
    });
    await cluster.deployment('web', 0);
    const trigger = cluster.trigger('/queue', {
      authenticationRef: { name: 'login' },
      metadata: { authMode: 'bearer' },
    });
    await cluster.scaledObject('web', { pollingInterval: 1, triggers: [trigger] });
    await cluster.untilMet(async () => secretsRead >= TOO_MANY || (await cluster.replicas('web')) === 1);
    expect(secretsRead).to.be.below(TOO_MANY);
  });

  it('read a Secret once that many objects of a namespace refer to', async () => {
    for (let index = 0; index < 20; index++) await refer(`a${index}`, (place) => `shared-${place}`);
    await cluster.lead();
    await cluster.untilMet(() => cluster.subsystem.isSynced && secretsRead >= SECRETS);
    for (let second = 0; second < 3; second++) await cluster.clock.advance(1000);
    expect(secretsRead).to.be.below(3 * SECRETS);
  });

  /** An object whose authentication refers to missing Secrets. */
  async function refer(name: string, secretOf: (place: number) => string): Promise<void> {
    const secretTargetRef = Array.from({ length: SECRETS }, (_, place) => ({
      ...{ parameter: `p${place}`, name: secretOf(place), key: 'key' },
    }));
    await cluster.create(PATHS.authentications.replace('/default/', '/attacker/'), {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'TriggerAuthentication',
      metadata: { name },
      spec: { secretTargetRef },
    });
    const trigger = cluster.trigger('/queue', { authenticationRef: { name } });
    await cluster.create(ATTACKER, {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledObject',
      metadata: { name },
      spec: { scaleTargetRef: { name }, triggers: [trigger] },
    });
  }
});
