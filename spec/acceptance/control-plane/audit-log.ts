/** The fields of an audit event that specs use. */
export interface AuditEvent {
  /** Shared by all events of one request. */
  readonly id: string;
  /** Unix time in milliseconds when the API server received the request. */
  readonly receivedAtMs: number;
  /** Unix time in milliseconds when the request reached the stage of this event. */
  readonly reachedAtMs: number;
  readonly user: string;
  /** `get`, `list`, `watch`, `create` and so on. */
  readonly verb: string;
  /** `pods`, `configmaps`, `tokenreviews.authentication.k8s.io`; a path such as `/livez` for non-resource requests. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** HTTP status of the response. */
  readonly status: number;
  /** Whether the response has ended. A watch may also have an event for its start. */
  readonly isComplete: boolean;
}

/** Parses the API server's audit log: one JSON object per line; the last line may be incomplete. */
export function parseAuditLog(text: string): readonly AuditEvent[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { auditID, requestReceivedTimestamp, stageTimestamp, stage, ...request } = JSON.parse(line);
      const { user, verb, objectRef, requestURI, responseStatus } = request;
      const group = objectRef?.apiGroup ? `.${objectRef.apiGroup}` : '';
      const subresource = objectRef?.subresource ? `/${objectRef.subresource}` : '';
      return {
        id: auditID,
        receivedAtMs: Date.parse(requestReceivedTimestamp),
        reachedAtMs: Date.parse(stageTimestamp),
        user: user.username,
        verb,
        resource: objectRef ? `${objectRef.resource}${subresource}${group}` : requestURI,
        namespace: objectRef?.namespace,
        name: objectRef?.name,
        status: responseStatus?.code ?? 0,
        isComplete: stage === 'ResponseComplete',
      };
    });
}
