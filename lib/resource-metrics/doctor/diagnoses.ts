import { API_DIAGNOSES, permissionDiagnoses } from '#lib/doctor/api-server-check.ts';
import { type Diagnoses, failedBy } from '#lib/doctor/check.ts';

/** Everything that the doctor can find wrong. */
export const DIAGNOSES = {
  ...API_DIAGNOSES,
  ...permissionDiagnoses('manifests/base/rbac.yaml'),
  'aggregation-off': {
    title: 'The API server has no aggregation layer',
    remedy:
      'Start kube-apiserver with --requestheader-client-ca-file, --requestheader-allowed-names, --requestheader-username-headers, --requestheader-group-headers, --requestheader-extra-headers-prefix, --proxy-client-cert-file and --proxy-client-key-file.',
  },
  'front-proxy-ca-differs': {
    title: "The front proxy's CA is another one here than in the cluster",
    remedy:
      "Leave --requestheader-client-ca-file out, so that the cluster's own is read, or renew its file: `kubectl -n kube-system get configmap extension-apiserver-authentication -o jsonpath='{.data.requestheader-client-ca-file}' > FILE`.",
  },
  'front-proxy-names-differ': {
    title: "The front proxy's name is allowed in the cluster, and not here",
    remedy: 'Leave --requestheader-allowed-names out, or give it all names that the cluster allows: NAMES.',
  },
  'front-proxy-ca-expired': {
    title: "The front proxy's CA has expired",
    remedy:
      'Renew the front proxy CA and certificate of the control plane (`kubeadm certs renew front-proxy-client`), and restart kube-apiserver.',
  },
  'api-service-missing': {
    title: 'The APIService is not registered',
    remedy: 'Run `kubectl apply -f manifests/base/api-service.yaml`.',
  },
  'api-service-elsewhere': {
    title: 'The APIService points at another service',
    remedy:
      'Remove the other metrics server, then run `kubectl apply -f manifests/base/api-service.yaml`; if that service is right, tell the doctor by --service=OTHER.',
  },
  'api-service-ca-mismatch': {
    title: "The APIService's caBundle does not verify the serving certificate",
    remedy:
      'Put the CA that signed the file of --tls-cert-file into spec.caBundle: `kubectl patch apiservice v1beta1.metrics.k8s.io --type=merge -p \'{"spec":{"caBundle":"BASE64"}}\'`, where BASE64 is what `base64 -w0 ca.crt` prints.',
  },
  'serving-certificate-names': {
    title: 'The serving certificate is not made out to the service',
    remedy: 'Issue the certificate of --tls-cert-file for the DNS name HOST.',
  },
  'serving-certificate-expired': {
    title: 'The serving certificate has expired',
    remedy:
      'Renew the files of --tls-cert-file and --tls-private-key-file; the server follows them by itself.',
  },
  'api-service-unreachable': {
    title: 'The control plane cannot reach the server',
    remedy:
      'Let the API server open TCP connections to the port of --secure-port on pods (firewall, security group, NetworkPolicy); where it has no route to pods, set hostNetwork: true in the Deployment and a --secure-port that is free on nodes.',
  },
  'api-service-without-endpoints': {
    title: 'No replica of the server is ready',
    remedy:
      'See what `kubectl -n NAMESPACE get pods` and the logs say: a replica is ready once it has scraped one node twice.',
  },
  'api-service-without-service': {
    title: "The APIService's service does not exist",
    remedy: 'Run `kubectl apply -f manifests/base/service.yaml`.',
  },
  'api-service-certificate-refused': {
    title: 'The API server does not trust the serving certificate',
    remedy:
      'Put the CA that signed the serving certificate into spec.caBundle of the APIService and give the certificate the name of the service; or set spec.insecureSkipTLSVerify: true and leave caBundle out.',
  },
  'api-service-unavailable': {
    title: 'The APIService is not available',
    remedy: 'See what `kubectl get apiservice v1beta1.metrics.k8s.io -o yaml` says under status.conditions.',
  },
  'node-without-address': {
    title: 'The node has no address of a wanted type',
    remedy: 'Add a type that it has to --kubelet-preferred-address-types: TYPES.',
  },
  'node-without-any-address': {
    title: 'The node has no address at all',
    remedy:
      'Have the kubelet on NODE tell its address (--node-ip), or see why the cloud controller manager, where there is one, gives the node none: `kubectl describe node NODE`.',
  },
  'node-unknown': {
    title: 'There is no such node',
    remedy:
      'Give --node a name that `kubectl get nodes` lists, and that --node-selector, where it is given, does not leave out.',
  },
  'node-name-unresolved': {
    title: "The node's host name does not resolve",
    remedy:
      'Make HOST resolve for pods (the DNS of the cluster, or that of its nodes), or put first in --kubelet-preferred-address-types another type that the node has; it has TYPES.',
  },
  'kubelet-refuses-connections': {
    title: 'Nothing listens at the kubelet address',
    remedy:
      'Check on node NODE that the kubelet runs (`systemctl status kubelet`) and listens at ADDRESS; if its port is another, set --kubelet-port or --kubelet-use-node-status-port.',
  },
  'kubelet-unreachable': {
    title: 'The kubelet address does not respond',
    remedy:
      'Let pods open TCP connections to ADDRESS (firewall, security group, NetworkPolicy); if nodes are to be reached by another address, change --kubelet-preferred-address-types.',
  },
  'kubelet-without-tls': {
    title: 'The kubelet does not complete a TLS handshake',
    remedy:
      'Check with `openssl s_client -connect ADDRESS` what responds there; the kubelet serves TLS on port 10250.',
  },
  'kubelet-certificate-names': {
    title: "The kubelet's certificate is not made out to the address",
    remedy:
      'Set serverTLSBootstrap: true in the configuration of the kubelet on NODE, restart it and approve its request: `kubectl get csr`, `kubectl certificate approve CSR`. If the certificate names the node by DNS, put Hostname or InternalDNS first in --kubelet-preferred-address-types.',
  },
  'kubelet-certificate-self-signed': {
    title: "The kubelet's certificate is self-signed",
    remedy:
      'Set serverTLSBootstrap: true in the configuration of the kubelet on NODE, restart it and approve its request: `kubectl get csr`, `kubectl certificate approve CSR`. To go without verification, which lets anybody on the network pose as the kubelet, give --kubelet-insecure-tls.',
  },
  'kubelet-certificate-authority': {
    title: "The kubelet's certificate is signed by an unknown CA",
    remedy: 'Give the certificate of the CA "ISSUER" by --kubelet-certificate-authority.',
  },
  'kubelet-certificate-expired': {
    title: "The kubelet's certificate is not valid now",
    remedy:
      'Restart the kubelet on NODE and approve its new request: `kubectl get csr`, `kubectl certificate approve CSR`; if the kubelet signed the certificate itself, remove kubelet.crt and kubelet.key from /var/lib/kubelet/pki before. If the dates are right, set the clock of whichever machine is wrong.',
  },
  'kubelet-unauthenticated': {
    title: 'The kubelet does not accept the credentials',
    remedy:
      'Set authentication.webhook.enabled: true in the configuration of the kubelet on NODE, so that it accepts service account tokens, and restart it.',
  },
  'kubelet-forbidden': {
    title: 'The kubelet forbids reading its metrics',
    remedy:
      'Apply `manifests/base/rbac.yaml` again, or for a Job of the doctor `manifests/doctor`: ACCOUNT needs get of nodes/stats and nodes/metrics; and set authorization.mode: Webhook in the configuration of the kubelet on NODE.',
  },
  'kubelet-endpoint-missing': {
    title: 'The kubelet does not have the endpoint',
    remedy:
      'Leave --kubelet-metrics-endpoint=auto, so that either endpoint will do; if the node has a virtual kubelet, name its path by the annotation metrics.k8s.io/resource-metrics-path.',
  },
  'kubelet-response-fails': {
    title: 'The kubelet does not respond completely',
    remedy:
      'See what the kubelet on NODE logs (`journalctl -u kubelet`); if it is only slow, raise --kubelet-request-timeout and --metric-resolution.',
  },
  'kubelet-response-excessive': {
    title: "The kubelet's response goes past a bound",
    remedy:
      'See how long the response of node NODE is: `kubectl get --raw /api/v1/nodes/NODE/proxy/stats/summary | wc -c`. If the node really has that much to tell, raise --kubelet-max-response-bytes where that is the bound, and the memory limit of the server with it; else something other than a kubelet responds at ADDRESS.',
  },
  'kubelet-response-unreadable': {
    title: "The kubelet's response cannot be read",
    remedy:
      'Check what responds at ADDRESS with `kubectl get --raw /api/v1/nodes/NODE/proxy/stats/summary`: a proxy in between, or no kubelet at all.',
  },
  'kubelet-of-other-node': {
    title: 'The kubelet of another node responds',
    remedy:
      'Give nodes NODE and OTHER addresses of their own, for ADDRESS leads to OTHER: see what `kubectl get nodes -o wide` says, and if only one type of address is shared, put another first in --kubelet-preferred-address-types.',
  },
  'node-clock-skewed': {
    title: "The node's clock is wrong",
    remedy: 'Set the clock of NODE: `timedatectl`, `chronyc makestep`; or that of the machine this runs on.',
  },
  'container-without-data': {
    title: 'A container lacks data',
    remedy:
      'Restart the container runtime on NODE (`systemctl restart containerd`) if it stays so: the kubelet has no CPU or memory statistics of that container. A container that is just starting gets them within seconds.',
  },
  'pod-not-reported': {
    title: 'The kubelet does not report a running pod',
    remedy:
      'Restart the kubelet on NODE (`systemctl restart kubelet`): the API server says that the pod runs there, and the kubelet does not report it.',
  },
  'pod-of-failing-node': {
    title: "A pod's node cannot be scraped",
    remedy: 'Remedy what is said above of node NODE.',
  },
  'pod-not-served': {
    title: 'A pod has data and is not served',
    remedy:
      'Ask the server itself at `/debug/pods?namespace=NAMESPACE&name=NAME` (docs/reference/troubleshooting.md tells how to get there).',
  },
  'metrics-not-served': {
    title: 'metrics.k8s.io does not respond',
    remedy: 'Remedy what is said above of the APIService; then see the logs of the server.',
  },
} as const satisfies Diagnoses;

/** The name of a diagnosis, which is also its place in docs/reference/troubleshooting.md. */
export type DiagnosisCode = keyof typeof DIAGNOSES;

/** Makes the finding that one of them is. */
export const failed = failedBy(DIAGNOSES);
