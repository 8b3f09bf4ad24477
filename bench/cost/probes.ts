import { createServer, type Server, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { PROGRAM } from '../program/local-gateway.ts';
import { PROBE_ENV, type ProbeAnswer, type ProbeGreeting, type ProbeQuestion } from './probe-protocol.ts';

/** A measured process. */
export interface Probe extends ProbeGreeting {
  ask(question: ProbeQuestion): Promise<ProbeAnswer>;
}

/** The probes of a gateway and its workers. */
export class Probes {
  readonly all: Probe[] = [];
  readonly #server: Server;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#server = createServer((socket) => this.#greet(socket));
  }

  /** Writes the probes into a folder and listens for them. */
  static async open(folder: string): Promise<Probes> {
    const parts = [
      { input: 'probe', file: 'probe.mjs', format: 'esm' },
      { input: 'thread-probe', file: 'thread-probe.cjs', format: 'cjs' },
    ] as const;
    for (const { input, file, format } of parts) {
      const bundle = await rolldown({ input: resolve(`bench/cost/${input}.ts`), platform: 'node' });
      await bundle.write({ file: join(folder, file), format });
    }
    const probes = new Probes(folder);
    await new Promise<void>((listening) => probes.#server.listen(probes.#socket, listening));
    return probes;
  }

  /** What a gateway is started with to be measured. */
  get nodeFlags(): readonly string[] {
    return ['--import', join(this.#folder, 'probe.mjs')];
  }

  get env(): Readonly<Record<string, string>> {
    return {
      [PROBE_ENV.socket]: this.#socket,
      [PROBE_ENV.program]: PROGRAM,
      [PROBE_ENV.threadProbe]: join(this.#folder, 'thread-probe.cjs'),
    };
  }

  /** Asks all processes. */
  ask(question: ProbeQuestion): Promise<ProbeAnswer[]> {
    return Promise.all(this.all.map((probe) => probe.ask(question)));
  }

  close(): void {
    this.#server.close();
  }

  get #socket(): string {
    return join(this.#folder, 'probe.sock');
  }

  #greet(socket: Socket): void {
    let text = '';
    let answered: ((answer: ProbeAnswer) => void) | undefined;
    const ask = (question: ProbeQuestion) =>
      new Promise<ProbeAnswer>((resolved) => {
        answered = resolved;
        socket.write(`${JSON.stringify(question)}\n`);
      });
    socket.on('error', () => {});
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      if (!text.endsWith('\n')) return;
      const line = JSON.parse(text);
      text = '';
      if (answered === undefined) this.all.push({ ...(line as ProbeGreeting), ask });
      else answered(line);
    });
  }
}
