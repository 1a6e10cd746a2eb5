import { expect } from 'chai';
import {
  type AuthenticationReader,
  resolveAuthentication,
} from '#lib/scaled-objects/authentication/resolve-authentication.ts';
import { errorOf } from '#spec/support/error-of.ts';

describe('resolveAuthentication', () => {
  const resolve = async (kind: string | undefined) => {
    const spec = { secretTargetRef: [{ parameter: 'password', name: 'a', key: 'b' }] };
    const reader: AuthenticationReader = {
      clusterNamespace: 'kube-system',
      authentication: () => ({ metadata: { name: 'login' }, spec }),
      secret: async (namespace) => `of ${namespace}`,
      configMap: async () => undefined,
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
});
