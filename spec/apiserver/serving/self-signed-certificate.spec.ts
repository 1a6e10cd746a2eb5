import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import {
  chmod,
  chown,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, join } from 'node:path';
import tls from 'node:tls';
import { expect } from 'chai';
import {
  loadOrMakeCertificate,
  makeSelfSignedCertificate,
} from '#lib/apiserver/serving/self-signed-certificate.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RawServer } from '#spec/support/raw-server.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

const NOW_MS = Date.now();

/** The server's certificate and that of its issuer. */
function chainOf(pem: string): readonly X509Certificate[] {
  return (pem.match(/-----BEGIN.*?END CERTIFICATE-----/gs) ?? []).map((each) => new X509Certificate(each));
}

describe('makeSelfSignedCertificate', () => {
  it('makes a certificate for localhost that its own authority signed, and the key to it', async () => {
    const { cert, key } = await makeSelfSignedCertificate(NOW_MS);
    const [server, authority] = chainOf(cert);
    const stamp = Math.floor(NOW_MS / 1000);
    expect(server?.subject).to.equal(`CN=localhost@${stamp}`);
    expect(server?.issuer).to.equal(`CN=localhost-ca@${stamp}`);
    expect(authority && server?.checkIssued(authority)).to.equal(true);
    expect(authority && server?.verify(authority.publicKey)).to.equal(true);
    expect(authority?.ca).to.equal(true);
    expect(server?.ca).to.equal(false);
    expect(server?.checkPrivateKey(createPrivateKey(key))).to.equal(true);
  });

  it('makes it valid for a year from an hour ago', async () => {
    const [server] = chainOf((await makeSelfSignedCertificate(NOW_MS)).cert);
    expect(server?.validFromDate.getTime()).to.be.closeTo(NOW_MS - 3_600_000, 1000);
    expect(server?.validToDate.getTime()).to.be.closeTo(NOW_MS + 365 * 86_400_000, 1000);
  });

  it('is what a TLS client accepts that trusts the authority, by each of its names', async () => {
    const { cert, key } = await makeSelfSignedCertificate(NOW_MS);
    const authority = chainOf(cert)[1]?.toString() ?? '';
    await using server = await RawServer.start((socket) => socket.end(), { tls: { cert, key } });
    for (const name of ['localhost', '127.0.0.1', '::1']) {
      const checkServerIdentity = (_host: string, peer: tls.PeerCertificate) =>
        tls.checkServerIdentity(name, peer);
      const socket = tls.connect({
        port: server.port,
        host: '127.0.0.1',
        ca: authority,
        checkServerIdentity,
      });
      await once(socket, 'secureConnect');
      expect(socket.authorized).to.equal(true);
      socket.destroy();
    }
  });
});

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;

