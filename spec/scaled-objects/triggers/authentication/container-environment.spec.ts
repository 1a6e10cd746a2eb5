import { expect } from 'chai';
import { containerEnvironments } from '#lib/scaled-objects/triggers/authentication/container-environment.ts';
import { errorOf } from '#spec/support/error-of.ts';

const podTemplate = (containers: readonly object[]) => ({ spec: { template: { spec: { containers } } } });

/** Each variable repeats the previous one twice. */
const doubling = (count: number) => [
  { name: 'V0', value: 'x'.repeat(64) },
  ...Array.from({ length: count }, (_, index) => ({
    name: `V${index + 1}`,
    value: `$(V${index})$(V${index})`,
  })),
];

const { signal } = new AbortController();
const TOO_LONG = 'the environment of the target exceeds 4194304 characters';

describe('containerEnvironments', () => {
  const read = async (env: readonly object[]) => {
    const data = (kind: string) => async (_: string, name: string) => ({
      user: `guest of ${kind} ${name}`,
      password: `told of ${kind} ${name}`,
    });
    const reader = { secretData: data('s'), configMapData: data('c') };
    return await containerEnvironments({
      readWorkload: async () => podTemplate([{ name: 'main', env }]),
      ...{ reader, namespace: 'shop', signal },
    })();
  };
  const from = (kind: 'secretKeyRef' | 'configMapKeyRef', name: string, key: string) => ({
    name: `${name}-${key}`,
    valueFrom: { [kind]: { name, key } },
  });

  it('takes variables from the keys of Secrets and ConfigMaps, but for those that are not there', async () => {
    const env = [
      from('secretKeyRef', 'a', 'user'),
      from('secretKeyRef', 'a', 'missing'),
      from('configMapKeyRef', 'b', 'password'),
    ];
    expect(await read(env)).to.deep.equal({ 'a-user': 'guest of s a', 'b-password': 'told of c b' });
  });

  it('rejects multiplying variables before they use memory', async () => {
    expect((await read(doubling(10))).V10).to.have.length(64 * 2 ** 10);
    expect(await errorOf(read(doubling(40)))).to.equal(TOO_LONG);
    const wide = [...doubling(12), { name: 'wide', value: '$(V12)'.repeat(1_000) }];
    expect(await errorOf(read(wide))).to.equal(TOO_LONG);
  });

  it('rejects containers that together exceed the limit, though each is within it', async () => {
    let reads = 0;
    const containers = Array.from({ length: 8 }, (_, index) => ({ name: `c${index}`, env: doubling(13) }));
    const environment = containerEnvironments({
      readWorkload: async () => {
        reads++;
        return podTemplate(containers);
      },
      container: 'c1',
      reader: { secretData: async () => ({}), configMapData: async () => ({}) },
      ...{ namespace: 'shop', signal },
    });
    expect((await environment('c0')).V13).to.have.length(64 * 2 ** 13);
    expect(await environment()).to.equal(await environment('c1'));
    await environment('c2');
    await environment('c3'); // 1 MiB each with all variables
    expect(await errorOf(environment('c4'))).to.equal(TOO_LONG);
    expect(await errorOf(environment('c5')), 'though it is short enough for what was left').to.equal(
      TOO_LONG,
    );
    expect(await errorOf(environment('other'))).to.equal('cannot find container "other" in the target');
    expect(await environment('c0'), 'what was built stays').to.have.property('V0');
    expect(reads).to.equal(1);
  });
});
