import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Dispatcher } from 'undici';
import { KubeletResponse, ReceivedBody } from '#lib/resource-metrics/scrape/kubelet/kubelet-response.ts';
import { ResponseMemory } from '#lib/resource-metrics/scrape/kubelet/response-memory.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const MEBIBYTE = 2 ** 20;

function setup({ sharedBytes = 32 * MEBIBYTE, maxBytes = 16 * MEBIBYTE, expectedBytes = 0 } = {}) {
  const memory = new ResponseMemory(new ManualClock(), sharedBytes);
  const resumed: string[] = [];
  const bodyOf = (name = 'body') =>
    new ReceivedBody(
      { maxBytes, memory, expectedBytes },
      { onReserved: () => resumed.push(name), onEvicted: (reason) => expect.fail(String(reason)) },
    );
  return { bodyOf, resumed };
}

describe('KubeletResponse', () => {
  it('reads a body with the times of its request, its head and its end', async () => {
    const clock = new ManualClock();
    const response = new KubeletResponse({
      clock,
      maxBytes: MEBIBYTE,
      memory: new ResponseMemory(clock),
      read: (body, times) => ({ text: String(body), ...times }),
    });
    const controller = {} as Dispatcher.DispatchController;
    const laterBy = async (ms: number, act: () => void) => {
      await clock.advance(ms);
      act();
    };
    await laterBy(3000, () => response.onRequestStart(controller)); // connected
    await laterBy(1, () => response.onResponseStart(controller, 103, {}));
    await laterBy(20, () => response.onResponseStart(controller, 200, {}));
    await laterBy(400, () => response.onResponseData(controller, Buffer.from('body')));
    await laterBy(500, () => response.onResponseEnd());
    const times = { requestedAtMs: 3000, respondedAtMs: 3021, receivedAtMs: 3921 };
    expect(await response.result).to.deep.equal({ text: 'body', ...times });
  });
});

