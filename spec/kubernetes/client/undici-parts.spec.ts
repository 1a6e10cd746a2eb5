import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';

describe('the parts of undici', () => {
  it('suffice to ask, directly and through a proxy, where nothing has loaded the whole', async () => {
    const program = `
      import { Agent, Client, ProxyAgent } from '#lib/kubernetes/client/undici-parts.ts';
      const agents = [new Agent(), new ProxyAgent('http://127.0.0.1:9')];
      console.log(agents.map(({ request, connect }) => typeof request + ' ' + typeof connect).join());
      console.log(typeof new Client('http://kubelet').dispatch);
      console.log(process.moduleLoadList.includes('NativeModule internal/deps/undici/undici'));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    expect(stdout).to.equal('function function,function function\nfunction\nfalse\n');
  });
});
