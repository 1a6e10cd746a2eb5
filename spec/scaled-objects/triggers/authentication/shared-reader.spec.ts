import { expect } from 'chai';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import type { AuthenticationReader } from '#lib/scaled-objects/triggers/authentication/resolve-authentication.ts';
import {
  type SharedReader,
  sharedReader,
} from '#lib/scaled-objects/triggers/authentication/shared-reader.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('sharedReader', () => {
  const { signal } = new AbortController();
  let clock: ManualClock;
  let requested: string[];
  let secrets: Map<string, Readonly<Record<string, string>> | Error>;
  let reader: SharedReader;

  beforeEach(() => {
    clock = new ManualClock();
    requested = [];
    secrets = new Map([['login', { user: 'a' }]]);
    const secretData: AuthenticationReader['secretData'] = async (namespace, name) => {
      requested.push(`${namespace}/${name}`);
      await clock.sleep(10);
      const found = secrets.get(name);
      if (found instanceof Error) throw found;
      return found;
    };
    reader = sharedReader(
      {
        ...{ clusterNamespace: 'keda', authentication: () => undefined, file: async () => ({}) },
        ...{ secretData, configMapData: secretData },
        serviceAccountToken: async (_, name) => `token ${requested.push(name)}`,
      },
      clock,
    );
  });

  /** Reads while the clock advances far enough. */
  async function read(name: string, from: AuthenticationReader = reader, namespace = 'shop') {
    const reading = from.secretData(namespace, name, signal).catch((error: Error) => error.message);
    await clock.advance(10);
    return await reading;
  }

  it('reads a shared reference once in five seconds, for each namespace and kind', async () => {
    const both = [reader.secretData('shop', 'login', signal), reader.secretData('shop', 'login', signal)];
    await clock.advance(10);
    expect(await Promise.all(both)).to.deep.equal([{ user: 'a' }, { user: 'a' }]);
    await clock.advance(4990);
    expect(await read('login')).to.deep.equal({ user: 'a' });
    expect(requested).to.deep.equal(['shop/login']);
    expect(await read('login', reader, 'other')).to.deep.equal({ user: 'a' });
    const ofKind = reader.configMapData('shop', 'login', signal);
    await clock.advance(10);
    await ofKind;
    expect(requested).to.deep.equal(['shop/login', 'other/login', 'shop/login']);
    await clock.advance(5000);
    await read('login');
    expect(requested).to.have.lengthOf(4);
  });

  it('bypasses the cache for an object that was changed', async () => {
    await read('login');
    secrets.set('login', { user: 'b' });
    expect(await read('login')).to.deep.equal({ user: 'a' });
    expect(await read('login', reader.fresh)).to.deep.equal({ user: 'b' });
    expect(await read('login')).to.deep.equal({ user: 'b' });
  });

  it('retries absent or forbidden objects with backoff, up to every 30 s, until they exist', async () => {
    const refusal = new ApiError('no', { statusCode: 403, reason: undefined, retryAfterMs: undefined });
    for (const result of [undefined, refusal]) {
      requested = [];
      const name = result ? 'refused' : 'absent';
      if (result) secrets.set(name, result);
      const requestedAtS: number[] = [];
      const startMs = clock.monotonicMs();
      for (let second = 0; second < 125; second++) {
        const before = requested.length;
        expect(await read(name)).to.equal(result?.message);
        if (requested.length > before) requestedAtS.push(second);
        await clock.advance(startMs + (second + 1) * 1000 - clock.monotonicMs());
      }
      expect(requestedAtS).to.deep.equal([0, 2, 5, 10, 19, 36, 67, 98]);
      secrets.set(name, { user: 'c' });
      await clock.advance(30_000);
      expect(await read(name)).to.deep.equal({ user: 'c' });
    }
  });

  it('does not cache data that are long', async () => {
    secrets.set('long', { text: 'x'.repeat(40_000) });
    await read('long');
    await read('long');
    expect(requested).to.deep.equal(['shop/long', 'shop/long']);
  });

  it('ends the wait of one that does not wait any more, and that of no other', async () => {
    const gone = new AbortController();
    const leaving = reader.secretData('shop', 'login', gone.signal).catch((error: Error) => error.message);
    const staying = reader.secretData('shop', 'login', signal);
    gone.abort(new Error('enough'));
    await clock.advance(10);
    expect(await leaving).to.equal('enough');
    expect(await staying).to.deep.equal({ user: 'a' });
    expect(requested).to.deep.equal(['shop/login']);
  });
});
