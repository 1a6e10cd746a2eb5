import * as z from 'zod/mini';
import type { Check } from '#lib/doctor/check.ts';
import { type Finding, note, ok } from '#lib/doctor/finding.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { type DiagnosisCode, failed } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { DoctorContext } from '#lib/resource-metrics/doctor/doctor-context.ts';
import { compareCaBundle } from '#lib/resource-metrics/doctor/serving-certificate.ts';

const NAME = 'v1beta1.metrics.k8s.io';
const PATH = `/apis/apiregistration.k8s.io/v1/apiservices/${NAME}`;
const SUBJECT = `APIService ${NAME}`;

const API_SERVICE = z.object({
  spec: z.object({
    service: z.nullish(z.object({ namespace: z.string(), name: z.string() })),
    caBundle: z.nullish(z.string()),
    insecureSkipTLSVerify: z.optional(z.boolean()),
  }),
  status: z.optional(
    z.object({
      conditions: z.optional(
        z.array(
          z.object({
            type: z.string(),
            status: z.string(),
            reason: z.optional(z.string()),
            message: z.optional(z.string()),
          }),
        ),
      ),
    }),
  ),
});

type ApiService = z.output<typeof API_SERVICE>;

/** Whether the API server sends requests for metrics here, and what it says came of that. */
export const apiService: Check<DoctorContext> = {
  name: 'api-service',
  title: 'APIService',

  async run(context) {
    let registered: ApiService;
    try {
      registered = API_SERVICE.parse(
        await context.get(PATH, `get apiservices.apiregistration.k8s.io ${NAME}`),
      );
    } catch (error) {
      if (!(error instanceof ApiError) || error.statusCode !== 404) throw error;
      return [failed(SUBJECT, 'is not there', { diagnosis: 'api-service-missing' })];
    }
    const { spec } = registered;
    return [
      describeService(context, spec.service ?? undefined),
      describeAvailability(context, registered),
      ...(spec.caBundle
        ? await compareCaBundle(context, Buffer.from(spec.caBundle, 'base64').toString())
        : [note(SUBJECT, `has no caBundle: ${verificationWithout(spec)}`)]),
    ];
  },
};

/** By what the API server verifies the serving certificate where no CA is given. */
function verificationWithout({ insecureSkipTLSVerify }: ApiService['spec']): string {
  return insecureSkipTLSVerify
    ? 'the API server does not verify the serving certificate (insecureSkipTLSVerify)'
    : 'the API server verifies the serving certificate by the authorities of its machine';
}

function describeService({ doctor }: DoctorContext, service: ApiService['spec']['service']): Finding {
  const named = service ? `${service.namespace}/${service.name}` : 'the API server itself';
  const seen = `points at ${service ? `service ${named}` : named}`;
  return named === doctor.service
    ? ok(SUBJECT, seen)
    : failed(SUBJECT, `${seen}, not at ${doctor.service}`, {
        diagnosis: 'api-service-elsewhere',
        OTHER: named,
      });
}

function describeAvailability({ doctor }: DoctorContext, { status }: ApiService): Finding {
  const condition = status?.conditions?.find(({ type }) => type === 'Available');
  if (condition?.status === 'True') return ok(SUBJECT, 'is available');
  const { reason = 'unknown', message = 'nothing is said of whether it is available' } = condition ?? {};
  return failed(SUBJECT, `is not available: ${reason}: ${message}`, {
    diagnosis: causeOf(reason, message),
    NAMESPACE: doctor.service.split('/', 1)[0] ?? '',
  });
}

/** Reasons and messages as kube-aggregator's availability controller writes them. */
function causeOf(reason: string, message: string): DiagnosisCode {
  if (reason === 'ServiceNotFound') return 'api-service-without-service';
  if (reason === 'MissingEndpoints' || reason === 'EndpointsNotFound') return 'api-service-without-endpoints';
  if (/x509:|certificate/i.test(message)) return 'api-service-certificate-refused';
  const isUnreachable = /connection refused|no route to host|timeout|deadline exceeded|EOF|socket hang up/i;
  return isUnreachable.test(message) ? 'api-service-unreachable' : 'api-service-unavailable';
}
