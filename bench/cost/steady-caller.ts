import { connect, type Socket } from 'node:net';

/** A caller with one connection, whose requests leave in one packet. */
export class SteadyCaller {
  readonly #socket: Socket;
  #take: (piece: string) => void = () => {};
  #fail: (error: Error) => void = () => {};

  constructor(url: URL) {
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.#socket.setEncoding('latin1').on('data', (piece: string) => this.#take(piece));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('the gateway has closed the connection')));
  }

  /** Resolves with the end of the answer; `onPiece` is called for each piece before. */
  send(request: Buffer, onPiece: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      let text = '';
      this.#fail = reject;
      this.#take = (piece) => {
        text += piece;
        if (!text.startsWith('HTTP/1.1 200 '))
          reject(new Error(`the gateway answered ${text.slice(0, 1_000)}`));
        else if (isWhole(text)) resolve();
        else onPiece();
      };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#fail = () => {};
    this.#socket.destroy();
  }
}

function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n') + 4;
  if (head < 4) return false;
  const length = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1];
  return length === undefined ? text.endsWith('\r\n0\r\n\r\n') : text.length >= head + Number(length);
}

/** A request with a JSON body. */
export function requestBytes(path: string, key: string, body: string): Buffer {
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}
