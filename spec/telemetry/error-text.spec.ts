import { open, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect } from 'chai';
import { codeOf, describeError, messageOf, systemReasonOf, toError } from '#lib/telemetry/error-text.ts';
import { freePort } from '#spec/support/free-port.ts';

describe('describeError', () => {
  it('joins the messages of an error and its causes without repetition', () => {
    const error = new Error('Cannot scrape: refused', {
      cause: new Error('refused', { cause: new Error('why') }),
    });
    expect(describeError(error)).to.equal('Cannot scrape: refused: why');
  });

  it('describes thrown values that are not errors', () => {
    expect(describeError('text')).to.equal('text');
    expect(describeError(new Error(''))).to.equal('Error');
  });

  it('describes failed system calls by their reason, and by their address or path unless it precedes', async () => {
    const port = await freePort();
    const refused = await new Promise((resolve) => {
      connect({ port, host: '127.0.0.1' }).once('error', resolve);
    });
    const missing = await readFile('/no/such').catch((error: unknown) => error);
    const folder = await readFile('docs').catch((error: unknown) => error);
    const forbidden = await open('/proc/self/mem/a').catch((error: unknown) => error);
    const address = `127.0.0.1:${port}`;
    expect(describeError(refused)).to.equal(`connect ${address}: connection refused`);
    expect(describeError(missing)).to.equal('open /no/such: no such file or directory');
    expect(describeError(forbidden)).to.equal('open /proc/self/mem/a: not a directory');
    expect(describeError(folder)).to.equal('is a directory'); // without a path
    for (const [message, cause, whole] of [
      [`Cannot get /api at http://${address}`, refused, 'connection refused'],
      ['Cannot read /no/such', missing, 'no such file or directory'],
      ['Cannot get orders', refused, `connect ${address}: connection refused`],
    ] as const)
      expect(describeError(new Error(message, { cause }))).to.equal(`${message}: ${whole}`);
    expect(messageOf(refused)).to.equal(`connect ${address}: connection refused`);
  });

  it('stops at a circular chain of causes', () => {
    const error = new Error('a');
    error.cause = error;
    expect(describeError(error)).to.equal('a');
  });
});

describe('messageOf', () => {
  it('is the message of an Error without its causes, and the text of anything else', () => {
    expect(messageOf(new Error('outer', { cause: new Error('inner') }))).to.equal('outer');
    expect([messageOf('thrown'), messageOf(undefined)]).to.deep.equal(['thrown', 'undefined']);
  });
});

describe('systemReasonOf', () => {
  const withCode = (code: string, more: object = {}) =>
    Object.assign(new Error(`${code}: text`), { code, ...more });

  it('is the reason of a failed system call, and of the failed attempts to connect to a host', () => {
    expect(systemReasonOf(withCode('EACCES', { syscall: 'open' }))).to.equal('permission denied');
    expect(systemReasonOf(withCode('ECONNRESET', { syscall: 'read' }))).to.equal('connection reset');
    expect(systemReasonOf(withCode('EXDEV', { syscall: 'rename' }))).to.equal('text');
    const attempts = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    expect(systemReasonOf(attempts)).to.equal('connection refused');
  });

  it('is undefined for other errors', () => {
    for (const thrown of [
      new Error('E1: a'),
      withCode('ECONNRESET'),
      withCode('EXDEV'),
      withCode('constructor'),
      'ECONNREFUSED',
      undefined,
    ])
      expect(systemReasonOf(thrown), String(thrown)).to.equal(undefined);
  });
});

describe('toError', () => {
  it('returns an Error as it is, and wraps anything else', () => {
    const error = new TypeError('outer');
    expect(toError(error)).to.equal(error);
    expect(toError('thrown')).to.be.instanceOf(Error).with.property('message', 'thrown');
  });
});

describe('codeOf', () => {
  it('is the code of an Error as a text, where it has one', () => {
    expect(codeOf(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }))).to.equal('ECONNREFUSED');
    expect(codeOf(Object.assign(new Error('no'), { code: 14 }))).to.equal('14');
    expect([codeOf(new Error('no')), codeOf({ code: 'x' }), codeOf(undefined)]).to.deep.equal([
      ...[undefined, undefined, undefined],
    ]);
  });
});
