import { join } from 'node:path';

/**
 * Flags of the API server: loopback only, RBAC, the aggregation layer and an audit log.
 *
 * @param facts.folder contains the files to which the flags refer
 */
export function apiServerFlags(facts: {
  readonly folder: string;
  readonly port: number;
  readonly etcdUrl: string;
}): readonly string[] {
  const file = (name: string) => join(facts.folder, name);
  return [
    `--etcd-servers=${facts.etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${facts.port}`,
    '--endpoint-reconciler-type=none', // the endpoint reconciler rejects loopback addresses
    '--service-cluster-ip-range=10.96.0.0/16',
    `--tls-cert-file=${file('apiserver.crt')}`,
    `--tls-private-key-file=${file('apiserver.key')}`,
    `--client-ca-file=${file('client-ca.crt')}`,
    '--authorization-mode=Node,RBAC',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${file('service-account.key')}`,
    `--service-account-key-file=${file('service-account.pub')}`,
    `--requestheader-client-ca-file=${file('front-proxy-ca.crt')}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${file('front-proxy.crt')}`,
    `--proxy-client-key-file=${file('front-proxy.key')}`,
    `--audit-policy-file=${file('audit-policy.yaml')}`,
    `--audit-log-path=${file('audit.log')}`,
  ];
}

/** Values that differ between runs of the controller manager. */
export interface ControllerManagerFacts {
  readonly port: number;
  readonly hasInsecurePort: boolean;
  /** Whether the HPA controller is enabled, as by default. */
  readonly scalesHpas: boolean;
}

/** Flags of the controller manager: workload controllers, and an HPA controller with a sync period of 2 s. */
export function controllerManagerFlags(
  folder: string,
  { port, hasInsecurePort, scalesHpas }: ControllerManagerFacts,
): readonly string[] {
  const file = (name: string) => join(folder, name);
  const kubeconfig = file('controller-manager.kubeconfig');
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    ...(hasInsecurePort ? ['--port=0'] : []), // the flag was removed with the port, in Kubernetes 1.24
    '--leader-elect=false',
    `--root-ca-file=${file('server-ca.crt')}`,
    `--service-account-private-key-file=${file('service-account.key')}`,
    '--use-service-account-credentials', // one account per controller, as with kubeadm
    // Avoids the default client rate limit when there are many HPAs.
    ...['--kube-api-qps=200', '--kube-api-burst=400'],
    `--controllers=${scalesHpas ? 'horizontalpodautoscaling,' : ''}${CONTROLLERS}`,
    '--horizontal-pod-autoscaler-sync-period=2s',
    '--horizontal-pod-autoscaler-downscale-stabilization=1s',
    '--horizontal-pod-autoscaler-cpu-initialization-period=1s',
    '--horizontal-pod-autoscaler-initial-readiness-delay=1s',
  ];
}

const CONTROLLERS =
  'deployment,replicaset,statefulset,serviceaccount,serviceaccount-token,namespace,garbagecollector,endpoint,endpointslice,clusterrole-aggregation,root-ca-cert-publisher,disruption,job';
