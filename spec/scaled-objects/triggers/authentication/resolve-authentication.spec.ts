import { expect } from 'chai';
import type { TriggerAuthentication } from '#lib/scaled-objects/api/trigger-authentication.ts';
import {
  type AuthenticationReader,
  brokenByAuthentication,
  resolveAuthentication,
} from '#lib/scaled-objects/triggers/authentication/resolve-authentication.ts';
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

  it('rejects an unknown kind, and reads nothing for it', async () => {
    expect(await errorOf(resolve('Anything'))).to.equal(
      'unknown trigger auth kind "Anything"; supported kinds are TriggerAuthentication and ClusterTriggerAuthentication',
    );
  });

  it('takes parameters from keys of objects and from tokens, of so much length in all', async () => {
    const given = async (spec: NonNullable<TriggerAuthentication['spec']>, value = '') => {
      const reader: AuthenticationReader = {
        clusterNamespace: 'kube-system',
        authentication: () => ({ metadata: { name: 'login' }, spec }),
        secretData: async (_, name) => ({ long: value, user: `user of Secret ${name}` }),
        configMapData: async (_, name) => ({ user: `user of ConfigMap ${name}` }),
        serviceAccountToken: async (_, name) => `token of ${name}`,
        file: async () => ({}),
      };
      const { signal } = new AbortController();
      const context = { namespace: 'shop', environment: async () => ({}), signal };
      return await resolveAuthentication({ name: 'login' }, reader, context);
    };
    const parameters = await given({
      configMapTargetRef: [
        { parameter: 'both', name: 'a', key: 'user' },
        { parameter: 'host', name: 'a', key: 'user' },
      ],
      secretTargetRef: [{ parameter: 'both', name: 'b', key: 'user' }],
      boundServiceAccountToken: [{ parameter: 'bearerToken', serviceAccountName: 'c' }],
    });
    expect(parameters).to.deep.equal({
      ...{ both: 'user of Secret b', host: 'user of ConfigMap a', bearerToken: 'token of c' },
    });
    const long = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ parameter: `p${index}`, name: 'a', key: 'long' }));
    const half = 'x'.repeat(2 * 1024 * 1024 - 2);
    expect((await given({ secretTargetRef: long(2) }, half)).p1).to.equal(half);
    expect(await errorOf(given({ secretTargetRef: long(3) }, half))).to.equal(
      'the values of TriggerAuthentication "login" exceed 4194304 characters',
    );
  });
});

const GOOD = { type: 'clientCredentials', clientId: 'a', tokenUrl: 'https://issuer.example/token' };

describe('brokenByAuthentication', () => {
  for (const [spec, broken] of [
    [{}, undefined],
    [{ podIdentity: { provider: 'none' } }, undefined],
    [{ podIdentity: { provider: 'azure-workload' } }, undefined],
    [
      { podIdentity: { provider: 'azure-workload', identityId: '' } },
      'identityId of PodIdentity should not be empty',
    ],
    [
      { podIdentity: { provider: 'azure-workload', identityTenantId: '' } },
      'identityTenantId of PodIdentity should not be empty',
    ],
    [
      { podIdentity: { provider: 'azure-workload', identityAuthorityHost: 'h' } },
      'identityTenantId of PodIdentity must be set with identityAuthorityHost',
    ],
    [{ podIdentity: { provider: 'aws', roleArn: 'r' } }, undefined],
    [
      { podIdentity: { provider: 'aws', roleArn: 'r', identityOwner: 'workload' } },
      "roleArn of PodIdentity can't be set if KEDA isn't identityOwner",
    ],
    [{ podIdentity: { provider: 'aws', externalID: 'e' } }, 'externalID of PodIdentity needs roleArn'],
    [{ oauth2: GOOD }, undefined],
    [{ oauth2: { ...GOOD, type: 'password' } }, 'type of oauth2 must be clientCredentials'],
    [{ oauth2: { ...GOOD, clientId: '' } }, 'clientId of oauth2 is required'],
    [{ oauth2: { ...GOOD, tokenUrl: '' } }, 'tokenUrl of oauth2 is required'],
    [
      { oauth2: { ...GOOD, tokenUrl: 'issuer' } },
      'tokenUrl of oauth2 must be an http or https URL with a host',
    ],
    [
      { oauth2: { ...GOOD, tokenUrl: 'ftp://issuer/' } },
      'tokenUrl of oauth2 must be an http or https URL with a host',
    ],
    // With an identity beside them, all other fields are still validated.
    [
      { podIdentity: { provider: 'none' }, oauth2: { ...GOOD, clientId: '' } },
      'clientId of oauth2 is required',
    ],
  ] as const) {
    it(`returns ${JSON.stringify(broken)} for ${JSON.stringify(spec)}`, () => {
      expect(brokenByAuthentication(spec)).to.equal(broken);
    });
  }
});
