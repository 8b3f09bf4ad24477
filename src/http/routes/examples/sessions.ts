import type { Static } from 'typebox';
import type { deletedSchema } from '../../../contract/envelopes/deleted.ts';
import type { SessionObject } from '../../../contract/sessions/session.ts';
import type { RouteExample } from '../../route.ts';
import { KEY_HASH } from './ids.ts';

const SESSION = {
  id: '5b1c6f0e-9a55-4e0c-8a3c-5d7f2a4b9e10',
  key_hash: KEY_HASH,
  key_name: 'operator',
  is_current: true,
  created_at: '2026-11-17T05:17:05.304Z',
  last_seen_at: '2026-11-17T05:17:05.304Z',
  expires_at: '2026-11-17T13:17:05.304Z',
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0',
  address: '127.0.0.1',
} satisfies SessionObject;

/** Sign-ins to the console. */
export const SESSION_EXAMPLES = {
  createSession: { answer: { data: SESSION } },
  getSignedInKey: { answer: { data: null } },
  listSessions: { answer: { data: [{ ...SESSION, is_current: false }] } },
  endSession: {
    params: { id: SESSION.id },
    answer: { deleted: true } satisfies Static<typeof deletedSchema>,
  },
} satisfies Record<string, RouteExample>;
