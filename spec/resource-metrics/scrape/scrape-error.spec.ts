import { expect } from 'chai';
import { ScrapeError } from '#lib/resource-metrics/scrape/scrape-error.ts';

const withCode = (code: string, message = 'raw') => Object.assign(new Error(message), { code });
const messageOf = (cause: unknown) => new ScrapeError('a', cause, { address: '10.0.0.7:10250' }).message;

describe('ScrapeError', () => {
  it('says what could not be done, to what and why', () => {
    const error = new ScrapeError('a', withCode('ECONNREFUSED'), { address: '10.0.0.7:10250' });
    expect(error.message).to.equal('Cannot scrape node "a" at 10.0.0.7:10250: connection refused');
    expect(error).to.deep.include({ nodeName: 'a', address: '10.0.0.7:10250', reason: 'connection refused' });
    expect(error.cause).to.have.property('code', 'ECONNREFUSED');
  });

  it('leaves out the address of a node that has none', () => {
    const error = new ScrapeError('a', new Error('no address matched types [InternalIP]'));
    expect(error.message).to.equal('Cannot scrape node "a": no address matched types [InternalIP]');
  });

  it('says what was thrown though it is no error', () => {
    for (const cause of ['ECONNREFUSED', undefined, { code: 'ECONNREFUSED' }])
      expect(messageOf(cause)).to.match(/^Cannot scrape node "a" at 10\.0\.0\.7:10250: /);
    expect(messageOf('it hung up')).to.match(/: it hung up$/);
    expect(messageOf({ code: 'ECONNREFUSED' })).to.not.include('refused');
  });

  it("puts foreign errors into words and keeps others' own", () => {
    expect(messageOf(withCode('ERR_SSL_WRONG_VERSION_NUMBER'))).to.match(/: it does not speak TLS$/);
    expect(messageOf(withCode('EWHATEVER', 'something else'))).to.match(/: something else$/);
    expect(messageOf(new Error('outer', { cause: new Error('inner') }))).to.match(/: outer: inner$/);
  });
});
