import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';

const CREDENTIALS = { accessKeyId: 'key', secretAccessKey: 'secret' };

/** An emulator of Amazon SQS on 127.0.0.1, with operations on its queues. */
export class SqsEmulator implements AsyncDisposable {
  readonly credentials = CREDENTIALS;
  readonly url: URL;
  readonly #close: () => Promise<void>;
  readonly #client: SQSClient;

  private constructor(url: URL, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
    this.#client = new SQSClient({ region: 'eu-central-1', endpoint: url.href, credentials: CREDENTIALS });
  }

  static async start(): Promise<SqsEmulator> {
    const app = buildApp({ logger: false, defaultRegion: 'eu-central-1' });
    const address = await app.listen({ host: '127.0.0.1', port: 0 });
    return new SqsEmulator(new URL(address), async () => await app.close());
  }

  /** @returns its URL */
  async createQueue(name: string): Promise<string> {
    const { QueueUrl = '' } = await this.#client.send(new CreateQueueCommand({ QueueName: name }));
    return QueueUrl;
  }

  async send(queueUrl: string, { delaySeconds = 0 } = {}): Promise<void> {
    const message = { QueueUrl: queueUrl, MessageBody: 'a', DelaySeconds: delaySeconds };
    await this.#client.send(new SendMessageCommand(message));
  }

  /** Receives a message without acknowledging it. */
  async receive(queueUrl: string): Promise<void> {
    const { Messages = [] } = await this.#client.send(new ReceiveMessageCommand({ QueueUrl: queueUrl }));
    for (const { ReceiptHandle } of Messages) {
      const change = { QueueUrl: queueUrl, ReceiptHandle, VisibilityTimeout: 600 };
      await this.#client.send(new ChangeMessageVisibilityCommand(change));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.destroy();
    await this.#close();
  }
}
