import type { Limiter } from '../../ports/shared/limiter.ts';
import type { OutputItems } from '../../ports/shared/output-items.ts';
import type { RoutingMemory } from '../../ports/shared/routing-memory.ts';

/** The stores of what gateways share besides keys and money, in one server. Methods reject while it is away. */
export interface SharedStores {
  readonly kind: 'redis' | 'postgres';
  /** Its host and port, for the log. */
  readonly host: string;
  readonly limiter: Limiter;
  readonly routing: RoutingMemory;
  /** Output items; absent = each process keeps its own. */
  readonly items?: Pick<OutputItems, 'find'> & {
    keep(keyHash: string, id: string, text: string): Promise<void>;
  };
  /** Asks whether the server works. */
  probe(): Promise<unknown>;
  /** Whether an error is what the server answered about one key, and so no outage; absent = none is. */
  isAnswer?(error: unknown): boolean;
  /** Why it does not, in a word for the log. */
  errorCode(error: unknown): string;
  close(): Promise<void>;
}
