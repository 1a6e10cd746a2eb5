import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import {
  boundedReader,
  clusterReader,
  fetchReference,
  UnreadReference,
} from '#lib/scaled-objects/triggers/authentication/reference-reader.ts';
import type { AuthenticationReader } from '#lib/scaled-objects/triggers/authentication/resolve-authentication.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

interface Posted {
  readonly path: string;
  readonly body: {
    readonly kind: string;
    readonly spec: { readonly token?: string; readonly audiences?: string[] };
  };
}

function refusal(statusCode: number): ApiError {
  return new ApiError('no', { statusCode, reason: undefined, retryAfterMs: undefined });
}

describe('clusterReader', () => {
  const { signal } = new AbortController();
  const requested: unknown[] = [];
  const served: Readonly<Record<string, unknown>> = {
    '/api/v1/namespaces/shop/secrets/login': { data: { user: 'Z8O8c3Q=' } },
    '/api/v1/namespaces/keda/secrets/login': { data: null },
    '/api/v1/namespaces/shop/configmaps/login': { data: { user: 'Z8O8c3Q=' } },
    '/api/v1/namespaces/shop/configmaps/empty': {},
  };
  const client = {
    async getJson(path: string) {
      if (path in served) return served[path];
      throw refusal(path.endsWith('/forbidden') ? 403 : 404);
    },
    async requestJson(request: Posted) {
      requested.push(request);
      if (request.path.includes('/forbidden/')) throw refusal(403);
      if (request.body.kind === 'TokenRequest')
        return { status: { token: request.body.spec.audiences?.[0] } };
      const isOfApiServer = request.body.spec.token === 'api';
      return { status: isOfApiServer ? { authenticated: true } : { authenticated: false, error: 'no' } };
    },
  };
  const reader = (more: object = {}) =>
    clusterReader({
      ...{ client: client as never, clusterNamespace: 'keda', restrictsSecrets: false },
      ...{ fileRoot: undefined, tokenLifetimeS: 900, tokenAudience: undefined, ...more },
      authentication: (kind, key) => ({ metadata: { name: `${kind} ${key}` } }),
    });

  beforeEach(() => void requested.splice(0));

  it('reads Secrets as text, and ConfigMaps as they are, by their names', async () => {
    const { secretData, configMapData } = reader();
    expect(await secretData('shop', 'login', signal)).to.deep.equal({ user: 'güst' });
    expect(await secretData('keda', 'login', signal)).to.deep.equal({});
    expect(await configMapData('shop', 'login', signal)).to.deep.equal({ user: 'Z8O8c3Q=' });
    expect(await configMapData('shop', 'empty', signal)).to.deep.equal({});
  });

  it('distinguishes missing from forbidden objects', async () => {
    expect(await reader().secretData('shop', 'gone', signal)).to.equal(undefined);
    expect(await reader().configMapData('shop', 'gone', signal)).to.equal(undefined);
    for (const [kind, resource, read] of [
      ['Secret', 'secrets', reader().secretData],
      ['ConfigMap', 'configmaps', reader().configMapData],
    ] as const)
      expect(await errorOf(read('shop', 'forbidden', signal))).to.equal(
        `Cannot read ${kind} shop/forbidden: forbidden; grant it with a Role in namespace "shop" that allows get on ${resource} "forbidden"`,
      );
  });

  it('reads only Secrets of one namespace if configured', async () => {
    const { secretData, configMapData, restrictsSecrets } = reader({ restrictsSecrets: true });
    expect(await secretData('shop', 'login', signal)).to.equal(undefined);
    expect(await secretData('keda', 'login', signal)).to.deep.equal({});
    expect(await configMapData('shop', 'login', signal)).to.have.property('user');
    expect(restrictsSecrets).to.equal(true);
  });

  it('finds cluster-wide authentications by name, and others by namespace and name', () => {
    const named = (kind: string) => reader().authentication(kind, 'shop', 'login')?.metadata.name;
    expect(named('TriggerAuthentication')).to.equal('TriggerAuthentication shop/login');
    expect(named('ClusterTriggerAuthentication')).to.equal('ClusterTriggerAuthentication login');
  });

  it('requests no token where no audience is set', async () => {
    expect(await errorOf(reader().serviceAccountToken('shop', 'worker', signal))).to.equal(
      'Cannot request a token of ServiceAccount shop/worker: --bound-service-account-token-audience is not set',
    );
    expect(requested).to.deep.equal([]);
  });

  it('hands out no token that the API server accepts, whatever its audience is called', async () => {
    const { serviceAccountToken } = reader({ tokenAudience: 'api' });
    expect(await errorOf(serviceAccountToken('shop', 'worker', signal))).to.include(
      'Discarded the token of ServiceAccount shop/worker: the API server accepts its audience "api", so a server',
    );
  });

  it('names the permission for a token', async () => {
    const { serviceAccountToken } = reader({ tokenAudience: 'sources' });
    expect(await errorOf(serviceAccountToken('shop', 'forbidden', signal))).to.equal(
      'Cannot request a token of ServiceAccount shop/forbidden: forbidden; grant it with a Role in namespace "shop" that allows create on serviceaccounts/token "forbidden"',
    );
  });

  it('requests tokens of service accounts for the audience that is set, that last as long as is set', async () => {
    const { serviceAccountToken } = reader({ tokenAudience: 'sources' });
    expect(await serviceAccountToken('shop', 'worker', signal)).to.equal('sources');
    expect(requested).to.deep.equal([
      {
        ...{ method: 'POST', path: '/api/v1/namespaces/shop/serviceaccounts/worker/token' },
        body: {
          ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' },
          spec: { audiences: ['sources'], expirationSeconds: 900 },
        },
      },
      {
        ...{ method: 'POST', path: '/apis/authentication.k8s.io/v1/tokenreviews' },
        body: {
          ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' },
          spec: { token: 'sources' },
        },
      },
    ]);
  });

  it('reads only files below a directory, up to a size limit', async () => {
    await using directory = await TemporaryDirectory.create();
    const fileRoot = join(directory.path, 'root');
    await mkdir(join(fileRoot, 'a'), { recursive: true });
    const write = (name: string, text: string) => writeFile(join(fileRoot, name), text);
    await write('a/login', '{"user":"guest"}');
    await write('..name', '{"user":"dots"}');
    await write('outside', '{"user":1}');
    await write('full', JSON.stringify({ a: 'x'.repeat(1_048_576 - 8) }));
    await write('long', JSON.stringify({ a: 'x'.repeat(1_048_576 - 7) }));
    const { file } = reader({ fileRoot });
    expect(await file('a/login')).to.deep.equal({ user: 'guest' });
    expect(await file('..name')).to.deep.equal({ user: 'dots' });
    expect(Object.keys(await file('full'))).to.deep.equal(['a']);
    expect(await errorOf(file('long'))).to.equal('filePath "long" is longer than 1048576 bytes');
    for (const path of ['/a/login', '../root/a/login', 'a/../a/login', '..'])
      expect(await errorOf(file(path))).to.equal(`filePath "${path}" must be relative, without ..`);
    expect(await errorOf(file('outside'))).to.include('expected string');
    expect(await errorOf(reader().file('a/login'))).to.equal(
      'filePath requires the flag --filepath-auth-root-path, which is not set',
    );
  });
});

