/** Which group and version a resource is served in. */
export interface ResourceIdentity {
  readonly group: string;
  readonly version: string;
}

/** How Kubernetes' servers call a type in messages: by the Go package that is named for the group. */
export function goTypeName(group: string, kind: string): string {
  return `*${group.split('.')[0]}.${kind}`;
}
