import { readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadClusterAccess, readOwnNamespace } from '#lib/kubernetes/access/load-cluster-access.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { runToEnd } from '#spec/support/run-to-end.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

const authority = new CertificateAuthority('cluster-ca');
const client = authority.issue({ subject: { commonName: 'a' }, usages: ['clientAuth'] });

describe('readOwnNamespace', () => {
  it("returns the namespace of the pod's service account, and nothing outside a cluster", async () => {
    await using folder = await TemporaryDirectory.create();
    expect(await readOwnNamespace(folder.path)).to.equal(undefined);
    await folder.write('namespace', 'scaling\n');
    expect(await readOwnNamespace(folder.path)).to.equal('scaling');
  });
});

describe('loadClusterAccess', () => {
  let clock: ManualClock;
  let logger: RecordingLogger;
  let directory: TemporaryDirectory;

  beforeEach(async () => {
    clock = new ManualClock();
    logger = new RecordingLogger();
    directory = await TemporaryDirectory.create();
  });

  afterEach(async () => await directory[Symbol.asyncDispose]());

  describe('in a pod', () => {
    const inCluster = (serviceHost = '10.0.0.1') =>
      loadClusterAccess({
        serviceHost,
        servicePort: '443',
        serviceAccountDirectory: directory.path,
        clock,
        logger,
      });

    beforeEach(async () => {
      await directory.write('ca.crt', authority.certificatePem);
      await directory.write('token', 'first\n');
    });

    it("reads the service account's token and authorities", async () => {
      const access = await inCluster();
      expect(access.server.href).to.equal('https://10.0.0.1/');
      expect(access.tls).to.deep.include({ ca: authority.certificatePem, rejectUnauthorized: true });
      expect(await access.authorization()).to.equal('Bearer first');
    });

    it('puts brackets around an IPv6 host', async () => {
      expect((await inCluster('fd00::1')).server.hostname).to.equal('[fd00::1]');
    });

    it('reads rotated files, and returns the same TLS object until it changes', async () => {
      const access = await inCluster();
      const before = access.tls;
      await directory.write('token', 'second');
      expect(await access.authorization()).to.equal('Bearer first');
      await clock.advance(10_000);
      expect(await access.authorization()).to.equal('Bearer second');
      expect(access.tls).to.equal(before);
      await directory.write('ca.crt', new CertificateAuthority('next').certificatePem);
      await clock.advance(10_000);
      await access.authorization();
      expect(access.tls.ca).not.to.equal(before.ca);
    });

    it('uses the previous credentials while the files cannot be read, and logs that once', async () => {
      const access = await inCluster();
      const elsewhere = await TemporaryDirectory.create();
      await directory[Symbol.asyncDispose]();
      for (let round = 0; round < 3; round++) {
        await clock.advance(10_000);
        expect(await access.authorization()).to.equal('Bearer first');
      }
      expect(logger.lines.map(({ message }) => message)).to.deep.equal([
        'Cannot read credentials for the API server; keeping the previous ones',
      ]);
      await elsewhere[Symbol.asyncDispose]();
    });

    for (const file of ['token', 'ca.crt']) {
      it(`uses the previous credentials while ${file} is empty, as during a write, and refuses to start so`, async () => {
        const access = await inCluster();
        await directory.write(file, '\n');
        await clock.advance(10_000);
        expect(await access.authorization()).to.equal('Bearer first');
        expect(access.tls.ca).to.equal(authority.certificatePem);
        expect(String(logger.lines.map(({ fields }) => fields.err))).to.match(
          / from \S+: file \S+ is empty$/,
        );
        await expectFailure(inCluster(), /: file \S+ is empty$/);
      });
    }

    it('uses the previous authorities while ca.crt is truncated, as during a write, and refuses to start so', async () => {
      const access = await inCluster();
      const both = `${authority.certificatePem}${new CertificateAuthority('next').certificatePem}`;
      const { length } = authority.certificatePem;
      for (const end of [10, length / 2, length - 3, length + 10, both.length - 3]) {
        await directory.write('ca.crt', both.slice(0, end));
        await clock.advance(10_000);
        await access.authorization();
        expect(access.tls.ca, `cut off at ${end}`).to.equal(authority.certificatePem);
        await expectFailure(inCluster(), /: file \S+ is truncated: it ends within a certificate or key$/);
      }
      await directory.write('ca.crt', both);
      await clock.advance(10_000);
      await access.authorization();
      expect(access.tls.ca).to.equal(both);
    });

    it('uses the previous credentials when a read hangs, as on a broken volume, with one read at a time', async () => {
      const access = await inCluster();
      const token = join(directory.path, 'token');
      await unlink(token);
      expect(await runToEnd('mkfifo', [token], 10_000)).to.include({ exitStatus: 0 });
      let given: string | undefined;
      let reading = Promise.resolve();
      const isReadOnce = () =>
        process.getActiveResourcesInfo().filter((one) => one === 'FSReqPromise').length === 1;
      try {
        for (let round = 0; round < 3; round++) {
          await clock.advance(10_000);
          given = undefined;
          reading = access.authorization().then((authorization) => {
            given = authorization;
          });
          await clock.advance(9_999);
          expect(given).to.equal(undefined);
          await eventually(isReadOnce); // each further read would block a thread
          await clock.advance(1);
          expect(given).to.equal('Bearer first');
        }
        expect(String(logger.lines.map(({ fields }) => fields.err))).to.include('no credentials within 10s');
      } finally {
        await writeFile(token, 'second'); // ends the read
        await reading;
      }
      await unlink(token);
      await directory.write('token', 'third');
      await eventually(async () => {
        await clock.advance(10_000);
        return (await access.authorization()) === 'Bearer third';
      });
    });

    it('names the missing file', async () => {
      await directory[Symbol.asyncDispose]();
      await expectFailure(
        inCluster(),
        /^Cannot read the service account's (authorities|token) from .*: no such file or directory$/,
      );
    });
  });

  it('names what is missing without a kubeconfig and outside a pod', async () => {
    await expectFailure(loadClusterAccess({ clock, logger }), /^Cannot find API server: no kubeconfig, and/);
    for (const half of [{ serviceHost: '10.0.0.1' }, { servicePort: '443' }])
      await expectFailure(loadClusterAccess({ clock, logger, ...half }), /^Cannot find API server: /);
  });

  describe('with a kubeconfig', () => {
    const load = async (config: object, signal?: AbortSignal) => {
      const kubeconfig = await directory.write('kubeconfig', JSON.stringify(config));
      const environment = { INHERITED: 'inherited', REPLACED: 'inherited' };
      return await loadClusterAccess({ kubeconfig, clock, logger, signal, environment });
    };

    it('uses the authorities and client certificate, given as data', async () => {
      const access = await load(
        configOf(
          { 'certificate-authority-data': base64(authority.certificatePem) },
          {
            'client-certificate-data': base64(client.certificatePem),
            'client-key-data': base64(client.privateKeyPem),
          },
        ),
      );
      expect(access.server.href).to.equal('https://api.example:6443/base');
      expect(access.tls).to.deep.equal({
        ca: authority.certificatePem,
        cert: client.certificatePem,
        key: client.privateKeyPem,
        servername: undefined,
        rejectUnauthorized: true,
      });
      expect(await access.authorization()).to.equal(undefined);
    });

    it('finds files relative to the kubeconfig', async () => {
      await directory.write('ca.pem', authority.certificatePem);
      await directory.write('cert.pem', client.certificatePem);
      await directory.write('key.pem', client.privateKeyPem);
      const access = await load(
        configOf(
          { 'certificate-authority': 'ca.pem' },
          { 'client-certificate': 'cert.pem', 'client-key': 'key.pem' },
        ),
      );
      expect(access.tls).to.deep.include({ ca: authority.certificatePem, cert: client.certificatePem });
    });

    it('honours insecure-skip-tls-verify, tls-server-name and proxy-url', async () => {
      const access = await load(
        configOf(
          {
            'insecure-skip-tls-verify': true,
            'tls-server-name': 'kubernetes',
            'proxy-url': 'http://proxy:3128',
          },
          { token: 'abc' },
        ),
      );
      expect(access.tls).to.deep.include({ servername: 'kubernetes', rejectUnauthorized: false });
      expect(access.proxy?.href).to.equal('http://proxy:3128/');
      expect(await access.authorization()).to.equal('Bearer abc');
    });

    it('sends basic authentication', async () => {
      const access = await load(configOf({}, { username: 'a', password: 'b' }));
      expect(await access.authorization()).to.equal(`Basic ${base64('a:b')}`);
    });

    it('prefers a token file to a token', async () => {
      await directory.write('token', 'from-file\n');
      const access = await load(configOf({}, { token: 'inline', tokenFile: 'token' }));
      expect(await access.authorization()).to.equal('Bearer from-file');
    });

    it('uses the previous credentials while one of its files is empty, as during a write', async () => {
      const files = { token: 'a', 'ca.pem': authority.certificatePem };
      for (const [name, text] of Object.entries(files)) await directory.write(name, text);
      const access = await load(
        configOf({ 'certificate-authority': 'ca.pem' }, { token: 'inline', tokenFile: 'token' }),
      );
      for (const [name, text] of Object.entries(files)) {
        await directory.write(name, '');
        await clock.advance(10_000);
        expect(await access.authorization()).to.equal('Bearer a');
        expect(access.tls.ca).to.equal(authority.certificatePem);
        await directory.write(name, text);
      }
      expect(String(logger.lines.map(({ fields }) => fields.err))).to.match(/: file \S+token is empty/);
    });

    it('runs an exec plugin', async () => {
      const credential = { kind: 'ExecCredential', status: { token: 'from-plugin\\n' } };
      const plugin = await directory.write('plugin', `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`, {
        mode: 0o755,
      });
      const access = await load(
        configOf({}, { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: plugin } }),
      );
      expect(await access.authorization()).to.equal('Bearer from-plugin');
    });

    it('runs an exec plugin with its arguments, and its variables above those of the program', async () => {
      const script = '#!/bin/sh\nprintf \'{"status":{"token":"%s"}}\' "$1-$2-$INHERITED-$REPLACED-$ADDED"\n';
      const command = await directory.write('plugin', script, { mode: 0o755 });
      const env = [
        { name: 'REPLACED', value: 'own' },
        { name: 'ADDED', value: 'added' },
      ];
      const access = await load(configOf({}, { exec: { command, args: ['a b', '$c'], env } }));
      expect(await access.authorization()).to.equal('Bearer a b-$c-inherited-own-added');
    });

    it('runs the exec plugin of an auth provider', async () => {
      const script = '#!/bin/sh\necho \'{"status":{"token":"provided"}}\'\n';
      const command = await directory.write('plugin', script, { mode: 0o755 });
      const provider = { name: 'exec', config: { exec: { command } } };
      const access = await load(configOf({}, { 'auth-provider': provider }));
      expect(await access.authorization()).to.equal('Bearer provided');
    });

    it('uses the token of an OIDC provider while it is valid', async () => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const token = `${part({ alg: 'none' })}.${part({ exp: 4_102_444_800 })}.signature`; // in 2100
      const provider = { name: 'oidc', config: { 'id-token': token } };
      const access = await load(configOf({}, { 'auth-provider': provider }));
      expect(await access.authorization()).to.equal(`Bearer ${token}`);
    });

    for (const [what, exec, complaint] of [
      ['names no command', {}, /: the credential plugin failed: exec has no command$/],
      [
        'has arguments of another type',
        { command: 'a', args: 'b' },
        /users\[0\]\.user\.exec\.args is missing/,
      ],
      ['has a variable without a value', { command: 'a', env: [{ name: 'b' }] }, /exec\.env\[0\]\.value is/],
    ] as const)
      it(`refuses an exec plugin that ${what}`, async () => {
        await expectFailure(load(configOf({}, { exec })), complaint);
      });

    const plugin = async (script: string, cluster = {}) => {
      const command = await directory.write('plugin', `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      return configOf(cluster, { exec: { apiVersion: 'client.authentication.k8s.io/v1', command } });
    };

    const responding = (status: object) => {
      const text = JSON.stringify({ kind: 'ExecCredential', status });
      return `cat <<'END'\n${text}\nEND`;
    };

    it('uses a client certificate and key of an exec plugin without a token', async () => {
      const { certificatePem, privateKeyPem } = client;
      const status = { clientCertificateData: certificatePem, clientKeyData: privateKeyPem };
      const access = await load(await plugin(responding(status)));
      expect(await access.authorization()).to.equal(undefined);
      expect(access.tls).to.include({ cert: certificatePem, key: privateKeyPem });
    });

    it('runs an exec plugin for a server over plain HTTP, too, as kubectl does', async () => {
      const server = 'http://127.0.0.1:8080';
      const access = await load(await plugin(responding({ token: 'a' }), { server }));
      expect(await access.authorization()).to.equal('Bearer a');
    });

    it('reports the error output of a plugin on one line, and never its output', async () => {
      await expectFailure(
        load(await plugin('echo "log in\n first" >&2; exit 1')),
        /: the credential plugin failed: log in first$/,
      );
      await expectFailure(load(await plugin('exit 1')), /: the credential plugin failed: no error output$/);
      await expectFailure(
        load(await plugin('echo SECRET')),
        /: output of the credential plugin is not JSON$/,
      );
    });

    it('waits for a plugin for a minute, and stops when its signal aborts', async () => {
      const pidFile = `${directory.path}/pid`;
      const isRunning = async () => {
        const pid = Number(await readFile(pidFile, 'utf8').catch(() => ''));
        try {
          return pid > 0 && process.kill(pid, 0);
        } catch {
          return false;
        }
      };
      const hanging = await plugin(`echo $$ >${pidFile}; exec sleep 100`);
      const late = expectFailure(load(hanging), /: no credentials within 1m0s$/);
      await eventually(isRunning);
      await clock.advance(60_000);
      await late;
      await eventually(async () => !(await isRunning()));
      const ending = new AbortController();
      const ended = expectFailure(load(hanging, ending.signal), /: interrupted$/);
      await eventually(isRunning);
      ending.abort(new Error('interrupted'));
      await ended;
      await eventually(async () => !(await isRunning()));
      expect(clock.sleeperCount).to.equal(0);
    });

    it('uses the previous credentials when a plugin hangs, and reads none after shutdown', async () => {
      const credential = JSON.stringify({
        status: { token: 'first', expirationTimestamp: '2000-01-01T00:00:00Z' },
      });
      const ending = new AbortController();
      const access = await load(await plugin(`echo '${credential}'`), ending.signal);
      await plugin('exec sleep 100');
      await clock.advance(10_000);
      const authorization = access.authorization();
      while (clock.sleeperCount === 0) await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(10_000);
      expect(await authorization).to.equal('Bearer first');
      expect(logger.lines.map(({ message }) => message)).to.deep.equal([
        'Cannot read credentials for the API server; keeping the previous ones',
      ]);
      await clock.advance(10_000);
      ending.abort(new Error('interrupted'));
      expect(await access.authorization()).to.equal('Bearer first');
      expect(logger.lines).to.have.lengthOf(1);
    });

    for (const [what, script, complaint] of [
      ['no status', "echo '{}'", 'output of the credential plugin has no status'],
      [
        'nothing',
        'echo null',
        'the credential plugin failed: output of the credential plugin has neither a token nor a client certificate',
      ],
      [
        'an empty status',
        responding({}),
        'the credential plugin failed: output of the credential plugin has neither a token nor a client certificate',
      ],
      ['output without end', 'exec yes', 'the credential plugin failed: output has more than 1048576 bytes'],
      [
        'complaints without end',
        'exec yes >&2',
        'the credential plugin failed: output has more than 1048576 bytes',
      ],
    ] as const) {
      it(`uses the previous credentials when a plugin returns ${what}, and then the next valid ones`, async () => {
        const good = (token: string) =>
          plugin(responding({ token, expirationTimestamp: '2000-01-01T00:00:00Z' }));
        const access = await load(await good('first'));
        await plugin(script);
        for (let round = 0; round < 2; round++) {
          await clock.advance(10_000);
          expect(await access.authorization()).to.equal('Bearer first');
        }
        expect(String(logger.lines.map(({ fields }) => fields.err))).to.match(new RegExp(`: ${complaint}$`));
        await good('second');
        await clock.advance(10_000);
        expect(await access.authorization()).to.equal('Bearer second');
      });
    }

    it('kills a plugin that ignores termination', async () => {
      const pidFile = `${directory.path}/pid`;
      const pid = async () => Number(await readFile(pidFile, 'utf8').catch(() => ''));
      const isRunning = async () => {
        try {
          return (await pid()) > 0 && process.kill(await pid(), 0);
        } catch {
          return false;
        }
      };
      const ending = new AbortController();
      const deaf = await plugin(`trap '' TERM; echo $$ >${pidFile}; while :; do sleep 0.1; done`);
      const ended = expectFailure(load(deaf, ending.signal), /: interrupted$/);
      await eventually(isRunning);
      ending.abort(new Error('interrupted'));
      await ended;
      await eventually(async () => !(await isRunning()));
    });

    it('does not run a plugin again whose token has no expiration, until the API server refuses the token', async () => {
      const access = await load(await plugin(responding({ token: 'first' })));
      await plugin(responding({ token: 'second' }));
      await clock.advance(10_000);
      expect(await access.authorization()).to.equal('Bearer first');
      access.refuse('Bearer first');
      expect(await access.authorization()).to.equal('Bearer second');
    });

    it('has a plugin find its input at the end', async () => {
      const access = await load(await plugin(`cat; ${responding({ token: 'a' })}`));
      expect(await access.authorization()).to.equal('Bearer a');
    });

    it('reaches a server over plain HTTP, without any user', async () => {
      const config = configOf({ server: 'http://127.0.0.1:8080' }, {});
      const access = await load({ ...config, contexts: [{ name: 'x', context: { cluster: 'c' } }] });
      expect(access.server.href).to.equal('http://127.0.0.1:8080/');
      expect(await access.authorization()).to.equal(undefined);
    });

    const broken: readonly [string, object, RegExp][] = [
      ['has no current context', { ...configOf({}, {}), 'current-context': '' }, /: no current-context$/],
      [
        'names a context that is not there',
        { ...configOf({}, {}), 'current-context': 'y' },
        /: current-context "y" not found in contexts$/,
      ],
      [
        'names a cluster that is not there',
        { ...configOf({}, {}), clusters: [] },
        /: cluster "c" of context "x" not found$/,
      ],
      [
        'names a user that is not there',
        { ...configOf({}, {}), users: [] },
        /: user "u" of context "x" not found$/,
      ],
      ['impersonates', configOf({}, { as: 'b' }), /: user "u" uses impersonation, which is not supported$/],
      ['has no URL for a server', configOf({ server: 'a b' }, {}), /: server of cluster "c" is not a URL$/],
      [
        'has a server of another protocol',
        configOf({ server: 'xhttp://a' }, {}),
        /: server of cluster "c" must be http or https, not xhttp$/,
      ],
      [
        'has a proxy that is none',
        configOf({ 'proxy-url': 'socks5://u:secret@p:1' }, {}),
        /: proxy-url of cluster "c" must be http or https, not socks5$/,
      ],
      [
        'has a broken certificate',
        configOf({}, { 'client-certificate-data': base64('nonsense') }),
        /: cannot use the CA certificates of the cluster, or the client certificate and key of user "u": .+/,
      ],
      [
        'has a cluster without a server',
        {
          ...configOf({}, {}),
          clusters: [
            { name: 'other', cluster: { server: 'x' } },
            { name: 'c', cluster: {} },
          ],
        },
        /: clusters\[1\]\.cluster\.server is missing or has the wrong type$/,
      ],
      [
        'names a file that is not there',
        configOf({ 'certificate-authority': 'gone' }, {}),
        /: open \S+gone: no such file or directory$/,
      ],
    ];
    for (const [how, config, message] of broken) {
      it(`refuses one that ${how}, naming the file`, async () => {
        await expectFailure(load(config), message);
        await expectFailure(load(config), /^Cannot use kubeconfig .*kubeconfig: /);
      });
    }

    it('refuses one that cannot be read or is no mapping', async () => {
      const read = (path: string) => loadClusterAccess({ kubeconfig: path, clock, logger });
      await expectFailure(
        read('/nowhere/at/all'),
        /^Cannot use kubeconfig \/nowhere\/at\/all: no such file or directory$/,
      );
      await expectFailure(read(directory.path), /^Cannot use kubeconfig \S+: is a directory$/);
      await expectFailure(read(await directory.write('empty', '')), /empty: not a YAML mapping$/);
      await expectFailure(read(await directory.write('text', 'text')), /text: not a YAML mapping$/);
    });

    it('reports the position of invalid YAML, and not its content', async () => {
      const texts = [
        'a: 1\nusers: [{user: {token: SECRET',
        'a: 1\ntoken: "SECRET" SECRET',
        'a: 1\n- SECRET\n',
      ];
      for (const text of texts) {
        const kubeconfig = await directory.write('kubeconfig', text);
        const failure = loadClusterAccess({ kubeconfig, clock, logger });
        await expectFailure(failure, /^Cannot use kubeconfig \S+: invalid YAML: [a-z ]+ in line \d$/);
      }
    });
  });
});

function configOf(cluster: object, user: object): object {
  return {
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://api.example:6443/base', ...cluster } }],
    users: [{ name: 'u', user }],
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

async function expectFailure(work: Promise<unknown>, message: RegExp): Promise<void> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(describeError(error)).to.match(message);
}
