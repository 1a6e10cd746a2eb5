import * as z from 'zod/mini';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { type Check, type Diagnoses, failedBy, ok } from './check.ts';

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

const failed = failedBy(API_DIAGNOSES);

const VERSION = z.object({ gitVersion: z.string() });

/** Whether the API server responds, and believes that we are who we say. */
export const apiServer: Check = {
  name: 'api-server',
  title: 'API server',

  async run(context) {
    const { origin } = context.access.server;
    try {
      const { gitVersion } = VERSION.parse(await context.get('/version', 'get path /version'));
      return [ok(origin, `responds, version ${gitVersion}`)];
    } catch (error) {
      const diagnosis =
        error instanceof ApiError && error.statusCode === 401
          ? 'api-server-refuses-credentials'
          : 'api-server-unreachable';
      return [failed(origin, describeError(error), { diagnosis, SERVER: origin })];
    }
  },
};

/** That a permission is missing which a file of the manifests gives. */
export function permissionDiagnoses(manifest: string) {
  return {
    'permission-missing': {
      title: 'A permission is missing',
      remedy: `Apply \`${manifest}\` again, or grant this alone: \`kubectl create clusterrole ROLE --verb=VERB --resource=RESOURCE\` and \`kubectl create clusterrolebinding ROLE --clusterrole=ROLE --user=ACCOUNT\`.`,
    },
  } as const satisfies Diagnoses;
}
