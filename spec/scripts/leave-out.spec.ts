import { join } from 'node:path';
import { expect } from 'chai';
import { type BuildResult, build } from 'esbuild';
import { runToEnd } from '#spec/support/run-to-end.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import { BUNDLE_OPTIONS } from '../../scripts/bundle-options.ts';

/** Bundles a program in the same way as the server. */
async function bundle(program: string, outfile: string): Promise<BuildResult<{ metafile: true }>> {
  return await build({
    ...BUNDLE_OPTIONS,
    stdin: { contents: program, resolveDir: '.' },
    splitting: false,
    outfile,
    metafile: true,
    logLevel: 'silent',
  });
}

/** An HTTP server; Node's http is required, since importing it loads a copy of undici. */
const SERVER = `
  const { createServer } = require('node:http');
  const server = createServer((request, response) => response.end('response to ' + request.url)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const origin = 'http://127.0.0.1:' + server.address().port;
`;

describe('LEAVE_OUT', () => {
  let folder: TemporaryDirectory;

  before(async () => {
    folder = await TemporaryDirectory.create();
  });

  after(() => folder?.[Symbol.asyncDispose]());

  it('retains the parts of undici that send requests, with a connector, through a proxy and by a handler', async () => {
    const outfile = join(folder.path, 'requests.mjs');
    const { metafile } = await bundle(
      `
        import { connect } from 'node:net';
        import { Agent, buildConnector, Client, ProxyAgent } from 'undici';
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
          new Agent({ connect: buildConnector({ allowH2: false }) }),
          new ProxyAgent({ uri: 'http://127.0.0.1:' + proxy.address().port, proxyTunnel: true }),
        ];
        for (const [index, dispatcher] of dispatchers.entries()) {
          const { statusCode, body } = await dispatcher.request({ origin, path: '/' + index, method: 'GET' });
          console.log(statusCode, await body.text());
        }
        const client = new Client(origin, { useMilo: false });
        console.log(await new Promise((resolve, reject) => {
          let text = '';
          client.dispatch({ method: 'GET', path: '/dispatched' }, {
            onRequestStart() {},
            onResponseStart() {},
            onResponseData(_, chunk) { text += chunk; },
            onResponseEnd() { resolve(text); },
            onResponseError(_, error) { reject(error); },
          });
        }));
        console.log(process.moduleLoadList.includes('NativeModule internal/deps/undici/undici'));
        process.exit();
      `,
      outfile,
    );
    expect(await runToEnd(process.execPath, [outfile], 60_000)).to.deep.equal({
      exitStatus: 0,
      stdout:
        '200 response to /0\ntunnel to the server: true\n200 response to /1\nresponse to /dispatched\nfalse\n',
      stderr: '',
    });
    const unused =
      /undici\/(index\.js|lib\/(mock|interceptor|cache|web\/(websocket|eventsource|cache|fetch\/index)))/;
    expect(Object.keys(metafile.inputs).filter((path) => unused.test(path))).to.deep.equal([]);
  });

  it('fails the build if a source imports a removed part of undici', async () => {
    const building = bundle(
      "import { MockAgent } from 'undici'; new MockAgent();",
      join(folder.path, 'a.mjs'),
    );
    const outcome = await building.then(
      () => 'built',
      ({ message }: Error) => message,
    );
    expect(outcome).to.include('No matching export').and.include('"MockAgent"');
  });

  it('retains all of undici for packages that import it', async () => {
    const { metafile } = await bundle(
      "import { KubeConfig } from '@kubernetes/client-node'; new KubeConfig();",
      join(folder.path, 'b.mjs'),
    );
    expect(Object.keys(metafile.inputs)).to.include('node_modules/undici/lib/web/fetch/index.js');
  });
});
