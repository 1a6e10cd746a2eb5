import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { SpawnedProgram } from './spawned-program.ts';

/** Timeouts that only a hung browser exceeds, even on a slow machine. */
const START_TIMEOUT_MS = 90_000;
const COMMAND_TIMEOUT_MS = 60_000;

/** A page in its own headless Chromium, controlled by the DevTools protocol; disposing it ends the browser. */
export class Browser implements AsyncDisposable {
  readonly #program: SpawnedProgram;
  readonly #folder: string;
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, PromiseWithResolvers<Record<string, unknown>>>();
  #lastId = 0;

  private constructor(program: SpawnedProgram, folder: string, socket: WebSocket) {
    this.#program = program;
    this.#folder = folder;
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data))));
  }

  /** @param binary path of Chromium, from `requireProgram` */
  static async start(binary: string): Promise<Browser> {
    const folder = await mkdtemp(join(tmpdir(), 'chromium-'));
    const program = new SpawnedProgram(
      binary,
      [
        ...[
          '--headless',
          '--no-sandbox',
          '--disable-gpu',
          '--hide-scrollbars', // they would appear in screenshots of whole pages
          '--no-first-run',
          '--disable-background-networking',
        ],
        ...[
          '--disable-component-update',
          '--disable-sync',
          '--disable-extensions',
          '--disable-dev-shm-usage',
        ],
        ...['--ignore-certificate-errors', '--remote-debugging-port=0', `--user-data-dir=${folder}`],
        'about:blank',
      ],
      { name: 'Chromium' },
    );
    try {
      const line = await program.line(/DevTools listening on /, START_TIMEOUT_MS);
      const [, host] = /ws:\/\/([^/]+)\//.exec(line) ?? [];
      await eventually(async () => (await pageAt(`http://${host}`)) !== undefined); // it listens before it has a page
      const socket = new WebSocket((await pageAt(`http://${host}`)) ?? '');
      await new Promise((resolve, reject) => {
        socket.addEventListener('open', resolve, { once: true });
        socket.addEventListener('error', () => reject(new Error('Cannot talk with Chromium')), {
          once: true,
        });
      });
      return new Browser(program, folder, socket);
    } catch (error) {
      await program[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Opens an address and waits until the page is loaded. */
  async open(url: string): Promise<void> {
    await this.resize({ width: 1280, height: 900 });
    await this.#send('Page.navigate', { url });
    await eventually(async () => (await this.evaluate('document.readyState')) === 'complete');
  }

  /** Resizes the window, in pixels. */
  async resize(size: { readonly width: number; readonly height: number }): Promise<void> {
    await this.#send('Emulation.setDeviceMetricsOverride', { ...size, deviceScaleFactor: 1, mobile: false });
  }

  /** Sets the preferred color scheme. */
  async prefer(scheme: 'light' | 'dark'): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await this.#send('Emulation.setEmulatedMedia', { features });
  }

  /** Sends a bearer token with every request, as a proxy does; `undefined` sends none. */
  async sendToken(token: string | undefined): Promise<void> {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    await this.#send('Network.enable', {});
    await this.#send('Network.setExtraHTTPHeaders', { headers });
  }

  /** Permits pages of an origin to read and write the clipboard. */
  async permitClipboard(origin: string): Promise<void> {
    const permissions = ['clipboardReadWrite', 'clipboardSanitizedWrite'];
    await this.#send('Browser.grantPermissions', { origin, permissions });
    await this.#send('Emulation.setFocusEmulationEnabled', { enabled: true }); // without focus, pages have no access to the clipboard
  }

  /** Evaluates an expression, awaits it, and returns its value as JSON transfers it. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = (await this.#send('Runtime.evaluate', {
      ...{ expression, returnByValue: true, awaitPromise: true, userGesture: true },
    })) as { result?: { value?: unknown }; exceptionDetails?: unknown };
    if (exceptionDetails)
      throw new Error(`The page threw at ${expression}: ${JSON.stringify(exceptionDetails)}`);
    return result?.value;
  }

  /** Types into a field as a keyboard does. */
  async type(selector: string, text: string): Promise<void> {
    await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).focus()`);
    await this.#send('Input.insertText', { text });
  }

  async click(selector: string): Promise<void> {
    await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
  }

  /** Saves a screenshot of the whole page as a PNG file. */
  async photograph(path: string): Promise<void> {
    const { data } = await this.#send('Page.captureScreenshot', {
      format: 'png',
      captureBeyondViewport: true,
    });
    await writeFile(path, Buffer.from(String(data), 'base64'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await this.#program[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #send(method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> {
    const id = ++this.#lastId;
    const response = Promise.withResolvers<Record<string, unknown>>();
    this.#pending.set(id, response);
    const timer = setTimeout(
      () => response.reject(new Error(`Chromium did not respond to ${method}`)),
      COMMAND_TIMEOUT_MS,
    );
    this.#socket.send(JSON.stringify({ id, method, params }));
    try {
      return await response.promise;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  #receive(message: {
    readonly id?: number;
    readonly result?: Record<string, unknown>;
    readonly error?: { readonly message: string };
  }): void {
    const response = message.id === undefined ? undefined : this.#pending.get(message.id);
    if (message.error) response?.reject(new Error(message.error.message));
    else response?.resolve(message.result ?? {});
  }
}

/** WebSocket URL of a page of the browser, once there is one. */
async function pageAt(browser: string): Promise<string | undefined> {
  const targets = (await (await fetch(`${browser}/json/list`)).json()) as readonly {
    readonly type: string;
    readonly webSocketDebuggerUrl: string;
  }[];
  return targets.find(({ type }) => type === 'page')?.webSocketDebuggerUrl;
}

/** Evaluates to the texts of cells and drawings that are wider than their container or extend beyond window or drawing. */
export const CUT_CELLS = `[
  ...[...document.querySelectorAll('td, th, pre, dd, textarea')].filter(
    (one) => one.getBoundingClientRect().right > document.documentElement.clientWidth || one.scrollWidth > one.clientWidth + 1,
  ),
  ...[...document.querySelectorAll('svg.chart text, svg.chart path')].filter((one) => {
    const [own, drawing] = [one, one.ownerSVGElement].map((element) => element.getBoundingClientRect());
    return own.left < drawing.left || own.right > Math.min(drawing.right, document.documentElement.clientWidth);
  }),
].filter((one) => one.checkVisibility()).map((one) => one.textContent.slice(0, 80))`;
