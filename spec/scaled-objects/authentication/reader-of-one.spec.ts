import { expect } from 'chai';
import type { ClusterReader } from '#lib/scaled-objects/authentication/cluster-reader.ts';
import { readerOfOne } from '#lib/scaled-objects/authentication/reader-of-one.ts';

describe('readerOfOne', () => {
  const { signal } = new AbortController();
  let asked: string[];
  let reader: ClusterReader;

  beforeEach(() => {
    asked = [];
    const read = (kind: string) => async (_: string, name: string) => {
      asked.push(`${kind} ${name}`);
      return {};
    };
    reader = readerOfOne({
      ...{ clusterNamespace: 'keda', authentication: () => undefined, file: async () => ({}) },
      ...{ secretData: read('Secret'), configMapData: read('ConfigMap') },
      serviceAccountToken: async (_, name) => `token ${asked.push(`token ${name}`)}`,
      environmentOf: () => {
        throw new Error('it has its own');
      },
    });
  });

  it('reads once what many triggers of an object, and containers of its target, refer to', async () => {
    const environment = reader.environmentOf('default', signal);
    for (let trigger = 0; trigger < 20; trigger++) {
      await reader.secretData('default', 'a', signal);
      await reader.configMapData('default', 'a', signal);
      await reader.serviceAccountToken('default', 'a', signal);
      await environment.secretData('a');
      await environment.configMapData('a');
    }
    await reader.secretData('keda', 'a', signal);
    expect(asked).to.deep.equal(['Secret a', 'ConfigMap a', 'token a', 'Secret a']);
  });

  it('reads a hundred for all triggers of an object, and refuses more', async () => {
    for (let place = 0; place < 50; place++) {
      await reader.secretData('default', `s${place}`, signal);
      await reader.environmentOf('default', signal).configMapData(`c${place}`);
    }
    const refused = await reader.secretData('default', 'one more', signal).catch((error: Error) => error);
    expect(refused).to.be.instanceOf(Error).and.have.property('message');
    expect(`${refused}`).to.equal(
      'Error: the triggers refer to more than 100 Secrets, ConfigMaps and service accounts',
    );
    expect(await reader.secretData('default', 's0', signal)).to.deep.equal({});
    expect(asked).to.have.lengthOf(100);
  });
});
