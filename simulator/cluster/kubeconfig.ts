/** How somebody reaches the cluster. */
export interface KubeconfigFacts {
  /** `https://HOST:PORT` */
  readonly server: string;
  readonly serverCaPem: string;
  readonly user: string;
  readonly credentials:
    | { readonly token: string }
    | { readonly certificatePem: string; readonly privateKeyPem: string };
}

/** Writes a kubeconfig that holds everything it needs, as JSON, which every reader of YAML reads. */
export function formatKubeconfig({ server, serverCaPem, user, credentials }: KubeconfigFacts): string {
  const cluster = { server, 'certificate-authority-data': base64(serverCaPem) };
  const identity =
    'token' in credentials
      ? { token: credentials.token }
      : {
          'client-certificate-data': base64(credentials.certificatePem),
          'client-key-data': base64(credentials.privateKeyPem),
        };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'simulated', cluster }],
    users: [{ name: user, user: identity }],
    contexts: [{ name: 'simulated', context: { cluster: 'simulated', user } }],
    'current-context': 'simulated',
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