describe('ReceivedBody', () => {
  it('contains the received bytes for any chunk sizes', () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 70_000 }), { maxLength: 12 });
    const expectation = fc.oneof(fc.nat(1000), fc.nat(400_000), fc.constant(Number.MAX_SAFE_INTEGER));
    fc.assert(
      fc.property(parts, expectation, (arrays, expectedBytes) => {
        const chunks = arrays.map((array) => Buffer.from(array));
        using body = setup({ expectedBytes }).bodyOf();
        for (const chunk of chunks) body.append(chunk);
        expect(body.contents().equals(Buffer.concat(chunks))).to.equal(true);
      }),
    );
  });

  it('contains the received bytes beyond the maximum allocation', () => {
    const chunks = Array.from({ length: 40 }, (_, index) => Buffer.alloc(70_000, index + 1)); // 2.7 MiB
    for (const expectedBytes of [0, 200_000]) {
      using body = setup({ expectedBytes }).bodyOf();
      for (const chunk of chunks) body.append(chunk);
      expect(body.contents().equals(Buffer.concat(chunks))).to.equal(true);
    }
  });

  it('allocates the expected length once, up to the usual length', () => {
    const openAfter = (expectedBytes: number, lengths: readonly number[]) => {
      using body = setup({ expectedBytes }).bodyOf();
      return lengths.map((length) => {
        body.append(Buffer.alloc(length));
        return body.contents().buffer;
      });
    };
    const [first, ...others] = openAfter(70_000, [16_000, 30_000, 28_000]);
    expect(others.every((buffer) => buffer === first)).to.equal(true);
    const [start, grown] = openAfter(0, [16_000, 30_000]);
    expect(grown).to.not.equal(start);
    using body = setup({ expectedBytes: 100 * MEBIBYTE, sharedBytes: 0 }).bodyOf();
    body.append(Buffer.from('a'));
    expect(body.contents().buffer.byteLength).to.equal(256 * 1024);
  });

  it('does not retain chunks', () => {
    using body = setup().bodyOf();
    const chunk = Buffer.from('abc');
    body.append(chunk);
    chunk.fill('x');
    expect(String(body.contents())).to.equal('abc');
  });

  it('accepts exactly the maximum length', () => {
    using body = setup({ maxBytes: MEBIBYTE }).bodyOf();
    body.append(Buffer.alloc(MEBIBYTE - 1));
    body.append(Buffer.alloc(1));
    expect(body.contents()).to.have.length(MEBIBYTE);
    expect(() => body.append(Buffer.alloc(1))).to.throw(
      'the response is larger than 1Mi (--kubelet-max-response-bytes)',
    );
  });

  it('rejects an announced length that is too long', () => {
    using body = setup({ maxBytes: MEBIBYTE }).bodyOf();
    body.expect(MEBIBYTE);
    expect(() => body.expect(MEBIBYTE + 1)).to.throw('the response is larger than 1Mi');
  });

  it('buffers chunks in order while it waits for memory', () => {
    const { bodyOf, resumed } = setup({ sharedBytes: MEBIBYTE });
    using first = bodyOf('first');
    first.append(Buffer.alloc(4 * MEBIBYTE));
    const second = bodyOf('second');
    second.append(Buffer.alloc(MEBIBYTE));
    expect([first.isWaiting, second.isWaiting]).to.deep.equal([false, false]);
    using third = bodyOf('third');
    const chunks = ['a', 'b', 'c'].map((letter) => Buffer.alloc(200_000, letter));
    for (const chunk of chunks) third.append(chunk);
    expect(third.isWaiting).to.equal(true);
    expect(resumed).to.deep.equal([]);
    second[Symbol.dispose]();
    expect(resumed).to.deep.equal(['third']);
    expect(third.contents().equals(Buffer.concat(chunks))).to.equal(true);
  });

  it('uses no shared memory up to the usual length', () => {
    const { bodyOf } = setup({ sharedBytes: 0 });
    using first = bodyOf('first');
    first.append(Buffer.alloc(MEBIBYTE));
    using second = bodyOf('second');
    second.append(Buffer.alloc(256 * 1024));
    expect(second.isWaiting).to.equal(false);
    second.append(Buffer.alloc(1));
    expect(second.isWaiting).to.equal(true);
  });

  it('frees its memory without garbage collection', () => {
    const before = process.memoryUsage().arrayBuffers;
    const { bodyOf } = setup({ maxBytes: 64 * MEBIBYTE });
    const chunk = Buffer.alloc(64 * MEBIBYTE);
    for (let round = 0; round < 5; round++) {
      using body = bodyOf();
      for (let start = 0; start < chunk.length; start += MEBIBYTE) {
        body.append(chunk.subarray(start, start + MEBIBYTE));
      }
      expect(body.contents()).to.have.length(64 * MEBIBYTE);
    }
    expect((process.memoryUsage().arrayBuffers - before) / MEBIBYTE).to.be.below(65); // the chunk itself
  });

  it('returns memory of long responses to the system', async function () {
    if (process.platform !== 'linux') this.skip();
    const program = `
      import { readFileSync } from 'node:fs';
      import { KubeletResponse, ReceivedBody } from '#lib/resource-metrics/scrape/kubelet/kubelet-response.ts';
      import { ResponseMemory } from '#lib/resource-metrics/scrape/kubelet/response-memory.ts';
      import { systemClock } from '#lib/time/clock.ts';

      const MEBIBYTE = 2 ** 20;
      const residentMebibytes = () => {
        const [, kibibytes] = /VmRSS:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'));
        return kibibytes / 1024;
      };
      const listener = { onReserved() {}, onEvicted() {} };
      const memory = new ResponseMemory(systemClock);
      const chunk = Buffer.alloc(MEBIBYTE, 'x');
      const small = [];
      const readLongOnes = () => {
        const bodies = Array.from({ length: 3 }, () => new ReceivedBody({ maxBytes: 16 * MEBIBYTE, memory }, listener));
        for (let part = 0; part < 10; part++) {
          for (const body of bodies) body.append(chunk);
          for (let count = 0; count < 100; count++) small.push(new ArrayBuffer(1024)); // other allocations above them
        }
        for (const body of bodies) body[Symbol.dispose]();
      };
      readLongOnes();
      const beforeMebibytes = residentMebibytes();
      for (let round = 0; round < 5; round++) readLongOnes();
      console.log(residentMebibytes() - beforeMebibytes, residentMebibytes());
    `;
    const args = ['--input-type=module', '-e', program];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(Number(stdout.split(' ')[0])).to.be.below(16, 'MiB after five rounds of 48 MiB');
  });
});