describe('loadOrMakeCertificate', () => {
  it('makes a pair at the first start, which only we may read, and serves with it from then on', async () => {
    await using place = await setUp('below/that');
    const made = await place.open();
    expect(await place.open()).to.deep.equal(made);
    for (const file of [place.cert, place.key]) {
      const { mode } = await lstat(file);
      expect(mode & 0o777, file).to.equal(0o600);
    }
    expect((await readdir(place.certDir)).sort()).to.deep.equal(['apiserver.crt', 'apiserver.key']);
    expect(place.logger.lines.filter(({ level }) => level !== 'info')).to.deep.equal([]);
  });

  it('makes another when the stored one has less than a month left, or is not valid yet', async () => {
    await using place = await setUp();
    const made = await place.open();
    await place.clock.advance(YEAR_MS - 31 * DAY_MS);
    expect(await place.open()).to.deep.equal(made);
    await place.clock.advance(2 * DAY_MS);
    const renewed = await place.open();
    expect(renewed.cert).not.to.equal(made.cert);
    const { validToDate } = new X509Certificate(renewed.cert);
    expect(validToDate.getTime()).to.be.above(place.clock.nowMs());
    expect(await readFile(place.cert, 'utf8')).to.equal(renewed.cert);
    await using earlier = await setUp();
    await earlier.keep(renewed);
    expect((await earlier.open()).cert).not.to.equal(renewed.cert);
  });

  it('replaces half of a pair, and the key of another', async () => {
    await using place = await setUp();
    const [one, other] = [await place.make(), await place.make()];
    await place.keep({ cert: one.cert, key: other.key });
    const made = await place.open();
    expect([one.key, other.key]).not.to.include(made.key);
    expect(await place.open()).to.deep.equal(made);
  });

  for (const name of ['apiserver.key', 'apiserver.crt']) {
    it(`writes through no symbolic link in the place of ${name}`, async () => {
      await using place = await setUp();
      const target = join(place.certDir, 'precious');
      await writeFile(target, 'precious', { mode: 0o644 });
      await symlink(target, join(place.certDir, name));
      const made = await place.open();
      expect(await readFile(target, 'utf8')).to.equal('precious');
      expect((await lstat(target)).mode & 0o777).to.equal(0o644);
      expect((await lstat(join(place.certDir, name))).isFile()).to.equal(true);
      expect(await place.open()).to.deep.equal(made);
    });

    it(`uses no pair whose ${name} is a symbolic link, even to a matching file`, async () => {
      await using place = await setUp();
      const planted = await place.make();
      await place.keep(planted);
      const elsewhere = join(place.certDir, 'elsewhere');
      await link(join(place.certDir, name), elsewhere);
      await place.remove(name);
      await symlink(elsewhere, join(place.certDir, name));
      await place.remakes(planted, 'is a symbolic link');
    });

    it(`uses no pair whose ${name} has another name`, async () => {
      await using place = await setUp();
      const planted = await place.make();
      await place.keep(planted);
      await link(join(place.certDir, name), join(place.certDir, 'elsewhere'));
      await place.remakes(planted, 'has more than one hard link');
    });

    it(`uses no pair whose ${name} is writable by other users`, async () => {
      await using place = await setUp();
      const planted = await place.make();
      await place.keep(planted);
      await chmod(join(place.certDir, name), 0o620);
      await place.remakes(planted, 'by other users');
    });

    it(`uses no pair whose ${name} belongs to another user`, async function () {
      if (userInfo().uid !== 0) this.skip(); // only root may change the owner of files
      await using place = await setUp();
      const planted = await place.make();
      await place.keep(planted);
      await chown(join(place.certDir, name), 65_532, 65_532);
      await place.remakes(planted, 'belongs to another user');
    });
  }

  it('replaces a key that others could read, and its mode', async () => {
    await using place = await setUp();
    const existing = await place.make();
    await place.keep(existing);
    await chmod(place.key, 0o644);
    await place.remakes(existing, 'is readable by other users');
    expect((await lstat(place.key)).mode & 0o777).to.equal(0o600);
  });

  it('removes what a start that was killed an hour ago has left of a key, and nothing else', async () => {
    await using place = await setUp();
    const leftovers = [place.key, place.cert].map((path) => `${path}.${randomUUID()}`);
    const others = [`${place.key}.${randomUUID()}`, `${place.key}.old`, join(place.certDir, randomUUID())];
    const hourAgo = new Date(Date.now() - 3_700_000);
    for (const path of [...leftovers, ...others]) {
      await writeFile(path, 'PRIVATE KEY');
      if (path !== others[0]) await utimes(path, hourAgo, hourAgo);
    }
    await place.open();
    const names = [place.cert, place.key, ...others].map((path) => basename(path));
    expect((await readdir(place.certDir)).sort()).to.deep.equal(names.sort());
  });

  it('serves with its new certificate where it cannot be stored, and leaves no partial file', async () => {
    await using place = await setUp();
    await mkdir(place.key);
    await writeFile(join(place.key, 'full'), '');
    const made = await place.open();
    expect(made.cert).to.include('BEGIN CERTIFICATE');
    expect(await readdir(place.certDir)).to.deep.equal(['apiserver.key']);
    expect(place.logger.lines.map(({ message }) => message)).to.include(
      'Cannot store self-signed certificate; the next start generates another',
    );
  });
});

async function setUp(below = '.') {
  const directory = await TemporaryDirectory.create();
  const certDir = join(directory.path, below);
  const [clock, logger] = [new ManualClock(), new RecordingLogger()];
  const [cert, key] = [join(certDir, 'apiserver.crt'), join(certDir, 'apiserver.key')];
  const open = () => loadOrMakeCertificate({ certDir, clock, logger });
  return {
    certDir,
    cert,
    key,
    clock,
    logger,
    open,
    make: () => makeSelfSignedCertificate(clock.nowMs()),
    keep: async (pair: { readonly cert: string; readonly key: string }) => {
      await writeFile(cert, pair.cert, { mode: 0o600 });
      await writeFile(key, pair.key, { mode: 0o600 });
    },
    remove: async (name: string) => {
      await rm(join(certDir, name));
    },
    /** Expects that another pair is created, for a reason that is logged. */
    remakes: async (planted: { readonly cert: string; readonly key: string }, because: string) => {
      const made = await open();
      expect(made.cert).not.to.equal(planted.cert);
      expect(made.key).not.to.equal(planted.key);
      expect(JSON.stringify(logger.lines)).to.include(because);
      expect(await open()).to.deep.equal(made);
    },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}
