import Type, { type Static } from 'typebox';
import { currentKeySchema } from '../keys/current-key.ts';
import { isoTime } from '../values/iso-time.ts';
import { nullable } from '../values/nullable.ts';

/** A sign-in to the console. */
export const sessionSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  key_hash: Type.String({ description: 'The key that signed in.' }),
  key_name: nullable(Type.String(), { description: 'Its name; null = it is no longer in use.' }),
  is_current: Type.Boolean({ description: 'This request came with the cookie of this session.' }),
  created_at: Type.String({ format: 'date-time' }),
  last_seen_at: Type.String({ format: 'date-time', description: 'Exact to a minute.' }),
  expires_at: Type.String({ format: 'date-time' }),
  user_agent: nullable(Type.String(), { description: 'Of the browser that signed in.' }),
  address: Type.String({ description: 'Of the browser that signed in.' }),
});

export type SessionObject = Static<typeof sessionSchema>;

export const sessionReplySchema = Type.Object({ data: sessionSchema });

/** Reply of `GET /sessions/current`. */
export const signedInSchema = Type.Object({
  data: nullable(currentKeySchema, {
    description: 'The key of this request, by its cookie or by itself; null = none, or no valid one.',
  }),
});

export const sessionListSchema = Type.Object({ data: Type.Array(sessionSchema) });

export interface ShownSession {
  readonly id: string;
  readonly keyHash: string;
  readonly keyName: string | null;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number;
  readonly expiresAtMs: number;
  readonly userAgent: string | null;
  readonly address: string;
}

/** `currentId`: the session of the request; undefined = it came with a key. */
export function sessionObject(session: ShownSession, currentId: string | undefined): SessionObject {
  return {
    id: session.id,
    key_hash: session.keyHash,
    key_name: session.keyName,
    is_current: session.id === currentId,
    created_at: isoTime(session.createdAtMs),
    last_seen_at: isoTime(session.lastSeenAtMs),
    expires_at: isoTime(session.expiresAtMs),
    user_agent: session.userAgent,
    address: session.address,
  };
}
