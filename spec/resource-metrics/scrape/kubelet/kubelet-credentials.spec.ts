import { expect } from 'chai';
import type { ClusterTls } from '#lib/kubernetes/access/cluster-access.ts';
import {
  type KubeletTrust,
  openKubeletCredentials,
} from '#lib/resource-metrics/scrape/kubelet/kubelet-credentials.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';
import { elapseUntil } from '#spec/support/elapse-until.ts';
import { eventually } from '#spec/support/eventually.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

const CLUSTER: ClusterTls = {
  ca: 'cluster CA',
  cert: 'cluster certificate',
  key: 'cluster key',
  servername: 'api.test',
  rejectUnauthorized: true,
};

const PLAIN: KubeletTrust = {
  certificateAuthorityFile: undefined,
  certificateAuthorityText: undefined,
  clientCertificateFile: undefined,
  clientKeyFile: undefined,
  insecureTls: false,
};

const authority = new TestAuthority('kubelets');

const givenCa = new CertificateAuthority('given-ca').certificatePem;

describe('openKubeletCredentials', () => {
  it('uses the credentials for the API server, except its name', async () => {
    const { tls } = await open({});
    expect(tls()).to.deep.equal({
      ca: 'cluster CA',
      cert: 'cluster certificate',
      key: 'cluster key',
      rejectUnauthorized: true,
    });
  });

  it('returns the same object until a credential changes', async () => {
    const access = { tls: CLUSTER };
    const { tls } = await open({}, access);
    expect(tls()).to.equal(tls());
    access.tls = { ...CLUSTER, cert: 'renewed' };
    expect(tls()).to.include({ cert: 'renewed', ca: 'cluster CA' });
    expect(tls()).to.equal(tls());
  });

  it('reads and reloads authority and client certificate from files', async () => {
    await using directory = await TemporaryDirectory.create();
    const files = await writeFiles(directory, authority);
    await using credentials = await open(files.trust);
    expect(credentials.tls()).to.deep.equal({ ...files.contents, rejectUnauthorized: true });
    const { contents } = await writeFiles(directory, new TestAuthority('next'));
    await elapseUntil(credentials.clock, 5_000, async () => {
      const { ca, cert, key } = credentials.tls();
      return ca === contents.ca && cert === contents.cert && key === contents.key;
    });
  });

  it('retains a client certificate until its key matches', async () => {
    await using directory = await TemporaryDirectory.create();
    const files = await writeFiles(directory, authority);
    await using credentials = await open(files.trust);
    await directory.write('cert', authority.leaf().cert);
    await credentials.clock.advance(5_000);
    await eventually(() => credentials.logger.lines.length > 0);
    expect(credentials.tls()).to.include({ cert: files.contents.cert });
    expect(JSON.stringify(credentials.logger.lines)).not.to.include('PRIVATE');
  });

  it('accepts the authority as text', async () => {
    const { tls } = await open({ certificateAuthorityText: givenCa });
    expect(tls()).to.include({ ca: givenCa });
  });

  it('verifies nothing if disabled by flag or kubeconfig', async () => {
    expect((await open({ insecureTls: true })).tls()).to.include({ rejectUnauthorized: false });
    const loose = { tls: { ...CLUSTER, rejectUnauthorized: false } };
    expect((await open({}, loose)).tls()).to.include({ rejectUnauthorized: false });
  });

  it('verifies kubelets by an own authority even if the API server is not verified', async () => {
    const loose = { tls: { ...CLUSTER, rejectUnauthorized: false } };
    const { tls } = await open({ certificateAuthorityText: givenCa }, loose);
    expect(tls()).to.include({ rejectUnauthorized: true });
  });

  it('rejects an authority that is not a certificate, which TLS would ignore', async () => {
    await using directory = await TemporaryDirectory.create();
    const certificateAuthorityFile = await directory.write('ca.crt', 'lab-node\n');
    const refusal = (trust: Partial<KubeletTrust>) => open(trust).then(() => '', describeError);
    expect(await refusal({ certificateAuthorityFile })).to.match(
      /--kubelet-certificate-authority.*no certificate/,
    );
    expect(await refusal({ certificateAuthorityText: 'lab-node' })).to.match(/no certificate/);
  });

  it('names the flag and the file that cannot be used', async () => {
    const error = await open({ certificateAuthorityFile: '/nowhere/ca.crt' }).catch(
      (failure: Error) => failure,
    );
    expect(error).to.have.property(
      'message',
      'Cannot use --kubelet-certificate-authority in /nowhere/ca.crt',
    );
  });
});

async function open(trust: Partial<KubeletTrust>, access = { tls: CLUSTER }) {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const credentials = await openKubeletCredentials({ ...PLAIN, ...trust }, { access, clock, logger });
  return { ...credentials, clock, logger };
}

async function writeFiles(directory: TemporaryDirectory, issuer: TestAuthority) {
  const contents = { ca: issuer.pem, ...issuer.leaf() };
  const trust = {
    certificateAuthorityFile: await directory.write('ca', contents.ca),
    clientKeyFile: await directory.write('key', contents.key),
    clientCertificateFile: await directory.write('cert', contents.cert),
  };
  return { contents, trust };
}
