import * as z from 'zod';
import { isDnsLabel } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { readBoundedJson } from '#lib/sources/json/read-json.ts';
import {
  type ObjectSchema,
  SCALED_JOB_SCHEMA,
  SCALED_OBJECT_SCHEMA,
  TRIGGER_AUTHENTICATION_SCHEMA,
} from '../api/object-schemas.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import type { TriggerAuthentication } from '../api/trigger-authentication.ts';

/** The request of an AdmissionReview. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: string;
  readonly isDryRun: boolean;
  /** Not validated: any client may send it. */
  readonly object: unknown;
  readonly oldObject: unknown;
}

/** The outcome of a review. */
export interface Verdict {
  readonly isAllowed: boolean;
  readonly message?: string | undefined;
  /** Shown to the user, whether the object is allowed or not. */
  readonly warnings?: readonly string[];
}

const API_VERSION = 'admission.k8s.io/v1';
const KIND = 'AdmissionReview';
const MAX_VALUES = 50_000;
const FORBIDDEN = 403;
/** The API server truncates longer warnings, and drops all warnings if they are too long together. */
const MAX_WARNING_LENGTH = 256;
/** Limits the warnings of one response. */
export const MAX_WARNINGS = 10;

const REVIEW = z.looseObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal(KIND),
  request: z.looseObject({
    uid: z.string().min(1).max(100),
    operation: z.string().max(20),
    dryRun: z.boolean().nullish(),
    object: z.unknown(),
    oldObject: z.unknown(),
  }),
});

/** @throws {UnreadableReview} if the body is not an AdmissionReview with a request */
export function readAdmissionReview(body: Uint8Array): AdmissionRequest {
  let value: unknown;
  try {
    value = readBoundedJson(body, MAX_VALUES);
  } catch (cause) {
    throw new UnreadableReview('the body is not JSON, or has too many values or levels', { cause });
  }
  const { success, data } = REVIEW.safeParse(value);
  if (!success) throw new UnreadableReview(`the body is not an ${KIND} of ${API_VERSION} with a request`);
  const { uid, operation, dryRun, object, oldObject } = data.request;
  return { uid, operation, isDryRun: dryRun ?? false, object, oldObject };
}

export function admissionResponse(uid: string, { isAllowed, message = '', warnings = [] }: Verdict): object {
  return {
    apiVersion: API_VERSION,
    kind: KIND,
    response: {
      ...{ uid, allowed: isAllowed },
      ...(!isAllowed && { status: { status: 'Failure', code: FORBIDDEN, reason: 'Forbidden', message } }),
      ...(warnings.length > 0 && {
        warnings: warnings.slice(0, MAX_WARNINGS).map((text) => text.slice(0, MAX_WARNING_LENGTH)),
      }),
    },
  };
}

const texts = z.record(z.string(), z.string()).optional();
/** Maximum length of a DNS subdomain name. */
const MAX_NAME_LENGTH = 253;
/** UUIDs and timestamps are far shorter. */
const MAX_TIMESTAMP_LENGTH = 100;
const stamp = z.string().max(MAX_TIMESTAMP_LENGTH);
/** Bounded as in API servers: parts are used as cache keys and in requests. */
const METADATA = z.looseObject({
  name: z.string().max(MAX_NAME_LENGTH),
  namespace: z.string().refine(isDnsLabel).optional(),
  uid: stamp.optional(),
  creationTimestamp: stamp.nullish(),
  deletionTimestamp: stamp.nullish(),
  annotations: texts,
  finalizers: z.array(z.string()).optional(),
});
const reviewedSchema = ({ spec }: ObjectSchema) => z.looseObject({ metadata: METADATA, spec });
const SCALED_OBJECT = reviewedSchema(SCALED_OBJECT_SCHEMA);
const SCALED_JOB = reviewedSchema(SCALED_JOB_SCHEMA);
const AUTHENTICATION = reviewedSchema(TRIGGER_AUTHENTICATION_SCHEMA);

/** Validates the object of a review: any client may send one. @throws {UnreadableReview} for a wrong shape */
export const reviewed = {
  scaledObject: (value: unknown) => take<ScaledObject>(SCALED_OBJECT, 'ScaledObject', value),
  scaledJob: (value: unknown) => take<ScaledJob>(SCALED_JOB, 'ScaledJob', value),
  authentication: (value: unknown) =>
    take<TriggerAuthentication>(AUTHENTICATION, 'TriggerAuthentication', value),
};

function take<T>(schema: z.ZodType, kind: string, value: unknown): T {
  if (schema.safeParse(value).success) return value as T;
  throw new UnreadableReview(`the object of the request is not a valid ${kind}`);
}

/** The request is not a review of the kind that the path is for: an error of the client. */
export class UnreadableReview extends Error {}
