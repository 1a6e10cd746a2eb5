import * as z from 'zod/mini';
import { readBoundedJson } from '#lib/sources/read-json.ts';
import { UnreadableReview } from './unreadable-review.ts';

/** What an API server wants to have judged. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: string;
  readonly isDryRun: boolean;
  /** As it was sent: its form is anybody's. */
  readonly object: unknown;
  readonly oldObject: unknown;
}

/** What is said of an object. */
export interface Verdict {
  readonly isAllowed: boolean;
  /** Why it is refused. */
  readonly message?: string | undefined;
  /** What its author is told, refused or not. */
  readonly warnings?: readonly string[];
}

const API_VERSION = 'admission.k8s.io/v1';
const KIND = 'AdmissionReview';
const MOST_VALUES = 50_000;
const FORBIDDEN = 403;
/** The API server cuts warnings that are longer, and drops them all when there are too many. */
const LONGEST_WARNING = 256;
/** No more warnings are told. */
export const MOST_WARNINGS = 10;

const REVIEW = z.looseObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal(KIND),
  request: z.looseObject({
    uid: z.string().check(z.minLength(1), z.maxLength(100)),
    operation: z.string().check(z.maxLength(20)),
    dryRun: z.nullish(z.boolean()),
    object: z.unknown(),
    oldObject: z.unknown(),
  }),
});

/** Reads an AdmissionReview with a request. @throws {UnreadableReview} that says what it is not */
export function readAdmissionReview(body: Uint8Array): AdmissionRequest {
  let value: unknown;
  try {
    value = readBoundedJson(body, MOST_VALUES);
  } catch (cause) {
    throw new UnreadableReview('it is no JSON, or has too many values or levels', { cause });
  }
  const { success, data } = z.safeParse(REVIEW, value);
  if (!success) throw new UnreadableReview(`it is no ${KIND} of ${API_VERSION} with a request`);
  const { uid, operation, dryRun, object, oldObject } = data.request;
  return { uid, operation, isDryRun: dryRun ?? false, object, oldObject };
}

/** The response to a review. */
export function admissionResponse(uid: string, { isAllowed, message = '', warnings = [] }: Verdict): object {
  return {
    apiVersion: API_VERSION,
    kind: KIND,
    response: {
      ...{ uid, allowed: isAllowed },
      ...(!isAllowed && { status: { status: 'Failure', code: FORBIDDEN, reason: 'Forbidden', message } }),
      ...(warnings.length > 0 && {
        warnings: warnings.slice(0, MOST_WARNINGS).map((text) => text.slice(0, LONGEST_WARNING)),
      }),
    },
  };
}
