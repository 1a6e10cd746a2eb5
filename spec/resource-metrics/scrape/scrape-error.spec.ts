import { expect } from 'chai';
import { KubeletStatusError } from '#lib/resource-metrics/scrape/kubelet/kubelet-error.ts';
import {
  NodeMismatchError,
  NotScrapedError,
  ScrapeError,
} from '#lib/resource-metrics/scrape/scrape-error.ts';

const withCode = (code: string, message = 'raw') => Object.assign(new Error(message), { code });
const messageOf = (cause: unknown) => new ScrapeError('a', cause, { address: '10.0.0.7:10250' }).message;

describe('ScrapeError', () => {
  it('describes what failed, where and why', () => {
    const error = new ScrapeError('a', withCode('ECONNREFUSED'), { address: '10.0.0.7:10250' });
    expect(error.message).to.equal('Cannot scrape node "a" at 10.0.0.7:10250: connection refused');
    expect(error).to.deep.include({ nodeName: 'a', address: '10.0.0.7:10250', reason: 'connection refused' });
    expect(error.cause).to.have.property('code', 'ECONNREFUSED');
  });

  it('has no address if the node has none', () => {
    const error = new ScrapeError('a', new Error('no address matched types [InternalIP]'));
    expect(error.message).to.equal('Cannot scrape node "a": no address matched types [InternalIP]');
  });

  it('describes thrown values that are not errors', () => {
    for (const cause of ['ECONNREFUSED', undefined, { code: 'ECONNREFUSED' }])
      expect(messageOf(cause)).to.match(/^Cannot scrape node "a" at 10\.0\.0\.7:10250: /);
    expect(messageOf('it hung up')).to.match(/: it hung up$/);
    expect(messageOf({ code: 'ECONNREFUSED' })).to.not.include('refused');
  });

  for (const [code, words] of [
    ['ECONNREFUSED', 'connection refused'],
    ['ECONNRESET', 'connection reset by the kubelet'],
    ['EHOSTUNREACH', 'no route to the host'],
    ['ENETUNREACH', 'network unreachable'],
    ['ETIMEDOUT', 'connection timed out'],
    ['EMFILE', 'this process has too many open files'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'its certificate is self-signed'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'its certificate is signed by an unknown authority'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'its certificate is signed by an unknown authority'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'its certificate is signed by an unknown authority'],
    ['CERT_HAS_EXPIRED', 'its certificate has expired'],
    ['CERT_NOT_YET_VALID', 'its certificate is not yet valid'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'it does not speak TLS'],
    ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'it does not speak TLS'],
  ] as const) {
    it(`describes ${code} as "${words}"`, () => {
      expect(messageOf(withCode(code))).to.equal(`Cannot scrape node "a" at 10.0.0.7:10250: ${words}`);
    });
  }

  it('retains other messages', () => {
    expect(messageOf(withCode('EWHATEVER', 'something else'))).to.match(/: something else$/);
    expect(messageOf(new Error('outer', { cause: new Error('inner') }))).to.match(/: outer: inner$/);
    expect(messageOf(new NotScrapedError())).to.match(
      /: the scrape waits for more than a cycle: too many TLS handshakes are pending$/,
    );
    expect(messageOf(new NodeMismatchError('b'))).to.match(/: the kubelet of node "b" responded$/);
  });

  it('has a kind that depends on code, status, message and address, but not on details', () => {
    const kindOf = (cause: unknown, address = '10.0.0.7:10250') =>
      new ScrapeError('a', cause, { address }).kind;
    for (const [one, other] of [
      [withCode('ECONNRESET', 'read'), withCode('ECONNRESET', 'write')],
      [new KubeletStatusError(500, 'at 9:00'), new KubeletStatusError(500, 'at 9:01')],
      [new Error('no response within 12 ms: a\nb'), new Error('no response within 345 ms: c')],
    ])
      expect(kindOf(one)).to.equal(kindOf(other));
    const causes = [
      withCode('ECONNRESET'),
      withCode('EPIPE'),
      new KubeletStatusError(500, ''),
      new KubeletStatusError(503, ''),
      new Error('no response'),
      new Error('no response: x: y'),
      new Error('no'),
      'no more',
    ];
    expect(new Set(causes.map((cause) => kindOf(cause))).size).to.equal(7); // two start with the same words
    expect(kindOf(new Error('no'))).not.to.equal(kindOf(new Error('no'), '10.0.0.8:10250'));
    expect(kindOf(Object.assign(new Error('no'), { code: 7 }))).to.equal(kindOf(new Error('no')));
  });
});
