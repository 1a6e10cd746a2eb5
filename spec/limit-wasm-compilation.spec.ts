import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';

/** What the compiler has taken at most, after how many rounds of reading responses. */
interface Compiled {
  readonly mebibytes: number;
  readonly rounds: number;
}

/** Has undici's parser read responses, in a process of its own, until it was optimized or so many rounds are over. */
async function compiledAfter(statements: string, rounds = Number.POSITIVE_INFINITY): Promise<Compiled> {
  const script = `
    import { createRequire } from 'node:module';
    import { getHeapStatistics } from 'node:v8';
    import { limitWasmCompilation } from '#lib/limit-wasm-compilation.ts';
    ${statements}
    const code = createRequire(import.meta.url)('undici/lib/llhttp/llhttp_simd-wasm.js');
    const callbacks = ['message_begin', 'url', 'status', 'header_field', 'header_value', 'headers_complete', 'body', 'message_complete'];
    const env = Object.fromEntries(callbacks.map((name) => ['wasm_on_' + name, () => 0]));
    const { exports: parser } = new WebAssembly.Instance(new WebAssembly.Module(code), { env });
    const responses = Buffer.from('HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\n{}'.repeat(100));
    const [state, start] = [parser.llhttp_alloc(2), parser.malloc(responses.length)];
    new Uint8Array(parser.memory.buffer, start).set(responses);
    const mebibytes = () => getHeapStatistics().peak_malloced_memory / 2 ** 20;
    let rounds = 0;
    for (; rounds < ${rounds} && mebibytes() < 15; rounds++) {
      for (let one = 0; one < 100; one++) parser.llhttp_execute(state, start, responses.length);
      await new Promise((resolve) => setTimeout(resolve, 5)); // it is compiled aside
    }
    console.log(JSON.stringify({ mebibytes: mebibytes(), rounds }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return JSON.parse(stdout) as Compiled;
}

describe('limitWasmCompilation', () => {
  it('keeps the compiler from taking 23 MB for the parser of HTTP', async () => {
    const { mebibytes, rounds } = await compiledAfter('');
    expect(mebibytes).to.be.at.least(15);
    expect((await compiledAfter('limitWasmCompilation();', 3 * rounds)).mebibytes).to.be.at.most(5);
  });
});
