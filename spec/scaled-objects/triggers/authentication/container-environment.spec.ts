import { expect } from 'chai';
import { containerEnvironment } from '#lib/scaled-objects/triggers/authentication/container-environment.ts';
import { errorOf } from '#spec/support/error-of.ts';

describe('containerEnvironment', () => {
  const read = async (env: readonly object[]) => {
    const workload = { spec: { template: { spec: { containers: [{ name: 'main', env }] } } } };
    const data = (kind: string) => async (name: string) => ({
      user: `guest of ${kind} ${name}`,
      password: `told of ${kind} ${name}`,
    });
    return await containerEnvironment(workload, '', { secretData: data('s'), configMapData: data('c') });
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

  it('refuses one whose variables multiply, before it takes memory', async () => {
    const double = (count: number) => [
      { name: 'V0', value: 'x'.repeat(64) },
      ...Array.from({ length: count }, (_, index) => ({
        name: `V${index + 1}`,
        value: `$(V${index})$(V${index})`,
      })),
    ];
    expect((await read(double(10))).V10).to.have.length(64 * 2 ** 10);
    const tooLong = 'the environment of the target is longer than 4194304 characters';
    expect(await errorOf(read(double(40)))).to.equal(tooLong);
    const wide = [...double(12), { name: 'wide', value: '$(V12)'.repeat(1_000) }];
    expect(await errorOf(read(wide))).to.equal(tooLong);
  });
});
