import { expect } from 'chai';
import { mergePatch } from '#lib/control/status-writer.ts';
import { targetKey } from '#lib/cron-hpa/target-conflicts.ts';
import { requestsOfPods, usageOfContainers, usageOfPods } from '#lib/hpa/decision/pod-resources.ts';
import { MetricFailure } from '#lib/hpa/decision/replica-calculator.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';
import { metricSelector } from '#lib/kubernetes/selectors/selector-object.ts';
import { readKedaAnnotations } from '#lib/scaled-objects/api/annotations.ts';
import { HealthCounter } from '#lib/scaled-objects/metrics/fallback.ts';
import { compileFormula } from '#lib/scaled-objects/preparation/formula.ts';
import { containerEnvironments } from '#lib/scaled-objects/triggers/authentication/container-environment.ts';
import { resolveAuthentication } from '#lib/scaled-objects/triggers/authentication/resolve-authentication.ts';
import { parseSchedule } from '#lib/schedule/parse-schedule.ts';
import { ScheduleError } from '#lib/schedule/schedule.ts';
import { findValueAtPath } from '#lib/sources/json/gjson-path.ts';
import { parseDurationMs } from '#lib/time/duration.ts';
import { builtPod } from '#spec/hpa/built-inputs.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { refusal, startJsonApi } from '#spec/support/json-api.ts';
import { PATHS, startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

const TOO_LONG = 'the environment of the target exceeds 4194304 characters';

/** Each variable repeats the previous one twice. */
const doubling = (first: string, count: number) => [
  { name: 'V0', value: first },
  ...Array.from({ length: count }, (_, index) => ({
    name: `V${index + 1}`,
    value: `$(V${index})$(V${index})`,
  })),
];

for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
  describe(`the key ${key}`, () => {
    const data = async () => ({ user: 'guest' });
    const reader = { secretData: data, configMapData: data };
    const environmentWith = async (env: readonly object[]) => {
      const workload = { spec: { template: { spec: { containers: [{ name: 'main', env }] } } } };
      return await containerEnvironments({
        ...{ readWorkload: async () => workload, reader, namespace: 'shop' },
        signal: new AbortController().signal,
      })();
    };
    const poison = ['configMapKeyRef', 'secretKeyRef'].map((kind) => ({
      name: `POISON_${kind}`,
      valueFrom: { [kind]: { name: 'a', key } },
    }));

    it('is not a variable of a ConfigMap or Secret without it', async () => {
      const plain = { name: 'A', value: 'b' };
      expect(await environmentWith([...poison, plain])).to.deep.equal({ A: 'b' });
    });

    it('does not lift the bound of an environment whose variables double', async () => {
      expect(await errorOf(environmentWith([...poison, ...doubling('x'.repeat(64), 18)]))).to.equal(TOO_LONG);
      const first = poison.map(({ name }) => `$(${name})`).join('');
      const doubled = [...poison, ...doubling(first.padEnd(64), 18)];
      expect(await errorOf(environmentWith(doubled))).to.equal(TOO_LONG);
    });

    it('is not a parameter of an authentication with any reference', async () => {
      const missing: string[] = [];
      const parameters = await resolveAuthentication(
        { name: 'a' },
        {
          authentication: () => ({
            metadata: { name: 'a', namespace: 'default' },
            spec: {
              env: [{ parameter: 'e', name: key }],
              configMapTargetRef: [{ parameter: 'c', name: 'm', key }],
              secretTargetRef: [{ parameter: 's', name: 't', key }],
            },
          }),
          ...reader,
          serviceAccountToken: async () => 'token',
          file: async () => ({}),
          clusterNamespace: 'keda',
        } as never,
        {
          namespace: 'default',
          environment: async () => ({ A: 'b' }),
          signal: new AbortController().signal,
          onMissing: (what) => missing.push(what),
        },
      );
      expect(parameters).to.deep.equal({ e: '', c: '', s: '' });
      expect(missing).to.have.length(2);
    });

    it('is a group that the API server does not serve', async () => {
      await using served = await startJsonApi(() => refusal(404, 'NotFound'));
      const mapper = new RestMapper({ api: served.api, clock: served.clock });
      const found = await mapper.find({ apiVersion: `${key}/v1`, kind: key }).catch(String);
      expect(found === undefined || /^ApiError|^Error/.test(String(found)), String(found)).to.equal(true);
      expect(targetKey('a', { apiVersion: `${key}/v1`, kind: key, name: key })).to.equal(
        `a/${key}/${key}/${key}`,
      );
    });

    it('is neither a schedule nor a duration', () => {
      for (const text of [key, `@${key}`, `TZ=${key} * * * * *`, `@every 1${key}`])
        expect(() => parseSchedule(text, { timeZone: 'UTC', anchorMs: 0 }), text).to.throw(ScheduleError);
      expect(parseDurationMs(`1${key}`)).to.equal(undefined);
    });

    it('is a resource that pods neither request nor use', () => {
      const pod = builtPod('a', {
        podRequests: { cpu: '1' },
        containers: [{ name: 'app', requests: { cpu: '1' } }],
      });
      for (const podLevelResources of [true, false]) {
        const part = { resource: key, container: undefined, podLevelResources };
        expect(() => requestsOfPods([pod], part)).to.throw(MetricFailure, 'request for');
      }
      const usage = {
        pod: 'a',
        takenAtMs: 0,
        windowMs: 1,
        containers: [{ name: 'app', usage: { cpu: '1' } }],
      };
      expect([...usageOfPods([usage], key)]).to.deep.equal([]);
      expect([...usageOfContainers([usage], { resource: key, container: 'app' })]).to.deep.equal([]);
    });

    it('is neither an operator of a selector nor a value at a path', () => {
      const selector = { matchExpressions: [{ key: 'a', operator: key, values: ['b'] }] };
      expect(() => metricSelector(selector as never)).to.throw(SelectorError);
      expect(findValueAtPath({ a: {} }, `a.${key}`)).to.equal(undefined);
    });

    it('is an ordinary name of triggers, metrics, formulas and annotations', () => {
      expect(() => compileFormula(key).evaluate({ a: 1 })).to.throw(`unknown name ${key}`);
      expect(compileFormula(`${key} + 1`).evaluate(Object.fromEntries([[key, 1]]))).to.equal(2);
      expect(() => compileFormula(`${key}(1)`).evaluate({})).to.throw(Error, key);
      const metric = { metricName: key, pollCount: 1, failuresInARow: 1 };
      const health = new HealthCounter().next(undefined, [metric], 3);
      expect(Object.entries(health)).to.deep.equal([[key, { numberOfFailures: 1, status: 'Failing' }]]);
      const metadata = { name: 'a', annotations: Object.fromEntries([[key, 'true']]) };
      expect(readKedaAnnotations({ metadata } as never)).to.deep.equal(
        readKedaAnnotations({ metadata: { name: 'a' } } as never),
      );
    });

    it('is patched as an ordinary field', () => {
      const own = Object.fromEntries([[key, 1]]);
      expect(Object.entries(mergePatch({}, own))).to.deep.equal([[key, 1]]);
      expect(Object.entries(mergePatch(own, {}))).to.deep.equal([[key, null]]);
    });
  });
}

