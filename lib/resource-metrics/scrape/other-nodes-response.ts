/** A response by the kubelet of another node than was asked, as where two nodes have one address: its numbers are not ours. */
export class OtherNodesResponse extends Error {
  /** The node that the response is about. */
  readonly otherNodeName: string;

  constructor(otherNodeName: string) {
    super(`the kubelet there is that of node "${otherNodeName}"`);
    this.otherNodeName = otherNodeName;
  }
}
