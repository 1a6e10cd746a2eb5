import type { Diagnoses } from './diagnosis.ts';

/** What can be wrong with the way to the API server, whatever is looked at beyond. */
export const API_DIAGNOSES = {
  'api-server-unreachable': {
    title: 'The API server cannot be reached',
    remedy:
      'Check that SERVER is where the API server listens (`kubectl cluster-info`), and in a pod that no NetworkPolicy of its namespace forbids the way there.',
  },
  'api-server-refuses-credentials': {
    title: 'The API server does not accept the credentials',
    remedy:
      'Delete the pod, so that it gets a new token, or make the file of --kubeconfig again; `kubectl auth whoami` tells whether credentials are good.',
  },
} as const satisfies Diagnoses;

/** That a permission is missing which a file of the manifests gives. */
export function permissionDiagnoses(manifest: string) {
  return {
    'permission-missing': {
      title: 'A permission is missing',
      remedy: `Apply \`${manifest}\` again, or grant this alone: \`kubectl create clusterrole ROLE --verb=VERB --resource=RESOURCE\` and \`kubectl create clusterrolebinding ROLE --clusterrole=ROLE --user=ACCOUNT\`.`,
    },
  } as const satisfies Diagnoses;
}
