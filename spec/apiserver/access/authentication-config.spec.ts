import { expect } from 'chai';
import {
  ClusterAuthenticationConfig,
  dataOf,
  parseClientAuthorities,
  parseRequestHeaderConfig,
} from '#lib/apiserver/access/authentication-config.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { CONFIG_MAP } from '#spec/support/access-cluster.ts';
import { eventually } from '#spec/support/eventually.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { startLiveApiServer } from '#spec/support/simulated-api-server.ts';

const authority = new TestAuthority('users');
const other = new TestAuthority('others');

/** Watches the cluster's config map, which the spec changes. */
async function watch() {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startLiveApiServer());
  const { clock, cluster } = server;
  const logger = new RecordingLogger();
  const client = stack.use(new ApiClient({ access: await server.access(), clock, userAgent: 'spec' }));
  const config = stack.use(
    await ClusterAuthenticationConfig.start({ client, clock, logger, isFailureTolerated: false }),
  );
  const owned = stack.move();
  return {
    config,
    reasons: () =>
      logger.lines.flatMap(({ level, fields }) => (level === 'warning' ? [String(fields.reason)] : [])),
    report(data: Readonly<Record<string, string>>) {
      const current = cluster.store.get(...CONFIG_MAP);
      if (!current) throw new Error('the config map is gone');
      const { resourceVersion: _, ...metadata } = current.metadata;
      const reported = { ...(current.data as Readonly<Record<string, string>>), ...data };
      cluster.store.update('configmaps', { ...current, metadata, data: reported });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

describe('ClusterAuthenticationConfig', () => {
  it('logs once that a value is invalid, and again when that recurs', async () => {
    await using watched = await watch();
    const broken = { 'client-ca-file': 'none' };
    watched.report(broken);
    await eventually(() => watched.reasons().length > 0);
    watched.report({ 'requestheader-allowed-names': '["a"]' }); // the rest is as invalid as before
    await eventually(() => watched.config.frontProxy?.allowedNames[0] === 'a');
    expect(watched.reasons()).to.have.length(1);
    const before = watched.config.clientAuthorities;
    watched.report({ 'client-ca-file': authority.pem });
    await eventually(() => watched.config.clientAuthorities !== before);
    watched.report(broken);
    await eventually(() => watched.reasons().length > 1);
    expect(new Set(watched.reasons())).to.have.property('size', 1);
  });

  it('reads the front proxy configuration although the client CA is invalid', async () => {
    await using watched = await watch();
    const { clientAuthorities } = watched.config;
    watched.report({ 'client-ca-file': 'none', 'requestheader-client-ca-file': other.pem });
    await eventually(() => watched.reasons().length > 0);
    const [trusted] = watched.config.frontProxy?.authorities.certificates ?? [];
    expect(trusted?.toString().trim()).to.equal(other.pem.trim());
    expect(watched.config.clientAuthorities).to.equal(clientAuthorities);
  });
});

const { pem } = new TestAuthority('front-proxy');

const DATA = {
  'client-ca-file': pem,
  'requestheader-client-ca-file': pem,
  'requestheader-allowed-names': '["a"," b "]',
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
};

describe('the data of extension-apiserver-authentication', () => {
  it('are the texts of a config map, and nothing else', () => {
    const data = JSON.parse('{"a":"b","c":1,"__proto__":"d"}');
    expect(Object.entries(dataOf({ data }))).to.deep.equal([
      ['a', 'b'],
      ['__proto__', 'd'],
    ]);
    for (const nothing of [undefined, null, 1, {}, { data: null }, { data: 'a' }]) {
      expect(dataOf(nothing)).to.deep.equal({});
    }
  });

  it('contain the front proxy configuration', () => {
    expect(parseRequestHeaderConfig(DATA)).to.deep.include({
      allowedNames: ['a', 'b'],
      headers: {
        username: ['X-Remote-User'],
        uid: [],
        group: ['X-Remote-Group'],
        extraPrefix: ['X-Remote-Extra-'],
      },
    });
    expect(parseRequestHeaderConfig(DATA)?.authorities.certificates).to.have.lengthOf(1);
    expect(
      parseRequestHeaderConfig({ ...DATA, 'requestheader-uid-headers': '["X-Remote-Uid"]' })?.headers.uid,
    ).to.deep.equal(['X-Remote-Uid']);
  });

  it('may have no front proxy', () => {
    expect(parseRequestHeaderConfig({ 'client-ca-file': pem })).to.equal(undefined);
    expect(parseClientAuthorities(DATA).certificates).to.have.lengthOf(1);
  });

  it('are refused when they contain no valid configuration', () => {
    expect(() => parseClientAuthorities({})).to.throw('no certificate found');
    expect(() =>
      parseClientAuthorities(dataOf({ data: Object.create({ 'client-ca-file': pem }) })),
    ).to.throw();
    expect(() => parseRequestHeaderConfig({ ...DATA, 'requestheader-client-ca-file': '' })).to.throw(
      'no certificate',
    );
    for (const text of ['{', '"a"', '[1]', '{"a":"b"}']) {
      expect(() => parseRequestHeaderConfig({ ...DATA, 'requestheader-allowed-names': text }), text).to.throw(
        'Cannot read requestheader-allowed-names',
      );
    }
  });
});
