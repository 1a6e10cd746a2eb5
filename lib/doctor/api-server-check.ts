import * as z from 'zod';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { type Check, type Diagnoses, failedBy, ok } from './check.ts';

export const API_DIAGNOSES = {
  'api-server-unreachable': {
    title: 'The API server cannot be reached',
    remedy:
      "Check that the API server listens at SERVER (`kubectl cluster-info`), and that no NetworkPolicy of the pod's namespace blocks egress to it.",
  },
  'api-server-refuses-credentials': {
    title: 'The API server does not accept the credentials',
    remedy:
      'Delete the pod, so that it gets a new token, or recreate the file of --kubeconfig. To test credentials, run `kubectl auth whoami`.',
  },
} as const satisfies Diagnoses;

const failed = failedBy(API_DIAGNOSES);

const VERSION = z.object({ gitVersion: z.string() });

/** Checks that the API server responds and accepts the credentials. */
export const apiServer: Check = {
  name: 'api-server',
  title: 'API server',

  async run(context) {
    const { origin } = context.access.server;
    try {
      const { gitVersion } = readAs(
        VERSION,
        'the version',
        await context.get('/version', 'get path /version'),
      );
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

/** @param manifest the file that grants the permissions */
export function permissionDiagnoses(manifest: string) {
  return {
    'permission-missing': {
      title: 'A permission is missing',
      remedy: `Apply \`${manifest}\` again, or grant only this permission: \`kubectl create clusterrole ROLE --verb=VERB --resource=RESOURCE\` and \`kubectl create clusterrolebinding ROLE --clusterrole=ROLE --user=ACCOUNT\`.`,
    },
  } as const satisfies Diagnoses;
}
