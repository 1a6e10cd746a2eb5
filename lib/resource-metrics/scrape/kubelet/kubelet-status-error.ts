/** A kubelet that answered, but not with 200. */
export class KubeletRefusal extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, text: string) {
    super(`HTTP status ${statusCode}${text === '' ? '' : `: ${text}`}`);
    this.statusCode = statusCode;
  }
}
