import { expect } from 'chai';
import fc from 'fast-check';
import { HttpAnswerReader, HttpFault } from '#lib/resource-metrics/scrape/http-answer-reader.ts';

/** What is heard of an answer that comes in these parts; `closed` when the other side closes after them. */
function hear(parts: readonly Buffer[], { closed = false } = {}) {
  const heard = { status: 0, headers: {}, body: '', end: undefined as boolean | undefined };
  const reader = new HttpAnswerReader({
    head: ({ statusCode, headers }) =>
      Object.assign(heard, { status: statusCode, headers: Object.fromEntries(headers) }),
    body: (bytes) => {
      heard.body += bytes.toString('latin1');
    },
    end: (isReusable) => {
      heard.end = isReusable;
    },
  });
  for (const part of parts) reader.read(part);
  if (closed) reader.close();
  return heard;
}

const answer = (text: string, options?: { closed: boolean }) => hear([Buffer.from(text, 'latin1')], options);
const OK = 'HTTP/1.1 200 OK\r\n';

describe('HttpAnswerReader', () => {
  it('reads status, headers and a body of known length', () => {
    expect(answer(`${OK}Content-Type: application/json\r\nContent-Length:  2 \r\n\r\n{}`)).to.deep.equal({
      status: 200,
      headers: { 'content-type': 'application/json', 'content-length': '2' },
      body: '{}',
      end: true,
    });
  });

  it('reads a body in chunks, their extensions and the trailers', () => {
    const chunks = '3\r\nabc\r\n0A;x="y"\r\n0123456789\r\n0\r\nExpires: never\r\n\r\n';
    const heard = answer(`${OK}Transfer-Encoding: chunked\r\n\r\n${chunks}`);
    expect(heard).to.deep.include({ body: 'abc0123456789', end: true });
  });

  it('reads what has no length up to the close of the connection', () => {
    expect(answer(`${OK}\r\nabc`)).to.deep.include({ body: 'abc', end: undefined });
    expect(answer(`${OK}\r\nabc`, { closed: true })).to.deep.include({ body: 'abc', end: false });
  });

  it('takes a close before the promised end for none', () => {
    expect(answer(`${OK}Content-Length: 9\r\n\r\nabc`, { closed: true }).end).to.equal(undefined);
    expect(answer(`${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`, { closed: true }).end).to.equal(
      undefined,
    );
  });

  it('tells whether the connection can be used again', () => {
    const endOf = (head: string) => answer(`${head}Content-Length: 0\r\n\r\n`).end;
    expect(endOf(OK)).to.equal(true);
    expect(endOf(`${OK}Connection: Close\r\n`)).to.equal(false);
    expect(endOf(`${OK}Connection: keep-alive\r\n`)).to.equal(true);
    expect(endOf('HTTP/1.0 200 OK\r\n')).to.equal(false);
  });

  it('passes over what is provisional, and knows that some answers have no body', () => {
    expect(answer(`HTTP/1.1 100 Continue\r\n\r\n${OK}Content-Length: 1\r\n\r\nx`)).to.deep.include({
      status: 200,
      body: 'x',
    });
    for (const status of [204, 304]) {
      expect(answer(`HTTP/1.1 ${status} None\r\nContent-Length: 7\r\n\r\n`)).to.deep.include({
        status,
        end: true,
      });
    }
  });

  it('hears the same however an answer is cut into parts', () => {
    const body = fc.string({ unit: 'binary-ascii', maxLength: 200 });
    fc.assert(
      fc.property(
        fc.array(body, { minLength: 1 }),
        fc.boolean(),
        fc.infiniteStream(fc.nat(40)),
        (texts, isChunked, cuts) => {
          const contents = texts.join('');
          const chunks = texts
            .filter((text) => text !== '')
            .map((text) => `${text.length.toString(16)}\r\n${text}\r\n`);
          const framed = isChunked
            ? `Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`
            : `Content-Length: ${contents.length}\r\n\r\n${contents}`;
          const whole = Buffer.from(`${OK}${framed}`, 'latin1');
          const parts: Buffer[] = [];
          for (let start = 0; start < whole.length; ) {
            const end = start + (cuts.next().value ?? 0);
            parts.push(whole.subarray(start, end));
            start = end;
          }
          expect(hear(parts)).to.deep.include({ status: 200, body: contents, end: true });
        },
      ),
    );
  });

  for (const [what, text, message] of [
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'it does not speak HTTP'],
    ['HTTP/2', 'HTTP/2 200\r\n', 'it does not speak HTTP'],
    ['a header without a colon', `${OK}Content-Length\r\n\r\n`, 'a header of its answer is not valid'],
    ['a length that is none', `${OK}Content-Length: -1\r\n\r\n`, 'the length of its answer is "-1"'],
    [
      'two lengths',
      `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`,
      'the length of its answer is "1, 2"',
    ],
    [
      'another coding',
      `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n`,
      'its answer is in transfer coding "gzip, chunked"',
    ],
    [
      'a chunk size that is none',
      `${OK}Transfer-Encoding: chunked\r\n\r\n-1\r\n`,
      'the size of a chunk of its answer is not valid',
    ],
    [
      'a chunk that goes on',
      `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n`,
      'a chunk of its answer is longer than it says',
    ],
    [
      'more than one answer',
      `${OK}Content-Length: 1\r\n\r\nxHTTP/1.1`,
      'the kubelet says more than it was asked for',
    ],
    ['endless headers', `${OK}${'A: b\r\n'.repeat(4000)}`, "the answer's headers are too large"],
    ['an endless line', 'x'.repeat(20_000), "the answer's headers are too large"],
    [
      'endless provisional answers',
      'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000),
      "the answer's headers are too large",
    ],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(() => answer(text)).to.throw(HttpFault, message);
    });
  }
});
