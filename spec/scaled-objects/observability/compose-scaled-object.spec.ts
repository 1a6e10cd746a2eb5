import { expect } from 'chai';
import {
  type ComposeSource,
  composeScaledObject,
} from '#lib/scaled-objects/observability/compose-scaled-object.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import { openTriggerEnvironment } from '#lib/scaled-objects/triggers/trigger-environment.ts';
import { allTriggers, TriggerTypes } from '#lib/scaled-objects/triggers/trigger-registry.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const QUEUE = 'trigger=rabbitmq&p.queueName=orders&p.mode=QueueLength&p.value=20&authentication=login';
const WINDOW = 'trigger=cron&p.timezone=UTC&p.start=0+8+*+*+*&p.end=0+9+*+*+*&p.desiredReplicas=3';

describe('composeScaledObject', () => {
  let source: ComposeSource;
  let environment: ReturnType<typeof openTriggerEnvironment>;

  before(() => {
    const unused = () => expect.fail('a form queries nothing');
    environment = openTriggerEnvironment({
      ...{ clock: new ManualClock(), userAgent: 'spec', allowedHosts: [], findAddresses: undefined },
      ...{ timeoutMs: 1000, listPods: unused, listEndpoints: unused },
    });
    source = {
      types: new TriggerTypes(allTriggers(environment)),
      validation: {
        ...{ isSynced: true, overlapping: () => [], overlappingHpas: () => [] },
        ...{ workload: () => undefined, limitedByDefault: async () => [] },
      },
    };
  });

  after(() => environment[Symbol.asyncDispose]());

  const compose = (query: string, more: Partial<ComposeSource['validation']> = {}) =>
    composeScaledObject(
      new URLSearchParams(query),
      {
        ...{ signal: new AbortController().signal, nowMs: 0, turn: async () => {} },
        hasPrometheusServer: false,
        checkTarget: async () => undefined,
      },
      { ...source, validation: { ...source.validation, ...more } },
    );
  const problemsOf = async (query: string, more: Partial<ComposeSource['validation']> = {}) => {
    const { fields, problems, manifest } = await compose(query, more);
    expect(manifest).to.equal(undefined);
    const beside = [...fields.toString().matchAll(/id="p-([^"]*)" class="refusal">([^<]+)</g)];
    return [...beside.map(([, field, problem]) => `${field}: ${problem}`), ...problems];
  };

  it('makes a ScaledObject with one trigger', async () => {
    const { manifest, warnings, preview } = await compose(
      `namespace=shop&name=mail&min=0&max=20&polling=10&cooldown=60&${QUEUE}`,
    );
    expect(warnings).to.deep.equal([]);
    expect(manifest).to.deep.equal({
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject' },
      metadata: { name: 'mail', namespace: 'shop' },
      spec: {
        scaleTargetRef: { name: 'mail' },
        ...{ pollingInterval: 10, cooldownPeriod: 60, minReplicaCount: 0, maxReplicaCount: 20 },
        triggers: [
          {
            type: 'rabbitmq',
            metadata: { mode: 'QueueLength', queueName: 'orders', value: '20' },
            authenticationRef: { name: 'login' },
          },
        ],
      },
    });
    expect(String(preview)).to.include('The source is not queried for this page');
    const { warnings: ineffective } = await compose(`name=mail&min=1&polling=10&${QUEUE}`);
    expect(ineffective.join()).to.match(/^PollingInterval is configured but is not relevant/);
    expect((await compose(`name=db&targetKind=StatefulSet&${WINDOW}`)).manifest).to.have.nested.property(
      'spec.scaleTargetRef.kind',
      'StatefulSet',
    );
  });

  it('has a field for each supported parameter of the metadata of the chosen type, and none for secrets', async () => {
    const names = async (query: string) =>
      [...(await compose(query)).fields.toString().matchAll(/name="(p\.[^"]*)"/g)].map(([, name]) => name);
    expect(await names('trigger=cron')).to.have.members([
      'p.timezone',
      'p.start',
      'p.end',
      'p.desiredReplicas',
    ]);
    expect(await names('trigger=postgresql'))
      .to.include('p.query')
      .and.to.not.include('p.password');
    expect(await names('trigger=mysql')).to.not.include('p.metricName');
    expect(await names('trigger=prometheus'))
      .to.include('p.namespace')
      .and.to.not.include.members(['p.awsRegion'])
      .and.to.not.include.members(['p.identityOwner']);
    expect(await names('trigger=none')).to.deep.equal(await names('trigger=prometheus'));
  });

  it('has a form for each type of triggers', async () => {
    for (const type of source.types.names) {
      const { fields, manifest } = await compose(`name=web&trigger=${type}`);
      expect(fields.toString(), type).to.include(`<option selected>${type}</option>`);
      expect(manifest, type).to.equal(undefined); // each has a required parameter
    }
  });

  it('reports each parameter that reconciling refuses, but for those that an authentication may have', async () => {
    expect(await problemsOf('name=web&trigger=cron')).to.have.members(
      ['timezone', 'start', 'end', 'desiredReplicas'].map((name) => `p.${name}: is missing`),
    );
    expect(await problemsOf(`name=web&${WINDOW}x`)).to.deep.equal([
      'p.desiredReplicas: is not a whole number',
    ]);
    expect(await problemsOf(`name=web&${QUEUE.replace('&authentication=login', '')}`)).to.deep.equal([
      'p.host: is missing',
    ]);
    const wrong = 'p.queueName=q&authentication=login&p.value=a&p.protocol=smtp';
    expect(await problemsOf(`name=web&trigger=rabbitmq&${wrong}`)).to.have.members([
      'p.protocol: must be one of auto, amqp, http',
      'p.value: is not a number',
    ]);
  });

  it('refuses a minimum above the maximum, beside its field', async () => {
    expect(await problemsOf(`name=web&min=4&max=3&${WINDOW}`)).to.deep.equal([
      'min: must be at most the maximum',
    ]);
    expect((await compose(`name=web&min=3&max=3&${WINDOW}`)).manifest).not.to.equal(undefined);
  });

  it('refuses what the webhook refuses, with its message', async () => {
    expect(await problemsOf(`name=web&min=101&${WINDOW}`)).to.deep.equal([
      'MinReplicaCount=101 must be less than MaxReplicaCount=100',
    ]);
    const other = compileScaledObject({
      metadata: { namespace: 'default', name: 'older', uid: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { scaleTargetRef: { name: 'web' }, triggers: [] },
    });
    expect(await problemsOf(`name=new&target=web&${WINDOW}`, { overlapping: () => [other] })).to.deep.equal([
      "the workload 'web' of type 'apps/v1.Deployment' is already managed by the ScaledObject 'older'",
    ]);
    const { warnings } = await compose(`name=web&${WINDOW}`, { isSynced: false });
    expect(warnings).to.deep.equal([
      'It is not checked yet whether another object scales this target: the objects are still being listed. Try again in a few seconds.',
    ]);
  });
});
