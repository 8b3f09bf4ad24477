import { join } from 'node:path';
import { type GatewaySize, SMALLEST, startGateway } from './gateway-subject.ts';
import { type NginxManner, startNginx } from './nginx-subject.ts';
import type { Peers } from './options.ts';
import { startPortkey } from './portkey-subject.ts';
import type { Subject } from './subject.ts';
import { forwarding, portSaid } from './upstream-subject.ts';
import type { Workbench } from './workbench.ts';

interface CastOptions {
  readonly workbench: Workbench;
  /** Where the programs of the benchmark were built to. */
  readonly built: string;
  readonly upstream: Subject;
  readonly peers: Peers;
  /** The folder of another checkout. */
  readonly against?: string | undefined;
}

/** All subjects. Each is started on first use and keeps running. */
export class Cast {
  readonly upstream: Subject;
  readonly #options: CastOptions;
  readonly #started = new Map<string, Promise<Subject | undefined>>();

  constructor(options: CastOptions) {
    this.#options = options;
    this.upstream = options.upstream;
  }

  /** Each group has gateways of its own, so that earlier load does not distort a comparison. */
  async gateway(size: GatewaySize = SMALLEST, group = 'lanes'): Promise<Subject> {
    const { workbench } = this.#options;
    const name = `gateway ${group} ${size.models} ${size.keys} ${size.guardrail}`;
    const subject = await this.#once(name, () => startGateway(workbench, this.upstream.port, size));
    if (subject === undefined) throw new Error('the gateway did not start');
    return subject;
  }

  /** That of another checkout; absent where none is named. */
  async otherGateway(): Promise<Subject | undefined> {
    const { workbench, against } = this.#options;
    if (against === undefined) return undefined;
    return this.#once('other gateway', () => startGateway(workbench, this.upstream.port, SMALLEST, against));
  }

  /** Gives a gateway that has done nothing yet, and ends it. */
  async withFreshGateway<T>(use: (gateway: Subject) => Promise<T>): Promise<T> {
    const { workbench } = this.#options;
    const gateway = await startGateway(workbench, this.upstream.port, SMALLEST);
    try {
      return await use(gateway);
    } finally {
      await workbench.end(gateway.process);
    }
  }

  /** Absent if it is not requested or not installed. */
  async nginx(manner: NginxManner = 'plain'): Promise<Subject | undefined> {
    if (this.#options.peers === 'none') return undefined;
    const { workbench } = this.#options;
    return this.#once(`nginx ${manner}`, () => startNginx(workbench, this.upstream.port, manner));
  }

  /** Absent if it is not requested or not installed. */
  async portkey(): Promise<Subject | undefined> {
    if (this.#options.peers !== 'all') return undefined;
    return this.#once('portkey', () => startPortkey(this.#options.workbench, this.upstream.port));
  }

  /** Names and versions of the peers that were measured. */
  async peers(): Promise<readonly string[]> {
    const started = ['nginx plain', 'portkey'].map((name) => this.#started.get(name));
    // A failed start was reported where the peer was requested.
    const peers = await Promise.all(started.map((peer) => peer?.catch(() => undefined)));
    return peers.flatMap((peer) => peer?.name ?? []);
  }

  async bareProxy(): Promise<Subject | undefined> {
    return this.#once('bare proxy', async () => {
      const program = join(this.#options.built, 'bare-proxy.js');
      const command = [process.execPath, program, String(this.upstream.port)];
      const started = this.#options.workbench.start('bare-proxy', command, {
        place: 'tested',
        readsLines: true,
      });
      return forwarding('bare proxy', started, await portSaid(started, 'the bare proxy'));
    });
  }

  #once(name: string, start: () => Promise<Subject | undefined>): Promise<Subject | undefined> {
    const started = this.#started.get(name) ?? start();
    this.#started.set(name, started);
    return started;
  }
}
