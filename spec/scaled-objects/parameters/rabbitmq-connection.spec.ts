import { rootCertificates } from 'node:tls';
import { expect } from 'chai';
import { z } from 'zod';
import {
  RABBITMQ_CONNECTION,
  rabbitmqConnectionOf,
} from '#lib/scaled-objects/parameters/rabbitmq-connection.ts';

const CA = rootCertificates[0] ?? '';

const SCHEMA = z.object(RABBITMQ_CONNECTION);
const GUEST = { username: 'guest', password: 'guest' };

describe('rabbitmqConnectionOf, by AMQP', () => {
  const broker = (given: Readonly<Record<string, string>>) => {
    const connection = rabbitmqConnectionOf(SCHEMA.parse(given));
    return connection.protocol === 'amqp' ? connection.broker : undefined;
  };

  for (const [host, found] of [
    ['amqp://broker', { host: 'broker', port: 5672, login: GUEST, vhost: '/', tls: undefined }],
    [' amqp://broker:5000/team ', { host: 'broker', port: 5000, vhost: 'team', tls: undefined }],
    ['amqp://[fd00::7]/%2F', { host: 'fd00::7', port: 5672, vhost: '/' }],
    ['amqps://broker', { host: 'broker', port: 5671, login: GUEST, tls: { isUnverified: false } }],
    ['amqp://ann:p%2Fw@broker', { login: { username: 'ann', password: 'p/w' } }],
    ['amqp://ann@broker', { login: { username: 'ann', password: '' } }],
  ] as const)
    it(`finds the broker at ${host}`, () => {
      expect(broker({ host })).to.deep.include(found);
    });

  it('takes user, password and virtual host that are given beside the host', () => {
    const given = {
      host: 'amqp://ann:pw@broker/team',
      username: ' bob ',
      password: ' x ',
      vhostName: ' other ',
    };
    expect(broker(given)).to.deep.include({
      ...{ login: { username: 'bob', password: ' x ' }, vhost: 'other' },
    });
  });

  it('shows a certificate where it is to, and is known by it where no user is named', () => {
    const files = { ca: CA, cert: 'CERT', key: 'KEY', tls: 'enable' };
    const tls = { ca: CA, cert: 'CERT', key: 'KEY', isUnverified: false };
    expect(broker({ host: 'amqps://broker', ...files })).to.deep.include({ login: undefined, tls });
    expect(broker({ host: 'amqps://ann:pw@broker', ...files })).to.deep.include({
      ...{ login: { username: 'ann', password: 'pw' }, tls },
    });
    const plain = broker({ host: 'amqp://broker', ...files });
    expect(plain).to.deep.include({ login: GUEST, tls: undefined }); // nothing is encrypted
    const disabled = broker({ host: 'amqps://broker', ...files, tls: 'disable', unsafeSsl: 'true' });
    expect(disabled).to.deep.include({ login: GUEST, tls: { isUnverified: true } });
    const authority = broker({ host: 'amqps://broker', ca: CA, tls: 'enable' });
    expect(authority?.tls?.ca).to.equal(CA);
    expect(authority?.login).to.deep.equal(GUEST);
    expect(() => broker({ host: 'amqps://broker', ca: 'CA', tls: 'enable' })).to.throw(
      'parameter "ca" holds no certificate in PEM',
    );
  });

  it('takes the protocol from the scheme, or refuses another', () => {
    expect(broker({ host: 'amqps://broker', protocol: 'amqp' })?.host).to.equal('broker');
    expect(() => broker({ host: 'amqp://broker', protocol: 'http' })).to.throw(
      'parameter "host" must have a scheme of protocol http',
    );
  });
});

describe('rabbitmqConnectionOf, by HTTP', () => {
  const connection = (given: Readonly<Record<string, string>>) => {
    const found = rabbitmqConnectionOf(SCHEMA.parse(given));
    if (found.protocol !== 'http') throw new Error('it is HTTP');
    return { url: found.url.href, vhost: found.vhost, ...found.credentials.current };
  };
  const nobody = { authorization: undefined, ca: undefined, cert: undefined, key: undefined };

  for (const [host, url, vhost] of [
    ['http://broker:15672', 'http://broker:15672/', '/'],
    ['https://broker', 'https://broker/', '/'],
    ['http://broker/team', 'http://broker/', 'team'],
    ['http://broker/base/below/team%2Fa?x=y', 'http://broker/base/below/', 'team/a'],
    ['http://broker/base/', 'http://broker/base/', '/'],
  ] as const)
    it(`finds the management plugin of ${host}`, () => {
      expect(connection({ host })).to.deep.equal({ url, vhost, ...nobody });
    });

  it('shows user and password in a header, not in the URL', () => {
    expect(connection({ host: 'http://ann:p%3Aw@broker' })).to.deep.include({
      ...{ url: 'http://broker/', authorization: `Basic ${Buffer.from('ann:p:w').toString('base64')}` },
    });
  });

  it('takes any certificate where it is told to, and shows one where it is to', () => {
    expect(connection({ host: 'https://broker', unsafeSsl: 'true' })).to.deep.include({ isUnverified: true });
    expect(connection({ host: 'https://broker' })).to.not.have.property('isUnverified');
    const files = { ca: CA, cert: 'CERT', key: 'KEY' };
    expect(connection({ host: 'https://broker', tls: 'enable', ...files })).to.deep.include(files);
    expect(connection({ host: 'https://broker', ...files })).to.deep.include(nobody);
  });

  it('is told apart by who asks', () => {
    const name = (host: string) => {
      const found = rabbitmqConnectionOf(SCHEMA.parse({ host }));
      return found.protocol === 'http' ? found.credentials.name : '';
    };
    expect(name('http://a:b@broker')).to.equal(name('http://a:b@other'));
    expect(name('http://a:b@broker')).to.not.equal(name('http://a:c@broker'));
  });
});
