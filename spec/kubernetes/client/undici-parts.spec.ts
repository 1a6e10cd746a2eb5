import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';

/** Runs a program in a process of its own, for here others may have loaded the whole of undici. */
async function run(program: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  return stdout;
}

const SERVER = `
  import { createRequire } from 'node:module';
  const { createServer } = createRequire(import.meta.url)('node:http'); // to import it loads the whole
  const server = createServer((request, response) => response.end('response to ' + request.url)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const origin = 'http://127.0.0.1:' + server.address().port;
`;

describe('the parts of undici', () => {
  it('suffice to ask, directly and through a proxy, where nothing has loaded the whole', async () => {
    const stdout = await run(`
      import { connect } from 'node:net';
      import { Agent, ProxyAgent, requestBy } from '#lib/kubernetes/client/undici-parts.ts';
      ${SERVER}
      const proxy = createServer().listen(0, '127.0.0.1').on('connect', (request, socket) => {
        console.log('tunnel to the server:', request.url === new URL(origin).host);
        const [host, port] = request.url.split(':');
        const through = connect(port, host, () => {
          socket.write('HTTP/1.1 200 OK\\r\\n\\r\\n');
          through.pipe(socket).pipe(through);
        });
      });
      await new Promise((resolve) => proxy.once('listening', resolve));
      const dispatchers = [
        new Agent(),
        new ProxyAgent({ uri: 'http://127.0.0.1:' + proxy.address().port, proxyTunnel: true }),
      ];
      for (const [index, dispatcher] of dispatchers.entries()) {
        const { statusCode, body } = await requestBy(dispatcher, { origin, path: '/' + index, method: 'GET' });
        console.log(statusCode, await body.text());
      }
      console.log(process.moduleLoadList.includes('NativeModule internal/deps/undici/undici'));
      process.exit();
    `);
    expect(stdout).to.equal('200 response to /0\ntunnel to the server: true\n200 response to /1\nfalse\n');
  });

  it('leave the prototype of dispatchers as it is', async () => {
    const stdout = await run(`
      import '#lib/kubernetes/client/undici-parts.ts';
      import '#lib/resource-metrics/scrape/kubelet/kubelet-connection.ts';
      import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
      console.log(Object.getOwnPropertyNames(Dispatcher.prototype).join());
    `);
    expect(stdout).to.equal('constructor,dispatch,close,destroy,compose\n');
  });

  it('take no more than is needed of undici for asking kubelets', async () => {
    const stdout = await run(`
      import Client from 'undici/lib/dispatcher/client.js';
      ${SERVER}
      const client = new Client(origin, { useMilo: false });
      const text = await new Promise((resolve, reject) => {
        let text = '';
        client.dispatch({ method: 'GET', path: '/kubelet' }, {
          onRequestStart() {},
          onResponseStart() {},
          onResponseData(_, chunk) { text += chunk; },
          onResponseEnd() { resolve(text); },
          onResponseError(_, error) { reject(error); },
        });
      });
      console.log(text);
      const files = Object.keys(createRequire(import.meta.url).cache);
      console.log(files.filter((file) => /undici.lib.(api|web|mock|interceptor|cache)/.test(file)).length);
      process.exit();
    `);
    expect(stdout).to.equal('response to /kubelet\n0\n');
  });
});
