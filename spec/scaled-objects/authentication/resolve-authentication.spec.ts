import { expect } from 'chai';
import {
  type AuthenticationReader,
  resolveAuthentication,
} from '#lib/scaled-objects/authentication/resolve-authentication.ts';
import type { TriggerAuthentication } from '#lib/scaled-objects/objects/trigger-authentication.ts';
import { errorOf } from '#spec/support/error-of.ts';

describe('resolveAuthentication', () => {
  const resolve = async (kind: string | undefined) => {
    const spec = { secretTargetRef: [{ parameter: 'password', name: 'a', key: 'b' }] };
    const reader: AuthenticationReader = {
      clusterNamespace: 'kube-system',
      authentication: () => ({ metadata: { name: 'login' }, spec }),
      secretData: async (namespace) => ({ b: `of ${namespace}` }),
      configMapData: async () => undefined,
      serviceAccountToken: async () => '',
      file: async () => ({}),
    };
    const { signal } = new AbortController();
    const context = { namespace: 'shop', environment: async () => ({}), signal };
    return await resolveAuthentication(
      { name: 'login', ...(kind !== undefined && { kind }) },
      reader,
      context,
    );
  };

  it('reads Secrets of the namespace, or for what belongs to the cluster those of its namespace', async () => {
    expect(await resolve(undefined)).to.deep.equal({ password: 'of shop' });
    expect(await resolve('')).to.deep.equal({ password: 'of shop' });
    expect(await resolve('TriggerAuthentication')).to.deep.equal({ password: 'of shop' });
    expect(await resolve('ClusterTriggerAuthentication')).to.deep.equal({ password: 'of kube-system' });
  });

  it('refuses a kind that there is not, and reads nothing for it', async () => {
    expect(await errorOf(resolve('Anything'))).to.equal(
      'unknown trigger auth kind "Anything", there are TriggerAuthentication and ClusterTriggerAuthentication',
    );
  });

  it('asks for each object once, and for none where there are too many', async () => {
    const entries = (count: number, ofObjects: number) =>
      Array.from({ length: count }, (_, index) => ({
        ...{ parameter: `p${index}`, name: `o${index % ofObjects}`, key: `k${index}` },
        serviceAccountName: `o${index % ofObjects}`,
      }));
    const asked: string[] = [];
    const given = async (spec: NonNullable<TriggerAuthentication['spec']>, value = '') => {
      asked.length = 0;
      const reader: AuthenticationReader = {
        clusterNamespace: 'kube-system',
        authentication: () => ({ metadata: { name: 'login' }, spec }),
        async secretData(_, name) {
          asked.push(`Secret ${name}`);
          return { k0: value, k1: value, k2: `k2 of ${name}`, k4999: `k4999 of ${name}` };
        },
        async configMapData(_, name) {
          asked.push(`ConfigMap ${name}`);
          return { k1: `k1 of ${name}` };
        },
        async serviceAccountToken(_, name) {
          asked.push(`token ${name}`);
          return `token of ${name}`;
        },
        file: async () => ({}),
      };
      const { signal } = new AbortController();
      const context = { namespace: 'shop', environment: async () => ({}), signal };
      return await resolveAuthentication({ name: 'login' }, reader, context);
    };
    const [secretTargetRef, configMapTargetRef] = [entries(5000, 60), entries(2, 2)];
    const boundServiceAccountToken = entries(38, 38).map((one) => ({
      ...one,
      parameter: `t-${one.parameter}`,
    }));
    const parameters = await given({ secretTargetRef, configMapTargetRef, boundServiceAccountToken });
    expect(asked).to.have.lengthOf(100);
    expect(new Set(asked).size).to.equal(100);
    expect([parameters.p2, parameters.p4999, parameters['t-p37']]).to.deep.equal([
      ...['k2 of o2', 'k4999 of o19', 'token of o37'],
    ]);
    const refused =
      'TriggerAuthentication "login" refers to more than 100 Secrets, ConfigMaps and service accounts';
    for (const spec of [
      { secretTargetRef: entries(101, 101) },
      { secretTargetRef: entries(60, 60), configMapTargetRef: entries(41, 41) },
      { secretTargetRef: entries(60, 60), boundServiceAccountToken: entries(41, 41) },
    ]) {
      expect(await errorOf(given(spec))).to.equal(refused);
      expect(asked).to.deep.equal([]);
    }
    const half = 'x'.repeat(2 * 1024 * 1024 - 2);
    expect((await given({ secretTargetRef: entries(2, 1) }, half)).p1).to.equal(half);
    expect(await errorOf(given({ secretTargetRef: entries(3, 1) }, half))).to.equal(
      'what TriggerAuthentication "login" refers to is longer than 4194304 characters',
    );
  });
});
