/** One request to the API server, as far as it matters who asked for what. */
export interface AuditEvent {
  readonly user: string;
  /** `get`, `list`, `watch`, `create` and so on. */
  readonly verb: string;
  /** `pods`, `configmaps`, `tokenreviews.authentication.k8s.io`; a path such as `/livez` where it is no resource. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** Of the response. */
  readonly status: number;
  /** Whether the response has ended. A request that takes long, such as a watch, has an event of its beginning, too. */
  readonly isComplete: boolean;
}

/** Reads the API server's audit log: one JSON object a line, the last of which may still be on its way. */
export function parseAuditLog(text: string): readonly AuditEvent[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { user, verb, objectRef, requestURI, responseStatus, stage } = JSON.parse(line);
      const group = objectRef?.apiGroup ? `.${objectRef.apiGroup}` : '';
      const subresource = objectRef?.subresource ? `/${objectRef.subresource}` : '';
      return {
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
