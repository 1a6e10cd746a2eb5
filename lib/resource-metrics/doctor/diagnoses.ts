import { API_DIAGNOSES, permissionDiagnoses } from '#lib/doctor/api-server-check.ts';
import { type Diagnoses, failedBy } from '#lib/doctor/check.ts';

export const DIAGNOSES = {
  ...API_DIAGNOSES,
  ...permissionDiagnoses('manifests/base/rbac.yaml'),
  'aggregation-off': {
    title: 'The API server has no aggregation layer',
    remedy:
      'Start kube-apiserver with --requestheader-client-ca-file, --requestheader-allowed-names, --requestheader-username-headers, --requestheader-group-headers, --requestheader-extra-headers-prefix, --proxy-client-cert-file and --proxy-client-key-file.',
  },
  'front-proxy-ca-differs': {
    title: "The front proxy's CA differs from the cluster's",
    remedy:
      "Remove --requestheader-client-ca-file, so that the server reads the cluster's CA, or renew the file of this flag: `kubectl -n kube-system get configmap extension-apiserver-authentication -o jsonpath='{.data.requestheader-client-ca-file}' > FILE`.",
  },
  'front-proxy-names-differ': {
    title: 'The cluster allows front proxy names that are not allowed here',
    remedy: 'Remove --requestheader-allowed-names, or set it to all names that the cluster allows: NAMES.',
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
    title: 'The APIService points to another service',
    remedy:
      'Remove the other metrics server, then run `kubectl apply -f manifests/base/api-service.yaml`. If that service is correct, run the doctor with --service=OTHER.',
  },
  'api-service-ca-mismatch': {
    title: "The APIService's caBundle does not verify the serving certificate",
    remedy:
      'Set spec.caBundle to the certificate of the CA that signed the certificate in --tls-cert-file: `kubectl patch apiservice v1beta1.metrics.k8s.io --type=merge -p \'{"spec":{"caBundle":"BASE64"}}\'`, where BASE64 is the output of `base64 -w0 ca.crt`.',
  },
  'serving-certificate-names': {
    title: 'The serving certificate is not valid for the service',
    remedy: 'Issue the certificate of --tls-cert-file for the DNS name HOST.',
  },
  'serving-certificate-expired': {
    title: 'The serving certificate has expired',
    remedy:
      'Renew the files of --tls-cert-file and --tls-private-key-file. The server reloads them without a restart.',
  },
  'api-service-unreachable': {
    title: 'The control plane cannot reach the server',
    remedy:
      'Allow TCP connections from the API server to the port of --secure-port on pods (firewall, security group, NetworkPolicy). If the API server has no route to pods, set hostNetwork: true in the Deployment, and --secure-port to a port that is free on nodes.',
  },
  'api-service-without-endpoints': {
    title: 'No replica of the server is ready',
    remedy:
      'Check `kubectl -n NAMESPACE get pods` and the logs. A replica becomes ready after it has scraped a node twice.',
  },
  'api-service-without-service': {
    title: "The APIService's service does not exist",
    remedy: 'Run `kubectl apply -f manifests/base/service.yaml`.',
  },
  'api-service-certificate-refused': {
    title: 'The API server does not trust the serving certificate',
    remedy:
      'Set spec.caBundle of the APIService to the certificate of the CA that signed the serving certificate, and issue the certificate for the name of the service; or set spec.insecureSkipTLSVerify: true and remove caBundle.',
  },
  'api-service-unavailable': {
    title: 'The APIService is not available',
    remedy: 'Check status.conditions in `kubectl get apiservice v1beta1.metrics.k8s.io -o yaml`.',
  },
  'node-without-address': {
    title: 'The node has no address of a preferred type',
    remedy: 'Add one of the address types of the node to --kubelet-preferred-address-types: TYPES.',
  },
  'node-without-any-address': {
    title: 'The node has no address',
    remedy:
      'Set the address of the kubelet on NODE (--node-ip), or check why the cloud controller manager, if there is one, sets none: `kubectl describe node NODE`.',
  },
  'node-unknown': {
    title: 'The node does not exist',
    remedy: 'Set --node to a name that `kubectl get nodes` lists and that --node-selector, if set, selects.',
  },
  'node-name-unresolved': {
    title: "The node's host name does not resolve",
    remedy:
      'Make HOST resolvable for pods (in the DNS of the cluster or of its nodes), or put another address type of the node first in --kubelet-preferred-address-types; the node has TYPES.',
  },
  'kubelet-refuses-connections': {
    title: 'Nothing listens at the kubelet address',
    remedy:
      'Check on node NODE that the kubelet runs (`systemctl status kubelet`) and listens at ADDRESS. If the kubelet uses another port, set --kubelet-port or --kubelet-use-node-status-port.',
  },
  'kubelet-unreachable': {
    title: 'The kubelet address does not respond',
    remedy:
      'Allow TCP connections from pods to ADDRESS (firewall, security group, NetworkPolicy). If another address of the nodes is reachable, change --kubelet-preferred-address-types.',
  },
  'kubelet-without-tls': {
    title: 'The kubelet does not complete a TLS handshake',
    remedy:
      'Run `openssl s_client -connect ADDRESS` to see what responds there. The kubelet serves TLS on port 10250.',
  },
  'kubelet-certificate-names': {
    title: "The kubelet's certificate is not valid for the address",
    remedy:
      'Set serverTLSBootstrap: true in the configuration of the kubelet on NODE, restart it and approve its request: `kubectl get csr`, `kubectl certificate approve CSR`. If the certificate names the node by DNS, put Hostname or InternalDNS first in --kubelet-preferred-address-types.',
  },
  'kubelet-certificate-self-signed': {
    title: "The kubelet's certificate is self-signed",
    remedy:
      'Set serverTLSBootstrap: true in the configuration of the kubelet on NODE, restart it and approve its request: `kubectl get csr`, `kubectl certificate approve CSR`. If you accept that anyone on the network can impersonate the kubelet, disable the verification by --kubelet-insecure-tls.',
  },
  'kubelet-certificate-authority': {
    title: "The kubelet's certificate is signed by an unknown CA",
    remedy: 'Set --kubelet-certificate-authority to a file with the certificate of the CA "ISSUER".',
  },
  'kubelet-certificate-expired': {
    title: "The kubelet's certificate has expired or is not yet valid",
    remedy:
      'Restart the kubelet on NODE and approve its new request: `kubectl get csr`, `kubectl certificate approve CSR`. If the kubelet signed the certificate itself, first remove kubelet.crt and kubelet.key from /var/lib/kubelet/pki. If the dates are correct, correct the clock of NODE or of this machine.',
  },
  'kubelet-unauthenticated': {
    title: 'The kubelet does not accept the credentials',
    remedy:
      'Set authentication.webhook.enabled: true in the configuration of the kubelet on NODE, so that the kubelet accepts service account tokens, and restart the kubelet.',
  },
  'kubelet-forbidden': {
    title: 'The kubelet denies access to its metrics',
    remedy:
      'Apply `manifests/base/rbac.yaml` again (for a Job of the doctor, `manifests/doctor`): ACCOUNT needs the verb get on nodes/stats and nodes/metrics. Set authorization.mode: Webhook in the configuration of the kubelet on NODE.',
  },
  'kubelet-endpoint-missing': {
    title: 'The kubelet does not have the endpoint',
    remedy:
      'Keep --kubelet-metrics-endpoint=auto, which uses the endpoint that the kubelet has. For a virtual kubelet, set the path in the annotation metrics.k8s.io/resource-metrics-path of the node.',
  },
  'kubelet-response-fails': {
    title: 'The kubelet returns an error, or no complete response',
    remedy:
      'Check the log of the kubelet on NODE (`journalctl -u kubelet`). If the kubelet is only slow, raise --kubelet-request-timeout and --metric-resolution.',
  },
  'kubelet-response-excessive': {
    title: "The kubelet's response exceeds a limit",
    remedy:
      'Check the size of the response of node NODE: `kubectl get --raw /api/v1/nodes/NODE/proxy/stats/summary | wc -c`. If the response is genuine, raise the memory limit of the server, and --kubelet-max-response-bytes if this limit is exceeded. Otherwise, another program than a kubelet responds at ADDRESS.',
  },
  'kubelet-response-unreadable': {
    title: "The kubelet's response cannot be parsed",
    remedy:
      'Check what responds at ADDRESS: `kubectl get --raw /api/v1/nodes/NODE/proxy/stats/summary`. The program that responds may be a proxy, or not a kubelet at all.',
  },
  'kubelet-of-other-node': {
    title: 'The kubelet of another node responds',
    remedy:
      'Give nodes NODE and OTHER separate addresses: ADDRESS leads to OTHER. Check `kubectl get nodes -o wide`. If they share only one type of address, put another type first in --kubelet-preferred-address-types.',
  },
  'node-clock-skewed': {
    title: "The node's clock is wrong",
    remedy:
      'Correct the clock of NODE (`timedatectl`, `chronyc makestep`) or of the machine that runs the doctor.',
  },
  'container-without-data': {
    title: 'A container lacks data',
    remedy:
      'If this persists, restart the container runtime on NODE (`systemctl restart containerd`): the kubelet has no CPU or memory statistics of the container. A container that has just started gets them within seconds.',
  },
  'pod-not-reported': {
    title: 'The kubelet does not report a running pod',
    remedy:
      'Restart the kubelet on NODE (`systemctl restart kubelet`): the pod runs there according to the API server, but the kubelet does not report it.',
  },
  'pod-of-failing-node': {
    title: "A pod's node cannot be scraped",
    remedy: 'Fix the problems of node NODE above.',
  },
  'pod-not-served': {
    title: 'A pod with data is not served',
    remedy:
      'Query the server at `/debug/pods?namespace=NAMESPACE&name=NAME` (see docs/reference/troubleshooting.md).',
  },
  'metrics-not-served': {
    title: 'metrics.k8s.io does not respond',
    remedy: 'Fix the problems of the APIService above, then check the logs of the server.',
  },
} as const satisfies Diagnoses;

/** Also identifies its section in docs/reference/troubleshooting.md. */
export type DiagnosisCode = keyof typeof DIAGNOSES;

export const failed = failedBy(DIAGNOSES);
