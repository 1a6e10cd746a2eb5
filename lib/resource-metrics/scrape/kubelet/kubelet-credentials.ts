import { createSecureContext } from 'node:tls';
import { parseCaBundle } from '#lib/apiserver/access/certificate-chain.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ReloadingFiles } from '#lib/kubernetes/access/reloading-files.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { KubeletTls } from './dialer.ts';

/** From the `--kubelet-…` flags; files are PEM. */
export interface KubeletTrust {
  readonly certificateAuthorityFile: string | undefined;
  /** Alternative to the file. */
  readonly certificateAuthorityText: string | undefined;
  readonly clientCertificateFile: string | undefined;
  readonly clientKeyFile: string | undefined;
  /** Whether to accept any certificate. */
  readonly insecureTls: boolean;
}

interface KubeletCredentialsEnvironment {
  readonly access: Pick<ClusterAccess, 'tls'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** TLS options for kubelets; reloaded from files. */
interface KubeletCredentials extends AsyncDisposable {
  /** The same object until an option changes. */
  tls(): KubeletTls;
}

/**
 * Uses the credentials for the API server, except those that flags replace. All are reloaded when their files change.
 *
 * @throws naming flags and files that cannot be used
 */
export async function openKubeletCredentials(
  trust: KubeletTrust,
  { access, clock, logger }: KubeletCredentialsEnvironment,
): Promise<KubeletCredentials> {
  await using opening = new AsyncDisposableStack();
  const reload = async <T>(what: string, paths: readonly string[], read: (texts: readonly string[]) => T) =>
    opening.use(await ReloadingFiles.open({ paths, what, read, clock, logger }));
  const { certificateAuthorityFile, certificateAuthorityText, clientCertificateFile, clientKeyFile } = trust;
  const authorities =
    certificateAuthorityFile === undefined
      ? undefined
      : await reload('--kubelet-certificate-authority', [certificateAuthorityFile], readAuthorities);
  if (certificateAuthorityText !== undefined) parseCaBundle(certificateAuthorityText);
  const client =
    clientCertificateFile === undefined || clientKeyFile === undefined
      ? undefined
      : await reload(
          '--kubelet-client-certificate and --kubelet-client-key',
          [clientCertificateFile, clientKeyFile],
          readPair,
        );

  const current = (): KubeletTls => {
    const { tls } = access;
    const { cert, key } = client ? client.current : tls;
    if (trust.insecureTls) return { cert, key, rejectUnauthorized: false };
    const given = authorities?.current ?? certificateAuthorityText;
    const rejectUnauthorized = given !== undefined || tls.rejectUnauthorized;
    return { cert, key, ca: given ?? tls.ca, rejectUnauthorized };
  };
  let last = current();
  const opened = opening.move();
  return {
    tls() {
      const next = current();
      if (!isSame(next, last)) last = next;
      return last;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** @throws if the text has no certificate or an invalid one, which TLS itself would ignore */
function readAuthorities([ca = '']: readonly string[]): string {
  parseCaBundle(ca);
  return ca;
}

function readPair([cert = '', key = '']: readonly string[]): { readonly cert: string; readonly key: string } {
  createSecureContext({ cert, key });
  return { cert, key };
}

function isSame(one: KubeletTls, other: KubeletTls): boolean {
  const { ca, cert, key, rejectUnauthorized } = one;
  return (
    ca === other.ca &&
    cert === other.cert &&
    key === other.key &&
    rejectUnauthorized === other.rejectUnauthorized
  );
}
