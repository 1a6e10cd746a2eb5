/** One request to the API server, as far as it matters who asked for what. */
export interface AuditEvent {
  /** Of the request: its events have the same. */
  readonly id: string;
  /** When the API server received the request, in milliseconds of Unix time. */
  readonly receivedAtMs: number;
  /** When the request reached the stage of this event. */
  readonly reachedAtMs: number;
  readonly user: string;
  /** `get`, `list`, `watch`, `create` and so on. */
  readonly verb: string;
  /** `pods`, `configmaps`, `tokenreviews.authentication.k8s.io`; a path such as `/livez` where it is no resource. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** Of the response. */
  readonly status: number;
  /** Whether the response has ended. A watch may have an event of its beginning, too. */
  readonly isComplete: boolean;
}

/** Reads the API server's audit log: one JSON object a line, the last of which may still be on its way. */
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
