/** Summarizes what of a run was like a real cluster and what was not, on one screen. */
export function accountOf(facts: {
  /** As reported by the API server. */
  readonly apiServerVersion: string;
  /** Source of the control plane's programs. */
  readonly origin: string;
  readonly isConfined: boolean;
}): string {
  const confinement = facts.isConfined
    ? "its user, no capabilities, no new privileges, a read-only root of the image's files and this machine's libraries"
    : 'the arguments alone: confining a process takes root and unshare, so user and read-only root were not tried';
  const real = [
    `kube-apiserver ${facts.apiServerVersion} with its aggregator, kube-controller-manager and etcd, ${facts.origin}`,
    'kubectl, and the manifests as they are shipped',
    'the HorizontalPodAutoscaler and the controllers of Deployments, roles and service accounts',
    "RBAC, TokenReview and SubjectAccessReview, for the server's callers and for kubelets",
    "the server: the Dockerfile's stages, built in an empty folder, and a token of its service account",
    `the manifest's constraints on it: ${confinement}`,
  ];
  const simulated = [
    'kubelets and machines: the simulator served their usage, over TLS and with real authorization',
    'scheduler and container runtime: a helper bound pods and wrote their status; nothing ran in them',
    'the network: everything on loopback, an ExternalName Service to localhost, two flags added to say where to listen',
    'the container engine and the base images: no image was built, and seccomp was not applied',
    "the autoscaler's patience: it looked every 2 s and waited for no stabilisation",
  ];
  const block = (title: string, lines: readonly string[]) => [title, ...lines.map((line) => `  - ${line}`)];
  return ['', ...block('Real', real), ...block('Simulated', simulated), ''].join('\n');
}
