import Type from 'typebox';
import { oneOf } from '../../kit/json/schema.ts';

export interface PartState {
  /** `limited`: works for some requests. `unknown`: the gateway is starting. */
  readonly status: 'ok' | 'limited' | 'unavailable' | 'unknown';
  /** Present unless `ok`; names no address and no secret. */
  readonly reason?: string;
}

/** The parts that `/readyz` reports. */
export type ReadinessPart = 'ledger' | 'store' | 'events' | 'providers' | 'redis';

/** `redis`: absent = the gateway uses none. */
export type ReadinessParts = Readonly<Record<Exclude<ReadinessPart, 'redis'>, PartState>> & {
  readonly redis?: PartState;
};

/** Reply of `/healthz`. */
export const healthSchema = Type.Object({ status: oneOf(['ok']) });

const part = (description: string) =>
  Type.Optional(
    Type.Object(
      {
        status: oneOf(['ok', 'limited', 'unavailable', 'unknown'], {
          description: '`limited`: works for some requests. `unknown`: the gateway is starting.',
        }),
        reason: Type.Optional(Type.String({ description: 'Present unless `ok`.' })),
      },
      { description },
    ),
  );

const parts = Type.Object(
  {
    ledger: part('Whether generations can be admitted: `limited` = only those that no limit covers.'),
    store: part('The database of keys, workspaces and records.'),
    events: part('Analytics. Generations are served without it.'),
    providers: part('Endpoints that are not cooling down: `limited` = some are.'),
    redis: part(
      'Limits and routing memory that gateways share: `limited` = each goes on with its share. Absent without Redis.',
    ),
  },
  { description: 'All parts, or the one that was asked for.' },
);

/** Reply of `/readyz` with status 200. */
export const readySchema = Type.Object({ status: oneOf(['ok']), parts });

/** Reply of `/readyz` with status 503. */
export const notReadySchema = Type.Object({
  status: oneOf(['starting', 'draining', 'unavailable']),
  error: Type.Object({ code: Type.Integer(), message: Type.String() }),
  parts,
});

export const readinessQuery = Type.Object({
  part: Type.Optional(
    oneOf(['ledger', 'store', 'events', 'providers', 'redis'], {
      description: 'Answers for this part alone: 503 if it is unavailable.',
    }),
  ),
});
