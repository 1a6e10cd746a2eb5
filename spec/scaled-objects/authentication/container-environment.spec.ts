import { expect } from 'chai';
import { containerEnvironment } from '#lib/scaled-objects/authentication/container-environment.ts';
import { errorOf } from '#spec/support/error-of.ts';

describe('containerEnvironment', () => {
  const read = async (env: readonly object[], asked: string[] = []) => {
    const workload = { spec: { template: { spec: { containers: [{ name: 'main', env }] } } } };
    const data = (kind: string) => async (name: string) => {
      asked.push(`${kind} ${name}`);
      return { user: 'guest', password: 'told' };
    };
    return await containerEnvironment(workload, '', { secretData: data('s'), configMapData: data('c') });
  };
  const from = (kind: 'secretKeyRef' | 'configMapKeyRef', name: string, key: string) => ({
    name: `${name}-${key}`,
    valueFrom: { [kind]: { name, key } },
  });

  it('asks for each Secret and ConfigMap once, however many variables come out of it', async () => {
    const asked: string[] = [];
    const env = [
      from('secretKeyRef', 'a', 'user'),
      from('secretKeyRef', 'a', 'password'),
      from('secretKeyRef', 'a', 'missing'),
      from('configMapKeyRef', 'a', 'user'),
    ];
    expect(await read(env, asked)).to.deep.equal({ 'a-user': 'guest', 'a-password': 'told' });
    expect(asked).to.deep.equal(['s a', 'c a']);
  });

  it('refuses one that refers to more than 100 of them, and asks for no more', async () => {
    const asked: string[] = [];
    const env = Array.from({ length: 1000 }, (_, index) => from('secretKeyRef', `a${index}`, 'user'));
    expect(Object.keys(await read(env.slice(0, 100)))).to.have.length(100);
    expect(await errorOf(read(env, asked))).to.equal(
      'the environment of the target refers to more than 100 Secrets and ConfigMaps',
    );
    expect(asked).to.have.length(100);
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