describe('a ScaledObject whose environment refers to keys of prototypes', () => {
  it('fails by name, and others are scaled', async () => {
    await using cluster = await startScaledObjectsCluster();
    const env = [
      { name: 'POISON', valueFrom: { configMapKeyRef: { name: 'settings', key: '__proto__' } } },
      ...doubling('x'.repeat(8), 18),
      ...['A', 'B', 'C'].map((name) => ({ name, value: '$(V18)' })), // each is below the bound, their total is above
    ];
    await cluster.create('/api/v1/namespaces/default/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings' },
      data: { user: 'guest' },
    });
    await cluster.create(PATHS.authentications, {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'TriggerAuthentication',
      metadata: { name: 'hostile' },
      spec: { env: [{ parameter: 'token', name: 'V0' }] },
    });
    await cluster.deployment('hostile', 0, { env });
    await cluster.deployment('web', 0);
    cluster.source.set('/web', 20);
    await cluster.lead();
    const authenticationRef = { name: 'hostile' };
    await cluster.scaledObject('hostile', {
      triggers: [cluster.trigger('/web', { metadata: { authMode: 'bearer' }, authenticationRef })],
    });
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/web')] });
    await cluster.elapse(3);
    await cluster.untilMet(async () => (await cluster.condition('hostile', 'Ready')).includes(TOO_LONG));
    await cluster.untilMet(async () => (await cluster.replicas('web')) > 0);
    expect(await cluster.replicas('hostile')).to.equal(0);
  });
});