describe('boundedReader', () => {
  const { signal } = new AbortController();
  let requested: string[];
  let reader: AuthenticationReader;

  beforeEach(() => {
    requested = [];
    const read = (kind: string) => async (_: string, name: string) => {
      requested.push(`${kind} ${name}`);
      return {};
    };
    reader = boundedReader({
      ...{ clusterNamespace: 'keda', authentication: () => undefined, file: async () => ({}) },
      ...{ secretData: read('Secret'), configMapData: read('ConfigMap') },
      serviceAccountToken: async (_, name) => `token ${requested.push(`token ${name}`)}`,
    });
  });

  it('reads once what many triggers of an object refer to', async () => {
    for (let trigger = 0; trigger < 20; trigger++) {
      await reader.secretData('default', 'a', signal);
      await reader.configMapData('default', 'a', signal);
      await reader.serviceAccountToken('default', 'a', signal);
    }
    await reader.secretData('keda', 'a', signal);
    expect(requested).to.deep.equal(['Secret a', 'ConfigMap a', 'token a', 'Secret a']);
  });

  it('reads a hundred for all triggers of an object, and rejects more', async () => {
    for (let place = 0; place < 50; place++) {
      await reader.secretData('default', `s${place}`, signal);
      await reader.configMapData('default', `c${place}`, signal);
    }
    const refused = await reader.secretData('default', 'one more', signal).catch((error: Error) => error);
    expect(refused).to.be.instanceOf(Error).and.have.property('message');
    expect(`${refused}`).to.equal(
      'Error: the triggers refer to more than 100 Secrets, ConfigMaps and service accounts',
    );
    expect(await reader.secretData('default', 's0', signal)).to.deep.equal({});
    expect(requested).to.have.lengthOf(100);
  });

  it('reads 8 MiB for all triggers of an object, and rejects everything beyond that', async () => {
    const mebibyte = async () => ({ a: 'x'.repeat(2 ** 20 - 1) });
    const large = boundedReader({ ...reader, secretData: mebibyte, configMapData: mebibyte });
    for (let place = 0; place < 4; place++) {
      await large.secretData('default', `s${place}`, signal);
      await large.configMapData('default', `c${place}`, signal);
    }
    for (const name of ['one-more', 'another']) {
      const refused = await large.secretData('default', name, signal).catch((error: Error) => error);
      expect(`${refused}`).to.equal(
        'Error: the triggers refer to Secrets and ConfigMaps that are together longer than 8388608 characters',
      );
    }
    expect(await large.secretData('default', 's0', signal)).to.have.property('a');
  });
});

describe('fetchReference', () => {
  const { signal } = new AbortController();
  const thrownBy = async (error: Error, by = signal) =>
    await fetchReference(() => Promise.reject(error), by).catch((thrown: unknown) => thrown);
  const apiError = (statusCode: number) =>
    new ApiError('no', { statusCode, reason: undefined, retryAfterMs: undefined });

  it('passes on errors of the API server for the object', async () => {
    expect(await fetchReference(async () => 'read', signal)).to.equal('read');
    for (const error of [apiError(400), apiError(403), apiError(404), apiError(499)])
      expect(await thrownBy(error)).to.equal(error);
  });

  it('distinguishes 401, 429, 5xx and no response of the API server', async () => {
    const errors = [apiError(401), apiError(429), apiError(500), apiError(503), new Error('ECONNRESET')];
    for (const cause of errors) {
      const error = await thrownBy(cause);
      expect(error).to.be.instanceOf(UnreadReference);
      expect(error).to.deep.include({ message: 'Cannot read an object that a trigger refers to', cause });
    }
  });

  it('ends with its signal, whatever was received', async () => {
    const ended = new Error('not the leader any more');
    expect(await thrownBy(apiError(404), AbortSignal.abort(ended))).to.equal(ended);
  });
});
